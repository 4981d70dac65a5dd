"""Secrets of which several stand behind one name or on several lines, and what looks like them."""

# ruff: noqa: E501 - rows of a table

import pytest

from service.sanitise.secrets import mask_secrets

ONE, TWO = "w4Jr9XUtnF3MI7K8bPxRfiCYzQ8pLk3v", "Zt8Km2Qw5Er7Ty9Ui1Op3As4Df6Gh8Jk"
HEX = "3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c"
CHOSEN, OTHER = "q7Zk_x9-kd8w0", "x8Kd_p2-zz91"
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"

LISTS = [
    'api_keys = ["{}", "{}"]', "api_keys: ['{}', '{}']", 'TOKENS = (\n    "{}",\n    "{}",\n)', '"tokens": [\n  "{}",\n  "{}"\n]',
    'tokens:\r\n  - {}\r\n  - {}\r\nuser: ann', 'secrets:\n- "{}"\n- "{}"\n', "API_KEYS={},{}", "{{\\\"api_keys\\\": [\\\"{}\\\", \\\"{}\\\"]}}",
    "token: >-\n  {}\n  {}\nuser: ann", "token: |2\n    {}\n    {}",
]  # fmt: skip


@pytest.mark.parametrize("written", LISTS)
def test_each_of_several_keys_is_masked(written: str) -> None:
    masked = mask_secrets(written.format(ONE, TWO))
    assert masked.text == written.format("[SECRET:secret]", "[SECRET:secret]")
    assert masked.kinds == ("secret", "secret")
    assert mask_secrets(masked.text) == (masked.text, ())


@pytest.mark.parametrize(
    "written", ['passwords = ["{}", "{}"]', "passwords:\n  - {}\n  - {}", "PASSWORDS={},{}"]
)
def test_each_of_several_passwords_is_masked(written: str) -> None:
    masked = mask_secrets(written.format(CHOSEN, OTHER))
    assert masked.text == written.format("[SECRET:password]", "[SECRET:password]")
    assert mask_secrets(masked.text) == (masked.text, ())


@pytest.mark.parametrize("at", [30, 50, 110])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n  ", "\\\n", "\n> "])
def test_a_token_that_was_cut_in_two_lines_is_masked(at: int, end: str) -> None:
    masked = mask_secrets(f"It is\n{JWT[:at]}{end}{JWT[at:]}\nThe pump runs.")
    assert masked.text == f"It is\n[SECRET:jwt]{end}[SECRET:jwt]\nThe pump runs."
    assert mask_secrets(masked.text) == (masked.text, ())


def test_what_stands_below_a_whole_token_is_none_of_it() -> None:
    assert mask_secrets(f"{JWT}\nThePumpRuns2024x\n") == (
        "[SECRET:jwt]\nThePumpRuns2024x\n",
        ("jwt",),
    )
    cut = mask_secrets(f"{JWT[:110]}\nthe-pump-of-the-garden\n")
    assert cut == ("[SECRET:jwt]\nthe-pump-of-the-garden\n", ("jwt",))


@pytest.mark.parametrize(
    ("written", "secret"),
    [
        ("X-Honeycomb-Team: {}", HEX), ("curl -H 'x-honeycomb-team: {}' pump", ONE[:22]), ("OTLP_HEADERS=x-honeycomb-team={}", ONE),
        ("https://pump.io/v1?key={}", ONE), ("https://pump.io/v1?a=1&key={}&b=2", HEX), ("[x](https://pump.io/?auth={})", ONE),
        ("https://api.openweathermap.org/data?q=x&appid={}", HEX),
        ("machine pump.io\n\tpassword {}\n\tlogin ann", CHOSEN), ("localhost:5433:*:ann:{}", "correcthorse"), ("db:5432:app:ann:{}", f"a\\:{CHOSEN}"),
        ("Authorization: AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host, Signature={}", HEX * 2),
        ("App password: {}", "xkqz pwvn rtyb mlkd"), ("App password: {}", "xkqz pwvn mine mlkd"), ("app-password: {}", "xkqzpwvnrtybmlkd"),
    ],
)  # fmt: skip
def test_a_secret_that_its_place_tells_is_masked(written: str, secret: str) -> None:
    masked = mask_secrets(written.format(secret))
    assert masked.text in {
        written.format(f"[SECRET:{kind}]") for kind in ("secret", "password", "signature")
    }
    assert mask_secrets(masked.text) == (masked.text, ())


@pytest.mark.parametrize(
    "text",
    [
        "App password: they will send soon", "app password: this must stay here", "App password: open this menu then",
        f"X-Request-Id: {HEX}", f"X-Trace-Id: {HEX}", f"X-Cache-Key: {HEX}", f"X-Team: {HEX}", "X-Honeycomb-Team: your-key",
        "X-Honeycomb-Team: pumps-of-the-garden-team",
        "https://pump.io/?key=gardens-of-the-pump-2024", "https://pump.io/?key=3f2b8c1e-9d4a-4b7e-8f1a-2c3d4e5f6a7b", f"https://pump.io/?v={HEX}",
        "https://docs.google.com/spreadsheet/ccc?key=0AlRp2ieP7izLdGFNOERTZW0xLVpROFc3X3FJQ2tSb2c",
        f"https://github.com/a/b/commit/{HEX}3f2a9c1b?x=1", "https://pump.io/?author=w4Jr9XUtnF3MI7K8bPxR", f"https://pump.io/?appid={HEX}",
        "tokens:\n  - gpt-4o-2024-08-06\n  - claude-3-5-sonnet-20241022\n", 'tokens = ["the", "pump", "runs2"]', "token_ids = [101, 2023, 2003]",
        "tokens:\n  - max_tokens_2024_of_the\n  - 1234567890123456789\n", f"keys:\n  - {HEX}\n  - {HEX}", f"commits:\n  - {HEX}3f2a9c1b",
        "secrets:\n  - db_password_2024\n  - smtp_password_2024\n", "secrets:\n  - name: pump-2024-secret-name\n", "credentials:\n  - docs/adr/0042-keys-of-pumps.md",
        "api_keys = ['OPENAI_API_KEY_2', 'ANTHROPIC_API_KEY_3']", "Passwords: rotate them every 90-days, use MFA2", "token: >-\n  is read from docs/adr/0042.md\n",
        f"![x](data:image/png;base64,{ONE}{TWO})", f"integrity: sha512-{ONE}{TWO}==", f"etag: {HEX}", f"eyJ\n{ONE}.\n{TWO}",
        "10.0.0.1:5432:app:ann:ERROR", "db:5432:app:ann:password", "The machine pump.io has a password which anna must login with",
        "Authorization: AWS4-HMAC-SHA256 Credential=x",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert mask_secrets(text) == (text, ())
