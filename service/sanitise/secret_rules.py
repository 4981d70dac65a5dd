"""What secrets look like: a table of kinds, each with words without which it can't be there."""

# ruff: noqa: E501 - rows of a table

import re
from typing import Final, NamedTuple

from service.late_pattern import LatePattern

# Where an option may begin, also in a list of JSON.
_WORD: Final = re.compile(r"""(?<![^\s"'`])[^\s"'`]""")


class Rule(NamedTuple):
    """One kind of secret; one of `words` stands in every text that has one.

    Of a service's token words are looked for as they are written, else in the text in lower case.
    The group `secret` of the pattern is masked, all of the match where there is none. `proof` says
    what else is asked of it: `prefix` that it is no placeholder, `random` that it is also mixed
    like a random string, `chosen` that it may be a password, `placed` the same where its place
    proves it, `url` one in an address, `basic` a user with one in base64, `salt` what `prefix` asks
    of a value that may have any marks (service/sanitise/proofs.py). Where there is `within`, the
    pattern is tried at each beginning of a word in what that matches, as `begins` says where one is.
    """

    kind: str
    words: tuple[str, ...]
    pattern: LatePattern
    proof: str = "prefix"
    within: LatePattern | None = None
    begins: re.Pattern[str] = _WORD


# Hidden words behind a name that says what they are. A value in quotes may hold blanks. Names stand in
# marks of markdown, in JSON that is itself in a string or in an address, and as the name of a `value`.
_QUOTE: Final = r"""(?:\\{0,7}["'`]|%22)"""
_PAIRED: Final = rf"(?:,|\s)\s{{0,40}}{_QUOTE}?value{_QUOTE}?[ \t]{{0,4}}[:=]"
_SEPARATED: Final = (
    rf"(?:{_QUOTE}|[\]*_]){{0,4}}[ \t\u00a0\u202f]{{0,8}}"
    rf"(?:{_PAIRED}|</(?:key|name)>\s{{0,40}}<(?:string|value)>|:=|=>|==?|::?|[\uff1a>]|%3[AaDd])(?:[*_]{{1,3}}(?=[ \t]))?[ \t]{{0,8}}"
)
_BARE: Final = r"""[^\s"'`,;<>(){}|]"""
_VALUE: Final = (
    r"""(?:\\{1,7}"(?P<secret0>[^"\\\n]{6,500})\\{1,7}\""""
    r"""|"(?P<secret>[^"\n]{6,500})"|'(?P<secret2>[^'\n]{6,500})'|`(?P<secret3>[^`\n]{6,500})`"""
    rf"|(?P<mark>\*{{1,3}}|~~|__){_QUOTE}?(?P<secret5>{_BARE}{{6,500}}?){_QUOTE}?(?P=mark)(?!{_BARE})"
    rf"|{_QUOTE}{{0,3}}(?!(?:[A-Za-z_#]\w{{0,60}}\.){{1,6}}[A-Za-z_#]\w{{0,60}}\()(?P<secret4>{_BARE}{{6,500}}))"
)
# As the first of a list in JSON, YAML or a program.
_IN_LIST: Final = r"""(?:\[\s{0,40}(?=["']))?"""
# Alone on the line below its name, or the first one of a fence or of a block of YAML there.
_BELOW: Final = (
    rf"(?:{_QUOTE}|[*_]){{0,3}}[ \t]{{0,4}}[:\uff1a][*_]{{0,3}}[ \t]{{0,4}}(?:[|>][0-9+-]{{0,2}}[ \t]{{0,4}})?\r?\n(?:[ \t]{{0,12}}\r?\n)?"
    rf"(?:[ \t]{{0,12}}```\w{{0,12}}[ \t]{{0,4}}\r?\n)?[ \t]{{0,12}}{_QUOTE}?(?P<secret6>{_BARE}{{6,500}}){_QUOTE}?(?=[ \t]{{0,8}}(?:[\r\n]|\Z))"
)
KEY_NAMES: Final = (
    r"(?:api|app|access|private|auth|encryption|signing|account|master|shared|subscription)[ _-]?key"
    r"|secret|token|credentials?|creds"
)
# Keys with a purpose or of a service: what they look like must tell that they open something.
_PURPOSES: Final = (
    r"admin|application|consumer|cookie|decryption|fernet|functions?|hmac|ingest(?:ion)?|insert|integration|jwt"
    r"|licen[cs]e|network|recovery|root|routing|server|service(?:[ _-]?role)?|smtp|speech|unseal|webhook"
)
# In capitals, or as the name of a header, every one but these, which are public or name things.
_NO_OPENER: Final = "".join(
    rf"(?<!(?i:{one}[_-]key))" for one in (
        "anon", "cache", "client", "content", "foreign", "gpg", "group", "hash", "host", "idempotency", "index", "object", "page",
        "partition", "pgp", "primary", "pub", "public", "publishable", "registry", "row", "shard", "site", "sort", "ssh", "state",
        "storage", "surrogate", "unique", "verification", "verify", "websocket",
    )
)  # fmt: skip
KEY_WORDS_ABROAD: Final = ("schlüssel", "clé ", "jeton", "キー", "키", "トークン", "토큰")
# Rules of their own, so that a text without such words is not looked through for them.
KEY_NAMES_ABROAD: Final = (
    r"(?:api|zugriffs)[ _-]?schlüssel|clé (?:d['\u2019]?(?:accès|api)|api|secrète)|jeton|api ?(?:キー|키)|トークン|토큰"
)  # fmt: skip
PASSWORDS: Final = ("password", "passwd", "passphrase", "passcode", "pwd")
PASSWORDS_OF_EUROPE: Final = (
    "passwort", "kennwort", "wachtwoord", "mot de passe", "contraseña", "contrasena", "senha", "palavra-passe", "parola",
    "lösenord", "passord", "adgangskode", "salasana", "hasło", "heslo", "пароль", "şifre", "mật khẩu",
)  # fmt: skip
PASSWORDS_OF_CJK: Final = (
    "비밀번호", "비번", "패스워드", "암호", "密码", "密碼", "口令", "パスワード",
)  # fmt: skip
# Behind `pwd` a path of Windows, of two words or more, is a working directory.
_FOLDER: Final = (
    rf"(?!(?<=pwd)(?:{_SEPARATED}|[ \t]{{1,4}}is[ \t]{{1,4}}){_QUOTE}?[a-z]:(?:[\\/]{{1,2}}[\w.-]{{1,99}}){{2,30}}"
    r"""(?:[\\/]{1,2})?(?![^\s"'`,;<>(){}|]))"""
)
# `first pass: ...`: one of several times.
_NO_PASSAGE: Final = "".join(
    rf"(?<!\b(?i:{one})[ _-])" for one in (
        "first", "second", "third", "next", "last", "final", "one", "two", "single", "multi", "each", "every", "this",
        "test", "tests", "forward", "backward", "by", "per", "to", "must", "should", "will", "not",
    )
)  # fmt: skip
# `SMTP_PASS` in a file of variables, `bindpw` of LDAP; in small letters `pass` needs a value behind it.
_PASSWORD_NAMES: Final = "|".join(
    (*PASSWORDS, "(?-i:(?<=_)PASS)", "(?:(?<=_)|(?<=bind)|(?<=root)|(?<=admin)|(?<=user))pw")
)
# Behind a name that ends in `id` a UUID is an id; but Vault calls a secret `secret_id`.
_ID: Final = (
    rf"(?!(?<=id)(?<!secretid)(?<!secret[_-]id){_SEPARATED}{_QUOTE}?"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-]))"
)

_NAMED: Final = (
    Rule(
        "aws-secret-key", ("aws",), LatePattern(
            r"(?i:aws[_-]?(?:\w{0,12}secret|secret)[_-]?(?:access[_-]?)?key)" + rf"(?:{_SEPARATED}|[ \t]{{1,4}})"
            + r"""["'`]?(?P<secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])"""
        ),
        "random",
    ),
    Rule(
        "jwt", ("eyj",),
        LatePattern(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ),
    Rule(
        "authorization", ("bearer", "basic ", "authorization"), LatePattern(
            r"(?i:\b(?:bearer[ \t]{1,4}|authorization\\{0,7}[\"']?\s{0,4}[:=]\s{0,4}\\{0,7}[\"']?(?:(?:basic|token|bearer|(?:[a-z]{1,12}-)?(?:api-?)?key|geniekey|ssws|oauth|bot|jwt|negotiate|splunk)[ \t]{1,4}(?:token=)?)?\\{0,7}[\"']?))(?!AWS4-)"
            r"(?P<secret>[A-Za-z0-9._~+/=-]{12,2000})"
        ),
        "random",
    ),
    # Private parts of a key as JSON (RFC 7517) and as .NET's XML.
    Rule(
        "private-key", ("kty",), LatePattern(
            r"""(?:d|p|q|dp|dq|qi|k)\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"(?P<secret>[A-Za-z0-9_-]{20,2000})\\{0,7}\""""
        ),
        "prefix",
        LatePattern(r"""\{[^{}]{0,6000}"kty\\{0,7}"[^{}]{0,6000}"""),
    ),
    Rule(
        "private-key", ("<rsakeyvalue",),
        LatePattern(r"<(?:D|P|Q|DP|DQ|InverseQ)>\s{0,4}(?P<secret>[A-Za-z0-9+/]{40,2000}={0,2})\s{0,4}</"),
    ),
    # A token in the user's place; a DSN of Sentry is shorter, and public.
    Rule(
        "url-password", ("://",),
        LatePattern(r"://(?P<secret>[A-Za-z0-9_-]{20,200}(?=:x-oauth-basic@)|[A-Za-z0-9_-]{36,200}(?=@[A-Za-z0-9\[]))"),
        "key",
    ),
    # Links of proxies have no user but a password.
    Rule(
        "url-password", ("trojan://", "hysteria", "ss://"),
        LatePattern(r"""(?i:\b(?:trojan|hysteria2?|ss)://)(?P<secret>[^\s:/@"'<>]{6,200})@(?=[A-Za-z0-9\[])"""), "placed",
    ),
    Rule(
        "url-password", ("://",), LatePattern(
            r"""://(?P<user>[^\s:/@"'<>\[\]]{0,100}):(?P<secret>[^\s/"'<>]{3,200})@(?=[A-Za-z0-9\[.-])"""
        ),
        "url",
    ),
    # The parameter of an address that is called a key; a document of Google's is known by one too.
    Rule(
        "secret", ("key=", "auth="),
        LatePattern(r"(?i:[?&](?<!/ccc[?])(?:key|auth)=)(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-)(?P<secret>[A-Za-z0-9._~-]{20,200})(?![\w%+/=-])"),
        "key",
    ),
    Rule(
        "secret", ("openweathermap",), LatePattern(r"(?i:[?&]appid=)(?P<secret>[0-9a-f]{32})(?![0-9a-f])"), "key",
    ),
    # A header that is called by whose key it is; a variable has it behind an equals sign.
    Rule(
        "secret", ("x-honeycomb-team",),
        LatePattern(rf"(?i:x-honeycomb-team){_SEPARATED}{_QUOTE}?(?P<secret>[A-Za-z0-9_-]{{20,100}})(?![\w-])"), "random",
    ),
    Rule(
        "signature", ("aws4-hmac-sha256",),
        LatePattern(r"AWS4-HMAC-SHA256[^\n]{1,600}?Signature=(?P<secret>[0-9a-f]{64})(?![0-9a-f])"), "random",
    ),
    Rule(
        "signature", ("sig=", "signature="),
        LatePattern(r"(?i:[?&](?:sig|x-amz-signature|x-goog-signature)=)(?P<secret>[A-Za-z0-9%+/=_-]{32,600})"),
        "random",
    ),
    Rule(
        "wireguard-key", ("privatekey", "presharedkey"),
        LatePattern(r"(?:PrivateKey|PresharedKey)[ \t]{0,8}=[ \t]{0,8}(?P<secret>[A-Za-z0-9+/]{43}=)"),
    ),
    Rule(
        "password", (*PASSWORDS, "_pass", "_pw", "bindpw", "rootpw", "adminpw", "userpw", "identified by"), LatePattern(
            rf"(?i:(?:(?:{_PASSWORD_NAMES}){_FOLDER}(?:_?(?:hash|value|string))?|identified by)"
            rf"(?:(?:{_SEPARATED}|[ \t]{{1,4}}(?:is|was|to)[ \t]{{1,4}}|(?:(?<=--password)|(?<=identified by))[ \t]{{1,4}}){_IN_LIST}{_VALUE}"
            rf"|{_BELOW}))"
        ),
        "chosen",
    ),
    # As Google and Apple give them out: four times four letters.
    Rule(
        "password", ("app password", "app-password", "app_password", "app-specific"), LatePattern(
            rf"(?i:\bapp[ _-](?:specific[ _-])?passw\w{{2,3}}){_SEPARATED}{_QUOTE}?"
            r"(?P<secret>[a-z]{4}(?P<gap>[ -]?)[a-z]{4}(?P=gap)[a-z]{4}(?P=gap)[a-z]{4})(?![a-z])"
        ),
        "letters",
    ),
    Rule(
        "password", ("pass:", "pass=", "pass =", "pass\"", "pass'", "pass`", "pass*"), LatePattern(
            rf"(?:{_NO_PASSAGE}(?<![A-Za-z0-9])[Pp]ass|(?<=[a-z0-9])Pass|(?<=DB)PASS|(?<=db)pass){_SEPARATED}{_VALUE}"
        ),
        "chosen",
    ),
    # In quotes behind the word alone, or in brackets: SQL's `PASSWORD '...'`, `setPassword("...")`.
    Rule(
        "password", PASSWORDS, LatePattern(
            r"""(?i:\b(?:set_?)?(?:password|passwd|passphrase)(?:[ \t]{1,4}|\())(?:'(?P<secret>[^'\s]{6,200})'|"(?P<secret2>[^"\s]{6,200})")"""
        ),
        "chosen",
    ),
    # As PHP defines constants: of WordPress, whose salts have all marks.
    Rule(
        "password", ("define(",), LatePattern(
            r"""(?i:\bdefine\(\s{0,4}["']\w{0,60}(?:password|passwd|_pass|_pw)["'],\s{0,40})(?:'(?P<secret>[^'\n]{6,200})'|"(?P<secret2>[^"\n]{6,200})")"""
        ),
        "placed",
    ),
    Rule(
        "secret", ("define(",), LatePattern(
            r"""(?i:\bdefine\(\s{0,4}["']\w{0,60}(?:_key|_salt|_secret|_token)["'],\s{0,40})(?:'(?P<secret>[^'\n]{32,200})'|"(?P<secret2>[^"\n]{32,200})")"""
        ),
        "salt",
    ),
    # A user and a password in brackets, as libraries of HTTP take them.
    Rule(
        "password", ("auth(", "auth=("), LatePattern(
            r"""(?i:auth)=?\(["'][^"'\n]{1,100}["'],\s{0,4}(?:'(?P<secret>[^'\n]{6,200})'|"(?P<secret2>[^"\n]{6,200})")"""
        ),
        "chosen",
    ),
    Rule(
        "password", (*PASSWORDS_OF_EUROPE, "mdp"), LatePattern(
            rf"(?i:(?:{'|'.join(PASSWORDS_OF_EUROPE)}|(?<![^\W_])mdp)(?:(?:{_SEPARATED}|[ \t]{{1,4}}(?:ist|war|lautet|est|es|is|é|è|to|är|er)[ \t]{{1,4}}){_VALUE}|{_BELOW}))"
        ),
        "chosen",
    ),
    Rule(
        "password", PASSWORDS_OF_CJK, LatePattern(
            rf"(?:{'|'.join(PASSWORDS_OF_CJK)})[ \t]{{0,4}}(?:[은는]|[:\uff1a=]|是|为|為|は)?[ \t]{{0,4}}[\"'`\u300c\u300e]?"
            r"(?P<secret>[!-~]{6,200})"
        ),
        "chosen",
    ),
    Rule(
        "secret", ("key", "secret", "token", "credential", "creds"), LatePattern(
            # Behind an account's twelve digits it is a name: `arn:aws:secretsmanager:…:secret:db-9Fx2Kq`.
            rf"(?i:(?<![0-9]{{12}}:)(?:{KEY_NAMES})(?:[_-]?(?:key|id|base|value|token|secret)){{0,2}}{_ID}"
            rf"(?:(?:{_SEPARATED}|[ \t]{{1,4}}(?:is|was)[ \t]{{1,4}}|(?<=-key)[ \t]{{1,4}}"
            rf"|(?<=--token)[ \t]{{1,4}}|(?<=--secret)[ \t]{{1,4}}){_VALUE}|{_BELOW}))"
        ),
        "random",
    ),
    Rule(
        "secret", ("key",), LatePattern(
            rf"(?:(?i:(?<![a-z])(?:{_PURPOSES})[ _-]?key)|(?<=[A-Z0-9])_KEY{_NO_OPENER}|(?<=[A-Za-z])-(?i:key)(?=\\{{0,7}}[\"']?:){_NO_OPENER})"
            rf"(?:[ _-]?[0-9]{{1,2}})?(?:{_SEPARATED}|[ \t]{{1,4}}(?i:is|was)[ \t]{{1,4}}){_VALUE}"
        ),
        "key",
    ),
    # A personal access token, or what unlocks a vault of passwords.
    Rule(
        "secret", ("_pat", "_session"),
        LatePattern(rf"(?<=[A-Z0-9])_(?:PAT|SESSION){_SEPARATED}{_QUOTE}?(?P<secret>[A-Za-z0-9._+/=-]{{20,200}})(?![\w.+/=-])"), "random",
    ),
    Rule(
        "secret", KEY_WORDS_ABROAD, LatePattern(
            rf"(?i:(?:{KEY_NAMES_ABROAD})[ \t]?(?:[은는は]|ist|est)?(?:{_SEPARATED}|[ \t]{{1,4}}){_VALUE})"
        ),
        "random",
    ),
)  # fmt: skip

NAMED: Final[tuple[Rule, ...]] = _NAMED
