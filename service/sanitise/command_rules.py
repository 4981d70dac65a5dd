"""What passwords look like in command lines, in files of programs' logins and in HTTP's headers.

Each is known by its place alone: behind which command and option, or as which field of a line.
"""

# ruff: noqa: E501 - rows of a table

import re
from typing import Final

from service.sanitise.secret_rules import Rule

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


def _behind(command: str, option: str) -> str:
    """Return a pattern for a command with words up to an option, on one line or on continued ones."""
    return (
        rf"""\b(?:{command})(?=[ \t"'])(?:(?!\b(?:{command})[ \t"']|&&)(?:\\\r?\n|[^\n|])){{0,400}}?"""
        rf"{_STARTS}(?:{option})"
    )


_SECRET: Final = _quoted("")
_USER: Final = r"""(?!-)[^\s:"'\\]{0,100}:"""
_LOGINS: Final = (
    r"(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|oc|az|argocd)[ \t](?:[a-z]{2,12}[ \t]){0,2}login"
)  # fmt: skip
_MONGO: Final = r"mongo(?:sh|dump|restore|export|import|stat|top|files)?"
_BLANKS: Final = r"[ \t]{1,4}"
_NETRC_GAP: Final = r"[ \t\r\n]{1,16}"
_COOKIES: Final = (
    r"(?:[\w.-]{0,40}(?:sess(?:ion)?(?:[_-]?id)?|sid|token|auth|jwt|csrf|xsrf|remember[\w-]{0,12}))"
)


# Words without which it is not there, and what it looks like; all may be passwords.
_PASSWORDS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (
        ("curl",),
        _behind("curl", rf"-u|(?:-[a-zA-Z]{{0,6}}[uU]|--(?:proxy-)?user)(?:{_GAP}|=)")
        + rf"(?:{_GAP})?{_quoted(_USER)}",
    ),
    (
        ("mysql", "mariadb"),
        _behind(r"mysql\w{0,10}|mariadb(?:-\w{1,10})?", "-p(?!ort=)") + _SECRET,
    ),
    (("sshpass",), _behind("sshpass", "-p") + f"(?:{_GAP})?{_SECRET}"),
    (("login",), _behind(_LOGINS, "-p") + f"(?:{_GAP}|=)?{_SECRET}"),
    (("mongo",), _behind(_MONGO, "-p") + f"(?:{_GAP})?{_SECRET}"),
    (("redis-cli",), _behind("redis-cli", "-a") + f"{_GAP}{_SECRET}"),
    (
        ("requirepass", "masterauth"),
        rf"{_STARTS}(?:--)?(?:requirepass|masterauth){_GAP}{_SECRET}",
    ),
    # Whose login it is and the password, side by side, of whatever command.
    (
        ("-p",),
        rf"""{_DASH}(?:u|-user(?:name)?)(?:{_GAP}|=)?["']?[^\s"'=-][^\s"']{{0,100}}["']?[ \t]{{1,4}}-p(?:{_GAP}|=)?{_SECRET}""",
    ),
    # `--http-password ...`, `-passin pass:...`, and with an equals sign what is called a pass.
    (
        ("-pass",),
        rf"{_DASH}-?(?:[a-z0-9]{{1,20}}-){{0,3}}(?:password|passphrase|passwd|pass(?:in|out)?)(?:{_GAP}|=){_quoted('(?:pass:)?')}",
    ),
    (("sshpass=",), rf"\bSSHPASS={_SECRET}"),
    (
        ("htpasswd",),
        (rf"\bhtpasswd{_BLANKS}(?=(?:-\S{{1,10}}{_BLANKS}){{0,4}}-[A-Za-z]{{0,6}}b)"
        rf"(?:-[A-Za-z]{{1,8}}{_BLANKS}(?:[0-9]{{1,2}}{_BLANKS})?){{1,5}}"
        rf"(?:[^\s<>|&;-]\S{{0,100}}{_BLANKS}){{1,2}}{_SECRET}"),
    ),
    (
        ("password-stdin", "sudo -s", "chpasswd"),
        (rf"""\b(?:echo|printf){_BLANKS}(?:-[a-z]{{1,3}}{_BLANKS})?["']?(?:[\w.-]{{1,32}}:(?=[^\n|]{{6,200}}\|[ \t]{{0,4}}(?:sudo[ \t])?chpasswd))?{_SECRET}"""
        r"""["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo -S|(?:sudo[ \t])?chpasswd|[^\n|]{0,200}?--password-stdin)"""),
    ),
    # Lines of .pgpass: host, port of PostgreSQL or of a pool before it, database, user, password.
    (
        (":54", ":6432:", ":6543:", ":*:"),
        (rf"""{_STARTS}[^\s:"'`]{{1,100}}:(?:54[0-9]{{2}}|6432|6543|\*):[^\s:"'`]{{1,100}}:[^\s:"'`]{{1,100}}:"""
        r"""(?P<secret>[^\s"'`:]{6,200})(?![^\s"'`])"""),
    ),
    (
        ("machine ", "default login"),
        (rf"\b(?:machine[ \t]{{1,8}}\S{{1,200}}|default){_NETRC_GAP}login[ \t]{{1,8}}\S{{1,200}}{_NETRC_GAP}"
        r"password[ \t]{1,8}(?P<secret>\S{6,200})"),
    ),
)  # fmt: skip
COMMANDS: Final[tuple[Rule, ...]] = (
    *(Rule("password", words, re.compile(pattern), "chosen") for words, pattern in _PASSWORDS),
    # Lines of .netrc; a host has a dot or a number, else it is prose about a machine's login.
    Rule(
        "password", ("machine ",), re.compile(
        rf"\bmachine[ \t]{{1,8}}(?=\S{{0,200}}[.0-9]|localhost)\S{{1,200}}{_NETRC_GAP}login[ \t]{{1,8}}\S{{1,200}}{_NETRC_GAP}"
        rf"(?:account[ \t]{{1,8}}\S{{1,200}}{_NETRC_GAP})?password[ \t]{{1,8}}(?P<secret>\S{{6,200}})"
        ),
        "prefix",
    ),
    Rule(
        "authorization", ("basic ", "auth\"", "auth=", "auth:"), re.compile(
            r"""(?i:\bbasic[ \t]{1,4}|(?<![A-Za-z0-9])_?auth\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}["']?)(?P<secret>[A-Za-z0-9+/]{6,500}={0,2})(?![\w+/=-])"""
        ),
        "basic",
    ),
    Rule(
        "cookie", ("cookie",), re.compile(
            r"""(?i:\bcookie\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}["']?|;[ \t]?)"""
            rf"(?i:{_COOKIES})=(?!abc123)(?P<secret>[A-Za-z0-9%._~+/-]{{16,2000}}=?)"
        ),
        "random",
    ),
)  # fmt: skip
