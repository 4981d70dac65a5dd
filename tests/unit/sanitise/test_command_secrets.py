"""Passwords told by their place and keys that were cut off are masked; their look-alikes stay."""

# ruff: noqa: E501 - rows of a table

import pytest

from scripts.sanitiser.planted import planted
from service.sanitise.secrets import mask_secrets

PASSWORD = "q7Zk_x9-kd8w0"  # noqa: S105 - nobody's
TOKEN = "w4Jr9XUtnF3MI7K8bPxRfiCYzQ8pLk3v"  # noqa: S105 - nobody's

COMMANDS = [
    "curl -u anna:{} https://pump", "curl -s -X POST --user 'anna:{}' https://pump", "curl --user=anna:{} h", "curl -uanna:{} h",
    "curl -su \"anna:{}\" h", "curl --proxy-user anna:{} h", "curl -X POST \\\n  -u anna:{} \\\n  https://pump",
    '{{"command": "curl -u \\"anna:{}\\" https://pump"}}', '["curl", "-u", "anna:{}", "https://pump"]',
    "mysql -u root -p{} pump", "mysqldump -p'{}' pump", '["CMD", "mysqladmin", "ping", "-p{}"]', "sshpass -p {} ssh pump",
    "sshpass -p\"{}\" ssh pump", "SSHPASS={} sshpass -e ssh pump", "docker login -u anna -p {} pump", "docker login -p={} pump",
    "helm registry login pump -u anna -p {}", "mongosh pump -p {}", "mongodump -u anna -p{}", "argo -u anna -p {} pump",
    "redis-cli -h pump -a {} ping", "redis-cli --pass {}", '["redis-cli", "-a", "{}", "ping"]', "requirepass {}",
    "redis-server --requirepass \"{}\"", "wget --http-password {} https://pump", "ansible --become-password {}",
    "openssl rsa -passin pass:{} -in pump.pem", "gpg --passphrase {} -d pump", "htpasswd -b .users anna {}", "htpasswd -nbB anna {} > a",
    "htpasswd -cbBC 10 .users anna {}", "echo {} | docker login -u anna --password-stdin", "echo '{}' | sudo -S ls",
    "echo 'anna:{}' | sudo chpasswd", "curl -H 'Accept: a; b' -u anna:{} h", "curl 'https://pump/a|b' -u anna:{}", "curl https://pump/?a=1&b=2 -u anna:{}",
    "mc alias set pump https://s3 anna {}", "WIFI_PSK={}", '"psk": "{}"', "LDAP_BIND_PW='{}'", '"bindpw": "{}"', '"password": ["{}"]', "passwords:\n  password: [ '{}' ]",
]  # fmt: skip
# Of these the option is nothing else than a password: letters alone are one, too.
OPTIONS = [
    "curl -u anna:{} https://pump", "curl --user=anna:{} --proxy-user bob:{} h", "https --form -a anna:{} h", "lftp -u anna,{} pump",
    "mysql -uroot -p{} pump", "sshpass -p {} ssh pump", "SSHPASS={} ssh", "PGPASSWORD={} psql", "export MYSQL_PWD='{}'", "docker login -u anna -p {} pump", "mongosh pump -p {}",
    "redis-cli -a {} ping", '["redis-cli", "-a", "{}"]', "redis-cli auth {}", "ldapsearch -x -D cn=anna -w {} -b dc=pump",
    "ldapmodify -xw '{}' -f a.ldif", "ldapadd -w{}", "ldappasswd -w {} -s {} uid=anna", "unzip -P {} pump.zip", "unzip -qP{} pump.zip",
    "zip -9rP \"{}\" pump.zip a", "7z x -p{} pump.7z", "7za a pump.7z -p'{}' a", "rar a -hp{} pump.rar", "smbclient //pump/a -U anna%{}",
    "rpcclient -U 'GARDEN\\anna%{}' pump", "mosquitto_pub -h pump -u anna -P {} -t a", "plink.exe -ssh anna@pump -pw {}",
    "ipmitool -H pump -U anna -P {} power on", "sqlcmd -S pump -U sa -P '{}'", "snmpwalk -v3 -A {} -X {} pump", "snmpget -v2c -c {} pump",
    "xfreerdp /u:anna /p:{} /v:pump", "cmdkey /add:pump /user:anna /pass:{}", "ssh-keygen -p -P {} -N {} -f a", "openssl enc -k {} -in a",
    "openssl rsa -passin pass:{} -in a", "keytool -storepass {} -keypass \"{}\"", "gpg --batch --passphrase {} -c a",
    "wget --password {} https://pump", "wget --http-password={} https://pump", "restore --password {} --all", "pump --db-password '{}'",
    '["pump", "--password", "{}"]', "sqlplus -s anna/{}@pump", "sqlldr userid=anna/{}@//pump:1521/a", "jdbc:oracle:thin:anna/{}@pump",
    "kubectl create secret generic pump --from-literal=user=gardener1 --from-literal=a={} --from-literal=b={}",
    "gh secret set PUMP --body {}", "echo {} | cryptsetup luksFormat a -", "echo '{}' | gpg --passphrase-fd 0 -d a",
    "useradd -m -p {} anna", "passwd --stdin anna <<< '{}'", "sudo -S ls <<< {}",
    "ConvertTo-SecureString -String '{}' -AsPlainText", "WIFI:S:pump;T:WPA;P:{};;",
]  # fmt: skip
# Of these not: letters and digits make a password.
PLACES = [
    '    psk="{}"', "sqlplus anna/{}", "impdp system/{} directory=a", "openssl passwd -6 -salt pump {}", "wpa_passphrase pump {}", "wpa-psk {}",
    "nmcli device wifi connect pump password {}", "rclone obscure {}", "net use Z: \\\\pump\\a {} /user:anna", "net user anna {} /add",
    "net use Z: \\\\pump\\a /user:anna {}", "connect to pump user anna using {}", "setx PUMP_PASSWORD {}", "ENV DB_PASSWORD {}",
    "New-LocalUser anna -Password {}", "pump --new-Password {}", "CREATE USER anna WITH PASSWORD '{}'", "SET PASSWORD FOR a = PASSWORD('{}')",
    'user.setPassword("{}")', "define('DB_PASSWORD', '{}');", "auth=('anna', '{}')", 'HTTPBasicAuth("anna", "{}")',
    "<key>password</key>\n  <string>{}</string>", "<name>db.password</name><value>{}</value>", "password = \"\"\"{}\"\"\"",
]  # fmt: skip
FILES = [
    "pump.example.org:5432:garden:anna:{}", "*:*:*:anna:{}", "echo 'pump:6432:garden:anna:{}' >> .pgpass",
    "machine pump.example.org\r\n    login anna\r\n    password {}", "machine pump.example.org login anna account a password {}",
    "default login anna password {}",
]  # fmt: skip
LABELS = [
    "Passwort: {}", "Das Passwort ist {}", "**Kennwort:** `{}`", "Mot de passe\u00a0: {}", "Le mot de passe est {}", "Contraseña: {}",
    "senha: {}", "A senha é {}", "Palavra-passe: `{}`", "mdp : {}", "Parola: {}", "Lösenord: {}", "Passord: {}", "Adgangskode: {}",
    "Salasana: {}", "hasło: {}", "Heslo: {}", "Пароль: {}", "Şifre: {}", "Mật khẩu: {}", "pass: {}", "Pass: `{}`", '"pass": "{}"',
    "db_pass={}", "ansible_become_pass: {}", '"dbPass": "{}"', "DBPASS={}", "https://pump/?user=anna&pass={}", "username=anna,pass={}",
    "wachtwoord={}", "パスワード：{}", "パスワードは「{}」です", "비번: {}", "export DB_PW={}",
]  # fmt: skip
TABLES = [
    "| user | password |\n|---|---|\n| anna | {} |", "|Benutzer|Passwort|\n|:-|-:|\n|anna|`{}`|", "user | DB password\n--- | ---\nanna | **{}**",
    "> | パスワード |\n> |---|\n> | {} |\r", "| what | value |\n|---|---|\n| host | pump |\n| Password (new) | {} |",
]  # fmt: skip


@pytest.mark.parametrize("written", OPTIONS)
@pytest.mark.parametrize("password", ["correcthorse", "Hunter", "garden-hose", "493021"])
def test_a_password_of_letters_or_digits_alone_is_masked_behind_its_option(
    written: str, password: str
) -> None:
    masked = mask_secrets(f"The pump.\n{written.replace('{}', password)}\nIt runs.")
    assert masked.text == f"The pump.\n{written.replace('{}', '[SECRET:password]')}\nIt runs."
    assert mask_secrets(masked.text) == (masked.text, ())


@pytest.mark.parametrize("written", [*OPTIONS, *PLACES])
def test_a_password_of_a_command_or_a_program_is_masked(written: str) -> None:
    masked = mask_secrets(f"The pump.\n{written.replace('{}', PASSWORD)}\nIt runs.")
    assert masked.text == f"The pump.\n{written.replace('{}', '[SECRET:password]')}\nIt runs."
    assert mask_secrets(masked.text) == (masked.text, ())


@pytest.mark.parametrize("written", [*COMMANDS, *FILES, *LABELS, *TABLES])
def test_a_password_is_masked_where_its_place_tells_that_it_is_one(written: str) -> None:
    masked = mask_secrets(f"The pump.\n\n{written.format(PASSWORD)}\nIt runs.")
    assert masked.text == f"The pump.\n\n{written.format('[SECRET:password]')}\nIt runs."
    assert mask_secrets(masked.text) == (masked.text, ())


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("Set-Cookie: session={}; Path=/", "cookie"), ("Cookie: theme=dark; PHPSESSID={}; a=1", "cookie"),
        ("{{\"Cookie\": \"connect.sid={}\"}}", "cookie"), ("API-Schlüssel: {}", "secret"), ("Clé API : {}", "secret"),
        ("APIキー: {}", "secret"), ("토큰: {}", "secret"), ("| who | token |\n|-|-|\n| anna | {} |", "secret"),
        ("| what | value |\n|-|-|\n| `API_KEY` | {} |", "secret"), ("pump --access-token {} -v", "secret"), ("pump --apikey {}", "secret"),
        ("pump --client-secret '{}'", "secret"), ("define( 'AUTH_KEY', '{}' );", "secret"), ('define("PUMP_SALT", "{}")', "secret"),
        ("Authorization: {}", "authorization"), ('"Authorization": "{}"', "authorization"), ("-H 'authorization: Key {}'", "authorization"),
        ("Authorization: GenieKey {}", "authorization"), ("Authorization: Token token={}", "authorization"),
    ],
)  # fmt: skip
def test_a_token_is_masked_where_its_place_tells_that_it_is_one(written: str, kind: str) -> None:
    masked = mask_secrets(written.format(TOKEN))
    assert masked == (written.format(f"[SECRET:{kind}]"), (kind,))


@pytest.mark.parametrize(
    "written",
    ["Authorization: Basic {}", "Basic {}", '"auth": "{}"', "_auth={}", '["Basic {}"]'],
)
@pytest.mark.parametrize("login", ["cHVtcDpwdzE=", "YW5uYTpxN1prX3g5LWtkOHcw"])
def test_a_user_and_a_password_in_base64_are_masked(written: str, login: str) -> None:
    masked = mask_secrets(written.format(login))
    assert masked == (written.format("[SECRET:authorization]"), ("authorization",))


def test_the_secret_half_of_an_aws_key_is_masked_behind_its_name_alone() -> None:
    secret = next(one.secret for one in planted(3) if one.kind == "aws-secret-key")
    text = "aws configure set aws_secret_access_key {}"
    assert mask_secrets(text.format(secret)).text == text.format("[SECRET:aws-secret-key]")


@pytest.mark.parametrize(
    "text",
    [
        "curl -u user:password h", "curl -u $USER1:$PASSWORD1 h", 'curl -u "$USER:$PW_OF_PUMP2" h', "curl -u anna h -H x:y1234567",
        "curl --user-agent pump:v1.2.3-beta h", "curl h | docker run -u pump:group2024 x", "curl h && run -u pump:group2024 x",
        "curl h; docker run -u pump:group2024 x", "curl 'h;a'; run -u pump:group2024 x", "curl h & run -u pump:group2024 x", "curl h || run -u pump:group2024 x",
        "curl -u gardeners-of-pumps: h", "cat <<< pump2024", "psk: WPA2-PSK",
        "docker run -u 1000:1000 -p 8080:80/tcp x", "docker run -u root -p localhost:8080:80 x", "docker run --name mongo -p 27017:27017 x",
        "mysql --host=h --port=3306 db", "mysql --protocol=tcp4 x", "The mysql server of the garden-pump2024 is down.",
        "docker login -p $DOCKER_PW2 x", "echo $PUMP_PW1 | docker login --password-stdin", "docker login --password-stdin < pump2024.txt",
        "redis-cli -h pump2024 -p 6379", "requirepass foobared", "wget --password-file pump2024.txt", "mkdir -p garden/pump2024",
        "config.yml:12:image:garden/pump:v1.2.3-abc", "anna:x:1000:1000:Anna:/home/anna:/bin/bash2024", "10:54:12:pump:state-2024",
        "each machine needs login and password protection", "the machine has login and password validation",
        "the default login form password validation", "the password is 8-character long", "Das Passwort ist 10-stellig",
        "The password is SHA-256 hashed", "비밀번호는 SHA-256으로", "パスワードはSHA-256で", "the Basic YW5uYWFubmFhbm5h", "Basic dXNlcjp1c2Vy",
        "auth: garden2024", "Cookie: theme=dark2024dark2024dark", "session=w4Jr9XUtnF3MI7K8bPxRfiCY",
        "| user | password |\n|---|---|\n| anna | at least 8 characters1 |", "| Password | Since |\n|---|---|\n| v1.2.3-beta4 | 2024-01-02 |",
        "| Password | Length |\n|---|---|\n| hunter | q7Zkx9kd8w0 |", "| Password hash | x |\n|---|---|\n| q7Zkx9kd8w0 | x |",
        "| Token | Value |\n|---|---|\n| spacing-large-16px | 16 |", "| Key | Value |\n|---|---|\n| w4Jr9XUtnF3MI7K8bPx | 16 |",
        "redis-cli -a option", "redis-cli -a without a password", "use sshpass -p instead of a key", "the zip -P argument", "zip -P $PUMP_PW2 a",
        "unzip -p pump.zip garden2024.txt", "curl -u user:token h", "curl -u USERNAME:PASSWORD h", "docker login -u user -p PASSWORD h",
        "pump --password PROMPT --user anna", "pump --password=required", "use --password instead of -p", "--password=%(password)s",
        "openssl rsa -passin file:pump2024.txt", "openssl rsa -passin env:PUMP_PW2", "snmpwalk -v2c -c public pump", "7z x pump.7z -ogarden2024",
        "kubectl create configmap pump --from-literal=level=debug2024", "docker run -u root -p garden x", "docker run -u gardener:gardeners x",
        "kubectl create secret generic pump --from-literal=username=gardener2024", "net user growth q3-2024 rose", "the net use of water2024",
        "The first pass: level-3", "First pass: level-3", "a second pass: level-3x", "Pass: 12/15", "by-pass: valve-12b", "must pass: garden-2024",
        "sqlplus /nolog", "sqlplus anna@pump @garden/state-2024.sql", "sqlplus user/password@pump", "mysql -protocol=tcp4", "rar a -p- pump.rar",
        "keytool -storepass changeit", 'getPassword("garden-2024")', 'the password "sha256"', "password ('8-character')", "psk=$PUMP_PSK2", 'psk="$PUMP_PSK2"',
        "auth=('user', 'password')", "define('DB_PASSWORD', 'password_here')", "define('AUTH_KEY', 'put your unique phrase here for pumps')",
        "Authorization: see docs/adr/0042-keys-of-pumps.md", "authorization: role-based-access-control", "echo password | sudo -S ls",
        "ENV PASSWORD_FILE /run/secrets/pump2024", "ENV DB_PASSWORD ${PUMP_PW2}", "kubectl get secret my-secret pump-config-2024-prod-77",
        "ldapsearch -W -x -b ou=www,dc=pump2024", "the heslop: garden2024", "amdp: garden2024", "plink -pw WHATEVER h", "hasło to garden-hose", "curl -u [SECRET:stripe-key]: -d a h",
        "a | password\nanna | q7Zkx9kd8w0", "| user | password |\n|---|---|\n\n| anna | q7Zkx9kd8w0 |", "{% if pump %} | password | q7Zkx9kd8w0",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert mask_secrets(text) == (text, ())


@pytest.mark.parametrize(
    "between",
    ["\n", "\\n", "\\\\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,8F14E45FCEEA167A\n\n", "\nVersion: GnuPG v2\n\n"],
)  # fmt: skip
def test_a_private_key_that_was_cut_off_is_masked_behind_headers_and_in_json(between: str) -> None:
    key = next(one for one in planted(1) if one.kind.startswith("private-key RSA"))
    begin, *lines = key.text.splitlines()[:12]
    line_end = "\n" if "\n" in between else between
    masked = mask_secrets(f"a: {begin}{between}{line_end.join(lines)}")
    assert masked.text.rstrip("\n") == "a: [SECRET:private-key]"


@pytest.mark.parametrize("line_end", ["\n", "\\n", "\n> ", "%0A"])
def test_the_end_of_a_private_key_is_masked_where_its_beginning_was_cut_off(line_end: str) -> None:
    key = next(one for one in planted(1) if one.kind.startswith("private-key RSA"))
    lines = [*key.text.splitlines()[20:26], "q7Zkx9k=", key.text.splitlines()[-1]]
    masked = mask_secrets(f'The pump.\na: "{line_end.join(lines)}" It runs.\n')
    assert masked.kinds == ("private-key",)
    assert masked.text.replace("\n", "") == 'The pump.a: "[SECRET:private-key]" It runs.'
    assert masked.text.count("\n") == 2 + line_end.count("\n") * 7


def test_words_before_a_line_that_ends_a_key_stay() -> None:
    text = "A key ends with\nthese dashes:\n-----END RSA PRIVATE KEY-----\n"
    assert mask_secrets(text) == (text, ())


@pytest.mark.parametrize(
    "written", ['echo -e "{}\\n{}" | passwd anna', "printf '{}\\n{}\\n' | sudo smbpasswd -s anna"]
)
def test_a_password_that_is_told_twice_is_masked(written: str) -> None:
    for password in (PASSWORD, "correcthorse"):
        masked = mask_secrets(written.replace("{}", password))
        assert masked.kinds == ("password",)
        assert masked.text == written.replace("{}\\n{}", "[SECRET:password]")


def test_an_option_within_a_password_is_a_part_of_it() -> None:
    masked = mask_secrets('curl -u "anna:q7Zk -u bob:kd8w0x9" h')
    assert masked == ('curl -u "anna:[SECRET:password]" h', ("password",))


def test_a_salt_has_marks_of_all_kinds() -> None:
    salt = "(9|~+V! q7Zk%x9-kd8w0$;{}[]?/.>,<k2#"
    masked = mask_secrets(f"define('NONCE_SALT',  '{salt}');")
    assert masked == ("define('NONCE_SALT',  '[SECRET:secret]');", ("secret",))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n", "\n> "])
def test_the_private_lines_of_a_key_of_putty_are_masked(line_end: str) -> None:
    [key] = [one for one in planted(1) if one.kind == "putty-key"]
    told = key.text.replace("\n", line_end)
    begin, private, end = (
        told.index(one) for one in (key.secret[:64], "Private-Lines", "Private-MAC")
    )
    cut = told[: end - len(line_end)]
    for text, rest in ((told, told[end:]), (cut, ""), (f"{cut}\nPumps run.", "\nPumps run.")):
        masked = mask_secrets(text)
        assert masked.kinds == ("private-key",)
        assert masked.text.startswith(told[:begin] + "[SECRET:private-key]")
        assert masked.text.endswith(rest)
        assert masked.text.count("\n") == text.count("\n")
        assert private < masked.text.index("[SECRET")


@pytest.mark.parametrize(
    "written",
    [
        '{{"kty": "RSA", "n": "{public}", "d": "{}", "p": "{}"}}', '{{"k":"{}","kty":"oct"}}',
        '{{\\"d\\":\\"{}\\",\\"kty\\":\\"EC\\",\\"x\\":\\"{public}\\"}}',
        "<RSAKeyValue><Modulus>{public}</Modulus><D>{}</D></RSAKeyValue>",
    ],
)  # fmt: skip
def test_the_private_parts_of_a_key_are_masked_and_its_public_ones_stay(written: str) -> None:
    masked = mask_secrets(written.format(*[TOKEN * 2] * 2, public=TOKEN[::-1] * 2))
    assert set(masked.kinds) == {"private-key"}
    assert masked.text == written.format(*["[SECRET:private-key]"] * 2, public=TOKEN[::-1] * 2)


@pytest.mark.parametrize(
    "text", ["Private-Lines: 2\nPumps\nhave\nhandles.\n", '{"d": "w4Jr9XUtnF3MI7K8bPxRfiCYzQ8"}']
)
def test_what_is_told_of_keys_stays(text: str) -> None:
    assert mask_secrets(text) == (text, ())


def test_a_hostile_line_of_dashes_takes_no_time() -> None:
    """The line between head and rows was once an expression that never ended."""
    text = f"| password |\n|{'-|' * 20_000}x\n{'|-' * 20_000}"
    assert mask_secrets(text) == (text, ())
