"""The compose files as an operator's client resolves them, and the Dockerfiles they build."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from embedding_server import settings as server_settings
from service import settings as service_settings

ROOT = Path(__file__).resolve().parents[2]
GPU = ("docker-compose.yml",)
CPU = ("docker-compose.yml", "docker-compose.cpu.yml")
TLS = ("docker-compose.tls.yml",)
DOCKERFILES = ("service/Dockerfile", "embedding_server/Dockerfile")
SERVICES = {"surrealdb", "embedding_server", "service"}
SECRETS = {"MEMORY_DATABASE_USER": "operator", "MEMORY_DATABASE_PASSWORD": "s3cret-of-this-test"}
RESET = "!reset"

Section = dict[str, Any]


class ComposeLoader(yaml.SafeLoader):
    """YAML with the one tag that compose adds and the override file uses."""


ComposeLoader.add_constructor(RESET, lambda _loader, _node: RESET)


def read_yaml(name: str) -> Section:
    document = ComposeLoader((ROOT / name).read_text()).get_single_data()
    assert isinstance(document, dict)
    return document


def clean_environment() -> dict[str, str]:
    """Return this process's environment without what would change the resolved files."""
    prefixes = ("MEMORY_", "EMBEDDING_", "COMPOSE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def find_compose() -> tuple[str, ...] | None:
    """Return the first client of compose v2 or later: the plugin, else the single program."""
    for name, rest in (("docker", ("compose",)), ("docker-compose", ())):
        program = shutil.which(name)
        if program is None:
            continue
        command = (program, *rest)
        version = subprocess.run(
            [*command, "version", "--short"], capture_output=True, text=True, check=False
        )
        if version.returncode == 0 and re.match(r"v?([2-9]|\d\d)\.", version.stdout.strip()):
            return command
    return None


@pytest.fixture(scope="module")
def compose() -> tuple[str, ...]:
    command = find_compose()
    if command is None:
        pytest.skip(
            "NOT TRIED: no docker client with the compose plugin (v2 or later) is installed"
        )
    return command


def run_config(
    compose: tuple[str, ...], files: tuple[str, ...], variables: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Resolve the files with these variables as the operator's .env."""
    env_file = folder / "operator.env"
    env_file.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    chosen = [part for name in files for part in ("-f", str(ROOT / name))]
    return subprocess.run(
        [*compose, "--env-file", str(env_file), *chosen, "config", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )


def resolve(
    compose: tuple[str, ...], files: tuple[str, ...], variables: dict[str, str], folder: Path
) -> Section:
    result = run_config(compose, files, variables, folder)
    assert result.returncode == 0, result.stderr
    services = json.loads(result.stdout)["services"]
    assert isinstance(services, dict)
    assert set(services) == SERVICES
    return services


@pytest.fixture(scope="module", params=[GPU, CPU], ids=["gpu", "cpu"])
def services(
    request: pytest.FixtureRequest,
    compose: tuple[str, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> Section:
    return resolve(compose, request.param, SECRETS, tmp_path_factory.mktemp("compose"))


def reserved_devices(services: Section) -> list[Section]:
    limits = [(entry.get("deploy") or {}).get("resources", {}) for entry in services.values()]
    return [device for each in limits for device in each.get("reservations", {}).get("devices", [])]


def test_gpu_is_reserved_with_a_card(compose: tuple[str, ...], tmp_path: Path) -> None:
    services = resolve(compose, GPU, SECRETS, tmp_path)

    assert reserved_devices(services) == [{"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}]
    embedding = services["embedding_server"]
    assert embedding["build"]["args"] == {"TORCH": "cuda"}
    assert embedding["environment"]["EMBEDDING_MODEL"] == "Qwen/Qwen3-Embedding-4B"
    assert embedding["environment"]["EMBEDDING_DEVICE"] == "cuda"


def test_nothing_of_a_gpu_is_left_without_a_card(compose: tuple[str, ...], tmp_path: Path) -> None:
    services = resolve(compose, CPU, SECRETS, tmp_path)

    assert reserved_devices(services) == []
    embedding = services["embedding_server"]
    assert embedding["build"]["args"] == {"TORCH": "cpu"}
    assert embedding["environment"]["EMBEDDING_MODEL"] == "all-MiniLM-L6-v2"
    assert embedding["environment"]["EMBEDDING_DEVICE"] == "cpu"
    assert not re.search("cuda|nvidia", json.dumps(services))


def test_images_are_pinned(services: Section) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for name, entry in services.items():
        tag = entry["image"].rpartition(":")[2]
        assert re.match(r"v?\d+\.\d+\.\d+", tag), f"{name}: {entry['image']}"
        if "build" in entry:
            assert tag.split("-")[0] == version, f"{name} is not of this version"
    assert services["surrealdb"]["image"].startswith("surrealdb/surrealdb:v3.")


def test_every_service_has_a_health_check(services: Section) -> None:
    for name, entry in services.items():
        check = entry["healthcheck"]
        assert check["test"][0] == "CMD", name
        assert {"interval", "timeout", "retries", "start_period"} <= set(check), name
    assert "/surreal is-ready" in " ".join(services["surrealdb"]["healthcheck"]["test"])
    for name in ("embedding_server", "service"):
        program = services[name]["healthcheck"]["test"][3]
        compile(program, name, "exec")
    assert "/health/live" in services["service"]["healthcheck"]["test"][3]


def test_no_service_is_root_or_may_become_it(services: Section) -> None:
    for name, entry in services.items():
        user, _, group = entry["user"].partition(":")
        assert int(user) > 0, name
        assert int(group) > 0, name
        assert entry["cap_drop"] == ["ALL"], name
        assert entry["security_opt"] == ["no-new-privileges:true"], name
        assert not entry.get("privileged"), name


def test_ports_stay_on_this_machine(services: Section) -> None:
    published = {name: entry["ports"] for name, entry in services.items() if entry.get("ports")}

    assert set(published) == {"service"}
    assert [port["host_ip"] for port in published["service"]] == ["127.0.0.1"]


def test_start_order_waits_for_health(services: Section) -> None:
    waits = services["service"]["depends_on"]

    assert {name: entry["condition"] for name, entry in waits.items()} == {
        "surrealdb": "service_healthy",
        "embedding_server": "service_healthy",
    }
    assert {entry["restart"] for entry in services.values()} == {"unless-stopped"}


def test_service_and_database_share_the_credentials(services: Section) -> None:
    database, service = services["surrealdb"], services["service"]

    assert SECRETS.items() <= service["environment"].items()
    given = [database["environment"][name] for name in ("SURREAL_USER", "SURREAL_PASS")]
    assert given == list(SECRETS.values())
    assert "s3cret" not in json.dumps([database["command"], service.get("command")])
    assert "s3cret" not in json.dumps(services["embedding_server"])


def test_notes_are_mounted_read_only(
    compose: tuple[str, ...], tmp_path: Path, services: Section
) -> None:
    mount = services["service"]["volumes"][0]
    assert (mount["source"], mount["target"]) == (str(ROOT / "examples/notes"), "/notes")
    assert mount["read_only"] is True
    assert services["service"]["environment"]["MEMORY_SOURCES"] == "/notes"
    assert services["service"]["environment"]["MEMORY_CONCEPTS_FILE"] == ""

    own = {"MEMORY_NOTES_DIR": str(tmp_path), "MEMORY_NOTES_CONCEPTS": "concepts.toml"}
    service = resolve(compose, GPU, SECRETS | own, tmp_path)["service"]
    assert service["volumes"][0]["source"] == str(tmp_path)
    assert service["environment"]["MEMORY_CONCEPTS_FILE"] == "/notes/concepts.toml"


def test_what_the_service_writes_lies_in_a_volume() -> None:
    """Its other files are read-only, and snapshots and readers need a folder."""
    document = read_yaml("docker-compose.yml")
    service = document["services"]["service"]
    [folder] = re.findall(r"MEMORY_DATA_DIR=(\S+)", (ROOT / "service/Dockerfile").read_text())
    assert service["read_only"] is True
    [volume] = [name for name in document["volumes"] if f"{name}:{folder}" in service["volumes"]]
    assert volume not in json.dumps(document["services"]["surrealdb"])


@pytest.mark.parametrize("files", [GPU, CPU], ids=["gpu", "cpu"])
@pytest.mark.parametrize("missing", sorted(SECRETS))
@pytest.mark.parametrize("left", ["absent", "empty"])
def test_a_missing_secret_is_refused_with_its_name(
    compose: tuple[str, ...], files: tuple[str, ...], missing: str, left: str, tmp_path: Path
) -> None:
    variables = {name: value for name, value in SECRETS.items() if name != missing}
    if left == "empty":
        variables[missing] = ""

    result = run_config(compose, files, variables, tmp_path)

    assert result.returncode != 0
    assert f"set {missing} in .env" in result.stderr


def scalars(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every leaf of a parsed document with the dotted path to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from scalars(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner, path)
    else:
        yield path, str(value)


def test_files_parse_and_hold_no_secret() -> None:
    base, override = read_yaml("docker-compose.yml"), read_yaml("docker-compose.cpu.yml")

    assert set(base["services"]) == SERVICES
    assert len(reserved_devices(base["services"])) == 1
    assert override["services"]["embedding_server"]["deploy"] == RESET
    secret_like = re.compile(r"PASS|KEY|TOKEN|SECRET|_USER$")
    found = [
        (path, value)
        for document in (base, override)
        for path, value in scalars(document)
        if secret_like.search(path)
    ]
    assert len(found) == 4
    for path, value in found:
        assert re.fullmatch(r"\$\{\w+:\?[^}]+\}", value), path


def test_every_variable_is_in_the_pattern_of_env() -> None:
    text = "".join((ROOT / name).read_text() for name in (*CPU, *TLS))
    pattern = (ROOT / "docker.env.example").read_text()

    used = set(re.findall(r"\$\{(\w+)", text))
    offered = set(re.findall(r"^#?([A-Z_]+)=", pattern, re.MULTILINE))

    assert used == offered
    assert re.search(r"^MEMORY_DATABASE_PASSWORD=$", pattern, re.MULTILINE)


def test_the_embedders_key_is_a_file_of_both_and_no_variable() -> None:
    document = read_yaml("docker-compose.yml")
    services = document["services"]
    assert services["embedding_server"]["secrets"] == ["embedding_api_key"]
    [asked] = services["service"]["secrets"]
    assert asked == {"source": "embedding_api_key", "target": "memory_embedding_api_key"}
    assert list(document["secrets"]["embedding_api_key"]) == ["file"]
    told = json.dumps([one["environment"] for one in services.values()])
    assert "API_KEY" not in told
    assert (
        services["embedding_server"]["environment"]["EMBEDDING_ALLOWED_HOSTS"]
        in (services["service"]["environment"]["MEMORY_EMBEDDING_URL"])
    )


def test_secrets_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "memory_embedding_api_key").write_text("of a file\n", encoding="utf-8")
    (tmp_path / "embedding_api_key").write_text("of a file\n", encoding="utf-8")
    folder = str(tmp_path)
    memory = service_settings.Settings(_env_file=None, _secrets_dir=folder)
    embedding = server_settings.Settings(_env_file=None, _secrets_dir=folder)
    for key in (memory.embedding_api_key, embedding.api_key):
        assert key is not None
        assert key.get_secret_value() == "of a file"


def test_the_proxy_is_laid_over_the_service() -> None:
    services = read_yaml(TLS[0])["services"]
    assert set(services) == {"proxy", "service"}
    assert re.fullmatch(r"caddy:\d+\.\d+\.\d+-alpine", services["proxy"]["image"])
    assert services["proxy"]["cap_drop"] == ["ALL"]
    assert "ports" not in services["service"]


def test_caddy_takes_its_file() -> None:
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("NOT TRIED: caddy is not installed (apt-get install caddy)")
    told = subprocess.run(
        [caddy, "adapt", "--config", str(ROOT / "Caddyfile"), "--validate"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "MEMORY_PUBLIC_HOST": "memory.example"},
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    [server] = json.loads(told.stdout)["apps"]["http"]["servers"].values()
    assert '"dial": "service:8080"' in json.dumps(server)
    assert server["listen"] == [":443"]


def test_environment_names_are_settings() -> None:
    services = read_yaml("docker-compose.yml")["services"]
    of_service = {f"MEMORY_{field.upper()}" for field in service_settings.Settings.model_fields}
    of_server = {f"EMBEDDING_{field.upper()}" for field in server_settings.Settings.model_fields}

    assert set(services["service"]["environment"]) <= of_service
    assert set(services["embedding_server"]["environment"]) <= of_server


@pytest.mark.parametrize("dockerfile", DOCKERFILES)
def test_dockerfile_copies_what_exists_and_is_sent(dockerfile: str) -> None:
    text = (ROOT / dockerfile).read_text()
    sent = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))

    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    sources = {source.rstrip("/") for line in copies for source in line.split()}

    assert {"pyproject.toml", "constraints.txt"} <= sources
    assert sources <= sent
    assert [source for source in sorted(sources) if not (ROOT / source).exists()] == []


@pytest.mark.parametrize("dockerfile", DOCKERFILES)
def test_dockerfile_ends_in_a_program_without_root(dockerfile: str) -> None:
    text = (ROOT / dockerfile).read_text()
    final = text[text.rindex("\nFROM ") :]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"python:3.11-slim-bookworm"}
    (user,) = re.findall(r"^USER (\d+):\d+$", final, re.MULTILINE)
    assert int(user) > 0
    assert re.search(r"^STOPSIGNAL SIGTERM$", final, re.MULTILINE)
    command = json.loads(final[final.index("\nCMD ") + 5 :])
    assert command[0] in scripts
