"""Secrets that were never anybody's, of many kinds, each in a line as people write it.

They are made when they are asked for: no file holds anything that a scanner would report.
"""

import base64
import json
import random
import string
import uuid
from dataclasses import dataclass
from typing import Final

from scripts.sanitiser.service_shapes import SHAPES_OF_SERVICES

_ALNUM: Final = string.ascii_letters + string.digits
_UPPER: Final = string.ascii_uppercase + "234567"
_HEX: Final = "0123456789abcdef"
_URL: Final = _ALNUM + "-_"


@dataclass(frozen=True, slots=True)
class Planted:
    """One secret: its kind, what must never be found again, and the text around it."""

    kind: str
    secret: str
    text: str


# The kind, how a line looks, and the parts of the secret: letters, an alphabet and a length, or a
# UUID (G).
_SHAPES: Final = """
aws-key|aws_access_key_id = {}|AKIA U16
aws-temporary-key|Found {} in the old script.|ASIA U16
aws-secret-key|aws_secret_access_key = {}|A40
gcp-key|The map loads with key={}&v=3|AIza L35
google-oauth-secret|"client_secret":"{}"|GOCSPX- L28
google-oauth-token|access: {}|ya29. L60
azure-storage-key|DefaultEndpointsProtocol=https;AccountName=pump;AccountKey={};|A86 ==
azure-client-secret|AZURE_CLIENT_SECRET={}|A3 8Q~ A34
github-token|git clone https://{}@github.com/pump/pump.git|ghp_ A36
github-server-token|export GH={}|ghs_ A36
github-fine-token|gh auth: {}|github_pat_ A22 _ A59
gitlab-token|PRIVATE-TOKEN: {}|glpat- L20
slack-token|bot = {}|xoxb- D12 - D12 - A24
slack-webhook|https://{}|hooks.slack.com/services/T U9 /B U9 / A24
discord-webhook|https://{}|discord.com/api/webhooks/ D18 / L68
discord-token|discord bot {}|M A23 . L6 . L30
telegram-token|curl https://api.telegram.org/bot{}/getMe|D9 :AA L33
stripe-key|stripe.api_key = "{}"|sk_live_ A24
webhook-secret|signing with {}|whsec_ A32
anthropic-key|ANTHROPIC_API_KEY={}|sk-ant-api03- L93 AA
openai-key|OPENAI_API_KEY={}|sk-proj- L74
openai-old-key|He used {} all week.|sk- A48
openrouter-key|router {}|sk-or-v1- H64
huggingface-token|hf login {}|hf_ A34
replicate-token|{}|r8_ A37
groq-key|groq: {}|gsk_ A52
nvidia-key|nim {}|nvapi- L64
langsmith-key|trace {}|lsv2_pt_ H32 _ H10
npm-token|//registry.npmjs.org/:_authToken={}|npm_ A36
pypi-token|password = {}|pypi-AgEIcHlwaS5vcmc L70
rubygems-key|gem push with {}|rubygems_ H48
docker-token|docker login -p {}|dckr_pat_ L27
sendgrid-key|mail: {}|SG. L22 . L43
mailgun-key|mailgun {}|key- H32
mailchimp-key|chimp {}|H32 -us12
twilio-key|twilio {}|SK H32
digitalocean-token|doctl {}|dop_v1_ H64
netlify-token|netlify {}|nfp_ A36
terraform-token|credentials: {}|A14 .atlasv1. L67
vault-token|VAULT_TOKEN={}|hvs. L90
databricks-token|databricks {}|dapi H32
planetscale-token|ps {}|pscale_tkn_ L43
supabase-key|sb {}|sbp_ H40
grafana-token|grafana {}|glsa_ A32 _ H8
newrelic-key|nr {}|NRAK- U27
linear-key|linear {}|lin_api_ A40
notion-token|notion {}|ntn_ A46
airtable-token|airtable {}|pat A14 . H64
figma-token|figma {}|figd_ L40
atlassian-token|jira {}|ATATT3 L180
shopify-token|shop {}|shpat_ H32
age-key|{}|AGE-SECRET-KEY-1 U58
postman-key|postman {}|PMAK- H24 - H34
tailscale-key|tailscale up --authkey {}|tskey-auth- A12 - A32
graph-memory-key|MEMORY_API_KEY={}|gm_ H12 _ L43
bearer|Authorization: Bearer {}|L40
url-password|DATABASE_URL=postgres://app:{}@db:5432/pump|A14
redis-password|redis://:{}@cache:6379/0|A20
mongodb-password|mongodb+srv://root:{}@cluster0.abcde.mongodb.net|A16
yaml-password|  password: "{}"|A12
env-password|DB_PASSWORD={}|A14
said-password|The admin password is {} since Monday.|A11
korean-password|공유기 비밀번호는 {}|A12
chinese-password|路由器密码：{}|A12
generic-token|"auth_token": "{}"|A40
encryption-key|ENCRYPTION_KEY={}|H64
command-password|mysql -u root -p{} pump|A12
option-password|restore --password {} now|A14
curl-password|curl -s -u app:{} https://pump.example.org/state|A14
login-password|docker login -u app -p {} registry.example.org|A16
redis-option|redis-cli -h cache -a {} ping|A16
htpasswd|htpasswd -b /etc/pump.users app {}|A14
pgpass|db.example.org:5432:pump:app:{}|A16
ldap-password|ldapsearch -x -D cn=app -w {} -b dc=example|A14
zip-password|unzip -P {} pump.zip|A14
archive-password|7z x -p{} pump.7z|A14
oracle-password|sqlplus app/{}@db|A14
windows-share|smbclient //files/pump -U app%{}|A14
kubernetes-literal|kubectl create secret generic a --from-literal=user=app --from-literal=db={}|A16
sql-password|CREATE USER app WITH PASSWORD '{}';|A14
wordpress-salt|define('NONCE_SALT', '{}');|A64
pass-label|pass: {}|A14
authorization-key|Authorization: {}|A40
portuguese-password|Senha: {}|A12
russian-password|Пароль: {}|A12
german-password|Das Passwort lautet {}|A12
french-password|Mot de passe : {}|A12
japanese-password|ルーターのパスワードは{}|A12
cookie|Set-Cookie: session={}; Path=/; HttpOnly|H32
netrc|machine files.example.org login app password {}|A16
wireguard-key|PrivateKey = {}|A43 =
signature|https://pump.blob.core.windows.net/a?se=2030&sig={}|A43 %3D
url-token|git clone https://{}:x-oauth-basic@github.com/pump/pump|H40
url-token-alone|git clone https://{}@git.example.org/pump/pump|H40
proxy-link|trojan://{}@home.example.org:443|A14
unlocked-vault|BW_SESSION={}|A86 ==
capital-key|TMDB_KEY={}|H32
purpose-key|Unseal Key 1: {}|A43 =
header-key|curl -H 'Fastly-Key: {}' https://pump.example.org|A32
personal-token|GITHUB_PAT={}|H40
listed-password|"password": ["{}"]|A14
psk|WIFI_PSK={}|A14
bind-password|bindpw: {}|A14
user-password|useradd -m -p {} anna|A14
told-password|sudo -S ls <<< '{}'|A14
curl-token|curl -u {}: https://pump.example.org|A32
login-token|wandb login {}|H40
alias-secret|mc alias set pump https://s3.example.org app {}|A40
"""
_ALPHABETS: Final = {
    "A": _ALNUM, "U": _UPPER, "H": _HEX, "L": _URL, "D": string.digits,
    "S": string.ascii_lowercase + string.digits,
}  # fmt: skip


def planted(seed: int = 0) -> list[Planted]:
    """Return secrets of all kinds; other seeds give others."""
    chance = random.Random(seed)
    made = []
    for line in filter(None, (_SHAPES + SHAPES_OF_SERVICES).splitlines()):
        kind, text, parts = line.split("|")
        secret = "".join(_part(chance, part) for part in parts.split())
        made.append(Planted(kind, secret, text.replace("{}", secret)))
    return [*made, *_others(chance), *(_private_key(chance, what) for what in _KEY_NAMES)]


_KEY_NAMES: Final = ("RSA PRIVATE", "EC PRIVATE", "OPENSSH PRIVATE", "PRIVATE", "PGP PRIVATE")


def _part(chance: random.Random, part: str) -> str:
    if part[:1] in _ALPHABETS and part[1:].isdigit():
        return _mixed(chance, _ALPHABETS[part[0]], int(part[1:]))
    return _uuid(chance) if part == "G" else part


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _mixed(chance: random.Random, alphabet: str, length: int) -> str:
    """Return random characters that begin and end with neither mark, digits and letters in them."""
    while True:
        word = "".join(chance.choices(alphabet, k=length))
        is_mixed = length < 8 or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))
        if word[0] not in "-_" and word[-1] not in "-_" and (is_mixed or alphabet == string.digits):
            return word


def _others(chance: random.Random) -> list[Planted]:
    """Return secrets whose text is more than one line with a secret in it."""
    login = base64.b64encode(f"app:{_mixed(chance, _ALNUM, 14)}".encode()).decode()
    rows = "| What | Password |\n|---|---|\n|"
    password, token = _mixed(chance, _ALNUM, 12), _mixed(chance, _ALNUM, 32)
    of_app = " ".join(_mixed(chance, string.ascii_lowercase, 4) for _ in range(4))
    return [
        _jwt(chance),
        _putty_key(chance),
        _json_web_key(chance),
        Planted("basic", login, f"proxy: Basic {login}"),
        Planted("app-password", of_app, f"Google app password: {of_app}"),
        Planted("password-in-table", password, f"{rows} app | {password} |"),
        Planted("token-in-table", token, f"{rows} API token | `{token}` |"),
    ]  # fmt: skip


def _jwt(chance: random.Random) -> Planted:
    parts = [
        json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": chance.randint(1, 9**9)}),
    ]  # fmt: skip
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    token = ".".join([*encoded, _mixed(chance, _URL, 43)])
    return Planted("jwt", token, f"cookie: session={token}; path=/")


def _putty_key(chance: random.Random) -> Planted:
    lines = [_mixed(chance, _ALNUM + "+/", 64) for _ in range(6)]
    head = "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: pump\nPublic-Lines: 2\n"
    body = "\n".join([*lines[:2], "Private-Lines: 5", *lines[2:], "q7Zkx9k="])
    return Planted("putty-key", lines[2], f"{head}{body}\nPrivate-MAC: {_mixed(chance, _HEX, 64)}")


def _json_web_key(chance: random.Random) -> Planted:
    private = _mixed(chance, _URL, 43)
    told = {"kty": "EC", "crv": "P-256", "x": _mixed(chance, _URL, 43), "d": private}
    return Planted("json-web-key", private, json.dumps({"keys": [told]}, indent=2))


def _private_key(chance: random.Random, name: str) -> Planted:
    block = " BLOCK" if name.startswith("PGP") else ""
    lines = [_mixed(chance, _ALNUM + "+/", 64) for _ in range(25)]
    body = "\n".join(lines)
    text = f"-----BEGIN {name} KEY{block}-----\n{body}\n-----END {name} KEY{block}-----"
    return Planted(f"private-key {name}", lines[7], text)
