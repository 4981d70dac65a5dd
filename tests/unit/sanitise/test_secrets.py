"""Secrets are masked by their kinds, placeholders and hashes are not, and lines stay."""

# ruff: noqa: E501 - rows of a table

from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.sanitiser.planted import Planted, planted
from service.sanitise.secrets import mask_secrets

PIECES = [one.text for seed in range(3) for one in planted(seed)]
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(PIECES), st.text(max_size=40),
        st.sampled_from(["[SECRET:aws-key]", "password: ", "token=", '"', "\r\n", "://u:", "@h", "-----BEGIN "]),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@pytest.mark.parametrize("one", planted(7), ids=lambda one: one.kind)
def test_a_secret_of_each_kind_is_masked(one: Planted) -> None:
    masked = mask_secrets(f"The pump.\n{one.text}\nIt runs.")
    assert one.secret not in masked.text
    assert f"[SECRET:{masked.kinds[0]}]" in masked.text
    assert masked == mask_secrets(f"The pump.\n{one.text}\nIt runs.")


@pytest.mark.parametrize(
    "text",
    [
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "api_key: <your-key>", "token = get_token(request2)",
        "AKIAIOSFODNN7EXAMPLE", "password: ${DB_PASSWORD_1}", "password = os.environ['PW1']",
        "commit 3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70", "550e8400-e29b-41d4-a716-446655440000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "postgres://user:password@localhost/db", "postgres://pump:pump@localhost/db",
        "the password is hashed with argon2id", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "A public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPump",
        "token: gpt-4o-2024-08-06", "The token is claude-3-5-sonnet-20241022.", "token: Qwen/Qwen3-Embedding-0.6B",
        r"pwd: C:\garden\project2", "PWD=D:/garden/app-2", "pwd: ./garden/project2",
        "token = base64.b64encode(pump)", "password = hashlib.sha256(pump)", "암호는 AES-256 방식", "token: |\n  max_tokens_2024",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:pump-apikey-f3gDy9", "echo $PASSWORD | sha256sum", "secret:\n  name: pump-2024-secret-name", "API key: see docs/adr/0042-keys-of-pumps.md",
        '{\\"token_id\\": \\"3f2b8c1e-9d4a-4b7e-8f1a-2c3d4e5f6a7b\\"}',
        "https://3f2b8c1e9d4a4b7e8f1a2c3d4e5f6a7b@o1.ingest.sentry.io/2", "ssh://gardeners-of-the-pump-of-the-garden-2024@pump",
        "CACHE_KEY=3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70", "GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568",
        "Idempotency-Key: 3f2b8c1e-9d4a-4b7e-8f1a-2c3d4e5f6a7b", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "public-key: w4Jr9XUtnF3MI7K8bPxRfiCY", "JWT_VERIFY_KEY=w4Jr9XUtnF3MI7K8bPxRfiCY",
        "routing key: orders-of-pumps-v2-2024", "QUERY_KEY = 'list-of-pumps-2024-v2'", "the keynote admin key is docs/adr/0042-keys-of-pumps.md",
        "import a from './hooks/keepstateofthegardenpumpsx'", "The app password is sent over mail once", "Nextcloud: pumps-lamps-hoses-roses-seed2",
        "The vault: s.translatesTheGardenPumps(a)", "sk-toggle-pump-of-garden2", "live_view_component_of_the_garden_pump_no_202", "ak_pump_of_the_garden22", "pa-rows-of-the-garden-pump-in-2024-and-2025-xy",
        "base64EncodedCreds = this.#crypto.encodeBase64(pump)", "FILE_PAT = '[0-9]{4}-[a-z]{2,20}'",
        "token_id: 3f2b8c1e-9d4a-4b7e-8f1a-2c3d4e5f6a7b", "credentialsId: '3f2b8c1e-9d4a-4b7e-8f1a-2c3d4e5f6a7b'",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_secrets(text) == (text, ())


@pytest.mark.parametrize(
    ("named", "secret"),
    [
        ("token: ", "gpt-4o-correct-horse-battery-42"), ("token: ", "claude-3f2b8c1e9d4a4b7e"),
        ("pwd: ", "C:/x9!kd8w0"), ("pwd: ", r"O:\1VgUgmAtrEa9"), ("password: ", r"C:\Users\anna\pump2"),
        ("secret: ", "3f2b8c1e-9d4a-4b7e-8f1a-2c3d4e5f6a7b"), ("secret_id: ", "3f2b8c1e-9d4a-4b7e-8f1a-2c3d4e5f6a7b"),
    ],
)  # fmt: skip
def test_what_only_resembles_a_name_a_folder_or_an_id_is_masked(named: str, secret: str) -> None:
    masked = mask_secrets(f"{named}{secret}\nIt runs.")
    assert masked.text in {f"{named}[SECRET:{kind}]\nIt runs." for kind in ("secret", "password")}


OF_GITHUB = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("written", ["_{}_", "__{}__", "**{}**", "`{}`", "## Of {} and on"])
def test_a_secret_in_the_marks_of_markdown_is_masked(written: str) -> None:
    """An editor puts a backslash before an underscore; a title is read without it."""
    for token in (OF_GITHUB, OF_GITHUB.replace("_", "\\_")):
        masked = mask_secrets(f"a\\_b\n{written.format(token)}\nc")
        assert masked == (f"a\\_b\n{written.format('[SECRET:github-token]')}\nc", ("github-token",))


@pytest.mark.parametrize("by_chance", ["yOur", "YouR", "xXxX"])
def test_a_token_that_has_a_placeholder_in_it_by_chance_is_masked(by_chance: str) -> None:
    masked = mask_secrets(f"Since Monday {OF_GITHUB[:-4]}{by_chance} pulls.")
    assert masked.text == "Since Monday [SECRET:github-token] pulls."
    for word in ("your", "Your", "YOUR", "xxxx", "XXXX"):
        assert mask_secrets(OF_GITHUB[:-4] + word).kinds == ()


# In JSON that is itself a string, percent-encoded, in marks of markdown, below its name.
WRITTEN = [
    "**Password:** {}", "**Password**: `{}`", "Password: **{}**", "password: ~~{}~~", "password:: {}", "Password:\n\n{}\nIt",
    "Password:\r\n```\r\n{}\r\n```", "password: |\n  {}\nuser: bob", "export SMTP_PASS={}", "sshpass -p '{}' ssh pump",
    '{{"body": "{{\\"password\\": \\"{}\\", \\"n\\": 1}}"}}', "?q=password%3D{}%26n%3D1", "%22password%22%3A%22{}%22",
    "- name: DB_PASSWORD\n  value: {}\n", '[{{"name": "DB_PASSWORD", "value": "{}"}}]',
]  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
def test_a_password_is_masked_however_its_name_stands_beside_it(written: str) -> None:
    masked = mask_secrets(f"The pump.\n{written.format('q7Zk_x9-kd8w0')}\nIt runs.")
    assert masked.kinds == ("password",)
    assert "q7Zk" not in masked.text
    assert mask_secrets(masked.text) == (masked.text, ())


@pytest.mark.parametrize(
    "written",
    [
        "API key: {}", "**API Key:** `{}`", "Secret access key: {}", "api_key: **{}**", "API key:\n\n    {}\n",
        '{{\\"api_key\\": \\"{}\\"}}', "token%3D{}", "- name: API_KEY\n  value: {}\n",
    ],
)  # fmt: skip
def test_a_key_is_masked_however_its_name_stands_beside_it(written: str) -> None:
    masked = mask_secrets(written.format("w4Jr9XUtnF3MI7K8bPxRfiCYzQ8pLk3v"))
    assert masked == (written.format("[SECRET:secret]"), ("secret",))


@pytest.mark.parametrize("before", ["%3d", "%22", "\\u0026", "\\u003e"])
def test_a_token_behind_an_encoded_character_is_masked(before: str) -> None:
    assert mask_secrets(f"a{before}{OF_GITHUB}").kinds == ("github-token",)


def test_a_private_key_of_an_address_is_masked() -> None:
    key = next(one for one in planted(1) if one.kind.startswith("private-key RSA"))
    for encode in (quote, quote_plus):
        whole = encode(key.text)
        for text in (f"a={whole}&b=1", f"a={whole[:-40]}&b=1"):
            assert mask_secrets(text) == ("a=[SECRET:private-key]&b=1", ("private-key",))


@given(TEXTS)
def test_masking_twice_changes_nothing_more_and_lines_stay(text: str) -> None:
    once = mask_secrets(text)
    assert mask_secrets(once.text).text == once.text
    assert [once.text.count(end) for end in "\r\n"] == [text.count(end) for end in "\r\n"]
    # A mask is at most 29 characters, and the shortest secret has 3.
    assert len(once.text) <= len(text) + 27 * len(once.kinds)


def test_a_private_key_that_was_cut_off_is_masked() -> None:
    key = next(one for one in planted(1) if one.kind.startswith("private-key RSA"))
    for cut in (key.text.rpartition("\n")[0], key.text.replace("\n", "\\n"), f"> {key.text}"):
        assert key.secret not in mask_secrets(f"{cut}\n\nThe pump runs.").text
        assert "The pump runs." in mask_secrets(f"{cut}\n\nThe pump runs.").text


def test_the_other_half_of_an_aws_key_goes_with_it() -> None:
    by_kind = {one.kind: one.secret for one in planted(2)}
    text = f"{by_kind['aws-key']}\n{by_kind['aws-secret-key']}"
    assert mask_secrets(text).text == "[SECRET:aws-key]\n[SECRET:aws-secret-key]"
