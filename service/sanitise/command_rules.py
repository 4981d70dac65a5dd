"""What passwords look like in command lines, in files of programs' logins and in HTTP's headers.

Each is known by its place alone: behind which command and option, or as which field of a line.
"""

# ruff: noqa: E501 - rows of a table

from typing import Final

from service.late_pattern import LatePattern
from service.sanitise.secret_rules import PASSWORDS, Rule

# Words of a command line, also as a list of JSON or YAML has them: `["redis-cli", "-a", "..."]`.
_STARTS: Final = r"""(?<![^\s"'`])"""
# The dash of an option that begins a word: the dash first, by which it is found fast.
_DASH: Final = r"""-(?<![^\s"'`]-)"""
_GAP: Final = r"""(?:[ \t]{1,4}|\\{0,7}["'],[ \t]{0,4}(?=\\{0,7}["']))"""
# Variables, and which ports are published, are no passwords.
_NO_VARIABLE: Final = r"""(?!\$\w{1,60}(?![^\s"'`\\]))"""
_NO_PORTS: Final = (
    r"""(?!\\{0,7}["']?(?:[\w.*-]{1,60}:)?[0-9]{1,5}(?:[:-][0-9]{1,5}){0,3}(?:/[a-z]{3,4})?(?![^\s"'`\\]))"""
)  # fmt: skip
# A backslash before a quote is JSON's and ends a word.
_BARE: Final = r"""(?:[^\s"'`\\]|\\(?![\\"'nrt]))"""


def _quoted(before: str) -> str:
    """Return a pattern for a secret with what stands before it in the same quotes, if any."""
    before += _NO_VARIABLE
    return (
        rf"""{_NO_PORTS}(?!\\{{0,7}}["']?-)(?:"{before}(?P<secret>[^"\\\n]{{6,200}})"|'{before}(?P<secret2>[^'\n]{{6,200}})'"""
        rf"""|\\{{1,7}}["']{before}(?P<secret3>[^"'\\\n]{{6,200}})\\|["']?{before}(?![|<>&;])(?P<secret4>{_BARE}{{6,200}}))"""
    )


# What joins a command to the next ends it; in quotes, behind a backslash or in an address it does not.
_JOINED: Final = "|;&"
_IN_QUOTES: Final = r"""(?:'[^'\n]{0,400}'|"[^"\n]{0,400}")"""
_OF_COMMAND: Final = (
    rf"""(?:[^\n{_JOINED}"'\\]|{_IN_QUOTES}|\\(?:\r?\n|.)|&(?![&\s])|["'\\])"""
)  # fmt: skip


def _line_of(command: str) -> str:
    """Return a pattern for a command with its words, on one line or on continued ones."""
    return rf"""\b(?:{command})(?:\.exe)?(?=[ \t"'])(?:(?!\b(?:{command})[ \t"']){_OF_COMMAND}){{0,400}}"""


_SECRET: Final = _quoted("")
# As it is told to a command that asks for it once more.
_TWICE: Final = (
    r"""(?<=["'])(?P<secret5>[^"'\\\n|]{6,100}\\{1,2}n[^"'\\\n|]{6,100})(?:\\{1,2}n)?(?=\\?["'])"""
)
_USER: Final = r"""(?!-)[^\s:"'\\]{0,100}:"""
_USER_AND_COMMA: Final = r"""(?!-)[^\s,:"'\\]{1,100},"""
_USER_AND_PERCENT: Final = r"""(?!-)(?:[^\s%"'\\]{1,100}\\{1,4})?[^\s%"'\\]{1,100}%"""
_LOGINS: Final = (
    r"(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|oc|az|argocd)[ \t](?:[a-z]{2,12}[ \t]){0,2}login"
)  # fmt: skip
_MONGO: Final = r"mongo(?:sh|dump|restore|export|import|stat|top|files)?"
_BLANKS: Final = r"[ \t]{1,4}"
_NETRC_GAP: Final = r"[ \t\r\n]{1,16}"
_ECHO: Final = rf"""\b(?:echo|printf){_BLANKS}(?:-[a-z]{{1,3}}{_BLANKS})?["']?"""
_USER_OF_CHPASSWD: Final = r"[\w.-]{1,32}:(?=[^\n|]{6,200}\|[ \t]{0,4}(?:sudo[ \t])?chpasswd)"
_ASKING: Final = (
    r"(?:sudo -S|(?:sudo[ \t])?(?:chpasswd|passwd|smbpasswd|cryptsetup|kinit)\b|[^\n|]{0,200}?--(?:password-stdin|passphrase-fd))"
)  # fmt: skip
_NET_USE: Final = r"(?i:\bnet[ \t]use)[ \t][^\n|&]{0,200}?"
_COOKIES: Final = (
    r"(?:[\w.-]{0,40}(?:sess(?:ion)?(?:[_-]?id)?|sid|token|auth|jwt|csrf|xsrf|remember[\w-]{0,12}))"
)


# In a secret of Kubernetes stands the login too, which is none.
_LITERAL: Final = r"(?![\w.-]{0,60}(?i:user|host|url|name|mail|login|id)=)[\w.-]{1,100}="
# `--` or `-` and what a password is for: `--http-`.
_OF_WHAT: Final = r"(?:[a-z0-9]{1,20}-){0,3}"
_LONG: Final = "(?:password|passphrase|passwd)"
# Whether its value is quoted, or another option stands behind it: then it is no word of a sentence.
_IN_COMMAND: Final = r"""(?=\\{0,7}["']|[^\s"']{6,200}[ \t]{1,4}(?:-|\\\r?\n))"""


# Words without which it is not there, the command, and its option with the value: all of these
# are passwords, of letters alone too, for that command has no other use for the option.
_OPTIONS: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    (
        ("curl",), "curl",
        rf"(?:-u|(?:-[a-zA-Z]{{0,6}}[uU]|--(?:proxy-)?user)(?:{_GAP}|=))(?:{_GAP})?{_quoted(_USER)}",
    ),
    ((" -a ", "--auth"), "https?|xh", rf"(?:-a|--auth)(?:{_GAP}|=){_quoted(_USER)}"),
    (("lftp",), "lftp", rf"-u{_GAP}{_quoted(_USER_AND_COMMA)}"),
    (
        ("mysql", "mariadb"), r"mysql\w{0,10}|mariadb(?:-\w{1,10})?",
        rf"-p(?!(?:ort|rotocol|rompt|ager)\b){_SECRET}",
    ),
    (
        ("-pass",), rf"wget|svn|curl|{_MONGO}|influx|clickhouse-client|gpg2?",
        rf"--?{_OF_WHAT}{_LONG}{_GAP}{_SECRET}",
    ),
    (("sshpass",), "sshpass", rf"-p(?:{_GAP})?{_SECRET}"),
    (("login",), _LOGINS, rf"-p(?:{_GAP}|=)?{_SECRET}"),
    (("mongo",), _MONGO, rf"-p(?:{_GAP})?{_SECRET}"),
    (("useradd", "usermod"), "user(?:add|mod)", rf"-p{_GAP}{_SECRET}"),
    (("redis-cli",), "redis-cli", rf"(?:-a|(?i:auth)){_GAP}{_SECRET}"),
    (("ldap",), "ldap(?:search|modify|add|delete|compare|modrdn|passwd|whoami|exop)", rf"-[xZvnLcCMAtu]{{0,6}}w(?:{_GAP})?{_SECRET}"),
    (("ldap",), "ldappasswd", rf"-[as](?:{_GAP})?{_SECRET}"),
    (("zip",), "(?:un|fun)?zip", rf"-[a-zA-Z0-9]{{0,6}}P(?:{_GAP})?{_SECRET}"),
    (("7z", "rar "), "7z[azrG]?|(?:un)?rar", rf"-h?p{_SECRET}"),
    (("smb", "rpcclient"), "smb(?:client|get|cacls|spool)|rpcclient", rf"(?:-U|--user)(?:{_GAP}|=)?{_quoted(_USER_AND_PERCENT)}"),
    (("mosquitto",), "mosquitto_(?:pub|sub|rr)", rf"(?:-P|--pw){_GAP}{_SECRET}"),
    (("-pw",), "plink|pscp|psftp|putty|kitty", rf"-pw{_GAP}{_SECRET}"),
    (("ipmitool",), "ipmitool", rf"-P(?:{_GAP})?{_SECRET}"),
    (("sqlcmd", "bcp"), "sqlcmd|bcp", rf"-P(?:{_GAP})?{_SECRET}"),
    (("snmp",), "snmp(?:walk|bulkwalk|get|getnext|bulkget|set|table|trap|inform|status|df)", rf"-[AXc](?:{_GAP})?{_SECRET}"),
    (("freerdp",), "[xw]l?freerdp3?", rf"/p:{_SECRET}"),
    (("secret",), r"gh[ \t]secret[ \t]set", rf"(?:-b|--body)(?:{_GAP}|=)?{_SECRET}"),
    (("cmdkey",), "cmdkey", rf"/pass:{_SECRET}"),
    (("ssh-keygen",), "ssh-keygen", rf"-[NP]{_GAP}{_SECRET}"),
    (("openssl",), "openssl", rf"-[kK]{_GAP}{_SECRET}"),
    (
        ("--from-literal",), r"create[ \t]secret",
        rf"--from-literal(?:{_GAP}|=){_quoted(_LITERAL)}",
    ),
    (
        ("sqlplus", "sqlldr", "pdp"), "sqlplus|sqlldr|expdp|impdp",
        r"""(?:userid=)?[\w$#]{1,60}/(?P<secret>[^\s"'@/]{6,100})@""",
    ),
)  # fmt: skip

# Words without which it is not there, the proof, and what it looks like.
_PASSWORDS: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    (
        ("requirepass", "masterauth"), "chosen",
        rf"{_STARTS}(?:--)?(?:requirepass|masterauth){_GAP}{_SECRET}",
    ),
    # Whose login it is and the password, side by side, of whatever command.
    (
        ("-p",), "chosen",
        rf"""{_DASH}(?:u|-user(?:name)?)(?:{_GAP}|=)?["']?[^\s"'=-][^\s"']{{0,100}}["']?[ \t]{{1,4}}-p(?:{_GAP}|=)?{_SECRET}""",
    ),
    # `--http-password ...`, `-passin pass:...`, and with an equals sign what is called a pass.
    (
        ("-pass",), "chosen",
        rf"(?i:{_DASH}-?{_OF_WHAT}(?:{_LONG}|pass(?:in|out)?)(?:{_GAP}|=)(?!\\{{0,7}}[\"']?(?:file|env|fd):)){_quoted('(?:pass:)?')}",
    ),
    (
        ("-pass",), "placed",
        rf"(?i:{_DASH}-?{_OF_WHAT}{_LONG}(?:=|{_GAP}{_IN_COMMAND})|--pass=|-pass(?:in|out)?[ \t]{{1,4}}(?=\\{{0,7}}[\"']?pass:)){_quoted('(?:pass:)?')}",
    ),
    (
        ("storepass", "keypass"), "placed",
        rf"{_DASH}(?:src|dest)?(?:store|key)pass(?:{_GAP}|=){_SECRET}",
    ),
    # Variables in which programs look for a password.
    (
        (*PASSWORDS, "sshpass=", "rediscli_auth="), "placed",
        rf"\b(?:SSHPASS|PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH|RESTIC_PASSWORD|BORG_PASSPHRASE)={_SECRET}",
    ),
    (
        ("htpasswd",), "chosen",
        (rf"\bhtpasswd{_BLANKS}(?=(?:-\S{{1,10}}{_BLANKS}){{0,4}}-[A-Za-z]{{0,6}}b)"
        rf"(?:-[A-Za-z]{{1,8}}{_BLANKS}(?:[0-9]{{1,2}}{_BLANKS})?){{1,5}}"
        rf"(?:[^\s<>|&;-]\S{{0,100}}{_BLANKS}){{1,2}}{_SECRET}"),
    ),
    # What is told to a command that asks for a password.
    (
        (*PASSWORDS, "sudo -s", "cryptsetup", "kinit"), "placed",
        rf"{_ECHO}(?:{_USER_OF_CHPASSWD})?(?:{_TWICE}|{_SECRET})[\"']?[ \t]{{0,4}}\|[ \t]{{0,4}}{_ASKING}",
    ),
    (
        ("<<<",), "placed",
        rf"(?:-stdin|\bsudo -S|\bchpasswd|\bcryptsetup)\b[^\n<]{{0,200}}<<<[ \t]{{0,4}}{_SECRET}",
    ),
    (("mc alias set",), "chosen", rf"\bmc alias set(?:{_BLANKS}[^\s\"']{{1,200}}){{3}}{_BLANKS}{_SECRET}"),
    (
        ("openssl",), "chosen",
        rf"\bopenssl passwd(?:[ \t](?:-salt[ \t]\S{{1,40}}|-\w{{1,10}})){{0,4}}{_BLANKS}{_SECRET}",
    ),
    (("wpa_passphrase",), "chosen", rf"""\bwpa_passphrase{_BLANKS}(?:"[^"\n]{{1,40}}"|[^\s"]{{1,40}}){_BLANKS}{_SECRET}"""),
    (("nmcli",), "chosen", rf"\bnmcli[ \t][^\n|]{{0,200}}?{_STARTS}(?:password|[\w.-]{{0,30}}psk){_GAP}{_SECRET}"),
    (("rclone obscure",), "chosen", rf"\brclone obscure{_BLANKS}{_SECRET}"),
    # Windows: `net user anna ... /add`, `net use X: \\pump\x ... /user:anna`, and in the other order.
    (
        ("net use",), "chosen",
        rf"(?i:\bnet[ \t]user)(?:{_BLANKS}[^\s/]{{1,60}}){_BLANKS}(?=\S{{6,200}}{_BLANKS}(?i:/(?:add|domain))\b){_SECRET}",
    ),
    (
        ("net use",), "chosen",
        rf"{_NET_USE}\\\\\S{{1,200}}{_BLANKS}(?=[^\s/]\S{{5,199}}{_BLANKS}(?i:/u(?:ser)?:)){_SECRET}",
    ),
    (("net use",), "chosen", rf"{_NET_USE}(?i:/u(?:ser)?:)[^\s/]{{1,100}}{_BLANKS}(?!/){_SECRET}"),
    (
        ("sqlplus", "sqlldr", "pdp"), "chosen",
        rf"""\b(?:sqlplus|sqlldr|expdp|impdp)(?:[ \t]-\w{{1,9}}){{0,4}}{_BLANKS}["']?[\w$#]{{1,60}}/(?P<secret>[^\s"'@/]{{6,100}})(?![^\s"'`])""",
    ),
    (("jdbc:oracle",), "placed", r"""(?i:\bjdbc:oracle:\w{2,8}:)[\w$#]{1,60}/(?P<secret>[^\s"'@/]{6,100})@"""),
    (("connect to",), "chosen", rf"(?i:\bconnect[ \t]to[ \t]\S{{1,60}}[ \t]user[ \t]\S{{1,60}}[ \t]using[ \t]){_SECRET}"),
    (PASSWORDS, "chosen", rf"(?:\bsetx|\bENV|\bARG)[ \t]{{1,4}}\w{{0,40}}(?i:password|passwd|passphrase){_BLANKS}{_SECRET}"),
    (("securestring",), "placed", rf"(?i:\bConvertTo-SecureString[ \t]{{1,4}}(?:-AsPlainText[ \t]{{1,4}}|-Force[ \t]{{1,4}}|-String[ \t]{{1,4}}){{0,3}})(?=[\"']){_SECRET}"),
    (("psk",), "chosen", rf"(?<![\w-])wpa-psk{_BLANKS}{_SECRET}"),
    # A network of a QR code, and of wpa_supplicant.
    (("wifi:",), "placed", r"\bWIFI:(?:[STHR]:[^;\n]{0,60};){0,4}P:(?P<secret>[^;\s]{6,100});"),
    (("psk",), "placed", r"""(?<![\w-])(?:wpa[_-])?psk=(?:"(?!\$)(?P<secret>[^"\n]{8,63})"|(?!\$)(?P<secret2>[^\s"'`;,]{8,64}))"""),
    (
        ("psk",), "chosen",
        rf"""(?<![A-Za-z0-9-])(?i:psk)\\{{0,7}}["']?[ \t]{{0,4}}[=:][ \t]{{0,4}}{_SECRET}""",
    ),
    # Lines of .pgpass: host, port of PostgreSQL or of a pool before it, database, user, password.
    (
        (":54", ":6432:", ":6543:", ":*:"), "placed",
        (rf"""{_STARTS}[^\s:"'`]{{1,100}}:(?:54[0-9]{{2}}|6432|6543|\*):[^\s:"'`]{{1,100}}:[^\s:"'`]{{1,100}}:"""
        r"""(?P<secret>(?:[^\s"'`:\\]|\\[:\\]){6,200})(?![^\s"'`])"""),
    ),
    (
        ("machine ", "default login"), "chosen",
        (rf"\b(?:machine[ \t]{{1,8}}\S{{1,200}}|default){_NETRC_GAP}login[ \t]{{1,8}}\S{{1,200}}{_NETRC_GAP}"
        r"password[ \t]{1,8}(?P<secret>\S{6,200})"),
    ),
)  # fmt: skip
COMMANDS: Final[tuple[Rule, ...]] = (
    *(
        Rule("password", words, LatePattern(option), "placed", LatePattern(_line_of(command)))
        for words, command, option in _OPTIONS
    ),
    *(Rule("password", words, LatePattern(pattern), proof) for words, proof, pattern in _PASSWORDS),
    Rule(
        "secret", ("token", "secret", "apikey"),
        LatePattern(rf"{_DASH}-{_OF_WHAT}(?:token|secret|apikey){_GAP}{_SECRET}"),
        "random",
    ),
    # A token in a user's place, and no password: `-u sk_live_...:`.
    Rule(
        "secret", ("curl",),
        LatePattern(rf"""(?:-[a-zA-Z]{{0,6}}u|--user)(?:{_GAP}|=)?["']?(?P<secret>[A-Za-z0-9._-]{{16,200}}):(?=[\s"'])"""),
        "random", LatePattern(_line_of("curl")),
    ),
    # The same with the password first.
    Rule(
        "password", ("machine ",), LatePattern(
        rf"\bmachine[ \t]{{1,8}}\S{{1,200}}{_NETRC_GAP}password[ \t]{{1,8}}(?P<secret>\S{{6,200}}){_NETRC_GAP}login[ \t]{{1,8}}\S"
        ),
        "prefix",
    ),
    # Who logs in with a token alone.
    Rule(
        "secret", ("vault login", "wandb login", "authtoken", "codecov"), LatePattern(
            rf"\b(?:(?:vault|wandb) login|ngrok (?:config add-)?authtoken|codecov -t){_BLANKS}(?:-\S{{1,40}}{_BLANKS}){{0,3}}{_SECRET}"
        ),
        "random",
    ),
    # Lines of .netrc; a host has a dot or a number, else it is prose about a machine's login.
    Rule(
        "password", ("machine ",), LatePattern(
        rf"\bmachine[ \t]{{1,8}}(?=\S{{0,200}}[.0-9]|localhost)\S{{1,200}}{_NETRC_GAP}login[ \t]{{1,8}}\S{{1,200}}{_NETRC_GAP}"
        rf"(?:account[ \t]{{1,8}}\S{{1,200}}{_NETRC_GAP})?password[ \t]{{1,8}}(?P<secret>\S{{6,200}})"
        ),
        "prefix",
    ),
    Rule(
        "authorization", ("basic ", "auth\"", "auth=", "auth:"), LatePattern(
            r"""(?i:\bbasic[ \t]{1,4}|(?<![A-Za-z0-9])_?auth\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}["']?)(?P<secret>[A-Za-z0-9+/]{6,500}={0,2})(?![\w+/=-])"""
        ),
        "basic",
    ),
    Rule(
        "cookie", ("cookie",), LatePattern(
            r"""(?i:\bcookie\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}["']?|;[ \t]?)"""
            rf"(?i:{_COOKIES})=(?!abc123)(?P<secret>[A-Za-z0-9%._~+/-]{{16,2000}}=?)"
        ),
        "random",
    ),
)  # fmt: skip
