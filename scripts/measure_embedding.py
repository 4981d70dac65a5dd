"""Measure the embedding server against the bare model, and against infinity-emb, in one run.

    scripts/measure_embedding.py [--folder NOTES] [--model all-MiniLM-L6-v2] [--rounds 5]
        [--only clients bulk single memory] [--sections 600 | --all]
        [--backends torch,onnx] [--set EMBEDDING_BATCH_SIZE=16] [--base-url http://HOST:8001]
        [--infinity VENV/bin/infinity_emb] [--infinity-arguments=--no-bettertransformer]

clients: 32 clients send one short text at a time, against one `encode` after the other. bulk: the
sections of a folder of notes as the service sends them, and in requests of 256, against one sorted
`encode` of them all. single: one short query after the other, against the bare call. memory: what
the servers hold after the same work once, twice and three times. All take turns in every round, so
that whatever else the machine does hurts all alike; a ratio is the median of the rounds' own
ratios, with the smallest and the largest behind it. infinity-emb needs an environment of its own:
its dependencies and ours exclude each other.
"""

import argparse
import importlib
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

# The same for all: threads that wait for each other sleep. Spinning is 5% faster on an idle
# machine, and thirty times slower on one that also runs something else. Read when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.embedding.contenders import (
    PACKAGED,
    Contender,
    find_running_server,
    infinity_server,
    own_server,
)
from scripts.embedding.trials import MEASURES, Bench, compare_vectors, console
from scripts.servers.processes import REPOSITORY
from service.settings import Settings
from service.text.markdown import parse_markdown
from service.text.titles import text_of

SHORT_TEXTS = 320
TITLE_WORDS = 8
VECTOR_UNITS = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8")


def main() -> None:
    """Start everything, measure what is asked for, print."""
    asked = parse()
    sections, titles = read_sections(asked.folder)
    count = len(sections) if asked.all else min(asked.sections, len(sections))
    sample = [sections[number * len(sections) // count] for number in range(count)]
    questions = [f"What do we know about {titles[n % len(titles)]}?" for n in range(SHORT_TEXTS)]
    console.print(describe_machine())
    console.print(f"{count} of {len(sections)} sections of {asked.folder}")
    with ExitStack() as stack:
        contenders = [stack.enter_context(server) for server in list_servers(asked)]
        bench = Bench(contenders, load_bare_model(asked.model), sample, questions, asked.rounds)
        compare_vectors(bench)
        for name, measure in MEASURES.items():
            if name in asked.only:
                measure(bench)
    console.print(f"load average at the end: {os.getloadavg()[0]:.1f}")
    for verdict in bench.verdicts:
        console.print(verdict, highlight=False)


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "docs", help="of notes")
    parser.add_argument("--model", default=PACKAGED)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(MEASURES), default=list(MEASURES))
    parser.add_argument("--sections", type=int, default=600, help="so many, evenly spread")
    parser.add_argument("--all", action="store_true", help="all sections")
    parser.add_argument("--backends", default="", help="one server for each EMBEDDING_BACKEND")
    parser.add_argument("--set", action="append", default=[], metavar="EMBEDDING_NAME=VALUE")
    parser.add_argument("--base-url", help="a running server, in place of one of our own")
    parser.add_argument("--api-key", help="its key")
    parser.add_argument("--infinity", type=Path, help="infinity_emb, or the python it is in")
    parser.add_argument("--infinity-arguments", default="", help="further ones for infinity_emb")
    return parser.parse_args()


def load_bare_model(model: str) -> Any:
    """Return the model without a server; only that needs torch, which takes long to load."""
    return importlib.import_module("scripts.embedding.bare_model").BareModel(model)


def list_servers(asked: argparse.Namespace) -> Iterator[AbstractContextManager[Contender]]:
    """Yield what starts each server that takes part, and stops it."""
    settings = dict(pair.split("=", 1) for pair in asked.set)
    if asked.base_url:
        yield nullcontext(find_running_server(asked.base_url, asked.api_key))
    elif not asked.backends:
        yield own_server("server", asked.model, settings)
    for backend in filter(None, asked.backends.split(",")):
        yield own_server(backend, asked.model, settings | {"EMBEDDING_BACKEND": backend})
    if asked.infinity:
        yield infinity_server(asked.infinity, asked.infinity_arguments, asked.model)


def read_sections(folder: Path) -> tuple[list[str], list[str]]:
    """Return the texts of all sections as the service embeds them, and distinct short titles."""
    limit = Settings.model_fields["section_tokens"].default
    texts: list[str] = []
    titles: dict[str, None] = {}
    for path in sorted(folder.rglob("*.md")):
        parsed = parse_markdown(path.read_text(encoding="utf-8", errors="replace"), limit)
        for section in parsed.sections:
            texts.append(text_of(section.heading_path, section.title, section.content))
            titles[" ".join(section.title.split()[:TITLE_WORDS])] = None
    if not any(texts):
        sys.exit(f"no markdown with text below {folder}")
    return [text for text in texts if text], list(titles)


def describe_machine() -> str:
    """Return the processor, its vector units, what else runs, and the versions that matter."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    facts = {name.strip(): value.strip() for name, value in pairs}
    units = [unit for unit in VECTOR_UNITS if unit in facts.get("flags", "").split()]
    libraries = ("torch", "sentence-transformers", "transformers")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return (
        f"{facts.get('model name', platform.machine())}, {os.cpu_count()} cores, "
        f"{' '.join(units) or 'no AVX2'}; load average {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}, {versions}; "
        f"OMP_WAIT_POLICY={os.environ['OMP_WAIT_POLICY']}"
    )


if __name__ == "__main__":
    main()
