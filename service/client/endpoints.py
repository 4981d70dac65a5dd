"""The endpoints of the contract, each described once, for both clients.

A method says which request it makes; whoever it is called on sends it. Names are the operation ids
of /openapi.json.
"""

from collections.abc import Sequence
from typing import Unpack

from service.client import access, answers, options, reports
from service.client.admin import AdminEndpoints
from service.client.concepts import ConceptDetail, ConceptPage
from service.client.continuity import ContinuityEndpoints
from service.client.endpoint import Endpoint
from service.client.sending import AsyncSender, Request, Sender, part


class Endpoints(AdminEndpoints, ContinuityEndpoints):
    """What can be asked of the service; each method may raise Problem, Unavailable and TimedOut."""

    @Endpoint
    def search(
        self, query: str, **choices: Unpack[options.SearchOptions]
    ) -> Request[answers.SearchAnswer]:
        """Find the few memories that answer a question, by words, meaning and shared concepts."""
        return Request("POST", "/search", {"query": query, **choices})

    @Endpoint
    def graph_recall(
        self, query: str | None = None, **choices: Unpack[options.RecallOptions]
    ) -> Request[answers.RecallAnswer]:
        """Follow the threads from the best hits, or from `seed_ids`: what is connected, and how."""
        return Request("POST", "/graph-recall", {"query": query, **choices})

    @Endpoint
    def store_memory(
        self, text: str, **more: Unpack[options.MemoryOptions]
    ) -> Request[answers.Stored]:
        """Store one memory; it is searchable when this answers."""
        return Request("POST", "/memories", {"text": text, **more})

    @Endpoint
    def store_memories(self, memories: Sequence[options.NewMemory]) -> Request[answers.BatchStored]:
        """Store up to 1,000 memories at once; those of one session are chained in time order."""
        return Request("POST", "/memories/batch", {"memories": memories}, is_long=True)

    @Endpoint
    def list_memories(self, **choices: Unpack[options.ListOptions]) -> Request[answers.MemoryPage]:
        """List memories, newest first, with the filters of a search."""
        return Request("GET", "/memories", params={**choices})

    @Endpoint
    def read_memory(
        self,
        id: str,  # noqa: A002
        *,
        agent: str | None = None,
        trust: Sequence[str] | None = None,
        include_archived: bool | None = None,
        read_from: Sequence[str] | None = None,
    ) -> Request[answers.MemoryDetail]:
        """Read one memory with its concepts and what came just before and after it.

        `trust` and `include_archived` say which of its neighbours are told, as in a search.
        """
        params = {
            "agent": agent, "trust": trust, "include_archived": include_archived,
            "read_from": read_from,
        }  # fmt: skip
        return Request("GET", f"/memories/{part(id)}", params=params)

    @Endpoint
    def read_lineage(
        self,
        id: str,  # noqa: A002
        *,
        agent: str | None = None,
    ) -> Request[access.Lineage]:
        """Say where a memory comes from, which summaries are made of it, who was given it."""
        return Request("GET", f"/memories/{part(id)}/lineage", params={"agent": agent})

    @Endpoint
    def change_memory(
        self,
        id: str,  # noqa: A002
        *,
        agent: str | None = None,
        **changes: Unpack[options.Changes],
    ) -> Request[answers.MemoryDetail]:
        """Change some fields of a memory; a new text is embedded and linked anew."""
        return Request("PATCH", f"/memories/{part(id)}", {**changes}, {"agent": agent})

    @Endpoint
    def give_feedback(
        self,
        id: str,  # noqa: A002
        *,
        helpful: bool | None,
        query: str | None = None,
        agent: str | None = None,
    ) -> Request[answers.Feedback]:
        """Say whether a memory helped, in place of your key's former vote; None takes it back."""
        body = {"helpful": helpful, "query": query}
        return Request("POST", f"/memories/{part(id)}/feedback", body, {"agent": agent})

    @Endpoint
    def delete_memory(self, id: str, *, agent: str | None = None) -> Request[None]:  # noqa: A002
        """Delete a memory for good, with its vector and links; the deletion is audited."""
        return Request("DELETE", f"/memories/{part(id)}", params={"agent": agent})

    @Endpoint
    def ingest(
        self, source: str, text: str, **more: Unpack[options.DocumentOptions]
    ) -> Request[reports.Ingested]:
        """Store a markdown document; the same `source` again replaces what it gave before."""
        return Request("POST", "/ingest", {"source": source, "text": text, **more}, is_long=True)

    @Endpoint
    def scan(
        self, paths: Sequence[str] = (), *, agent: str | None = None
    ) -> Request[reports.Scanned]:
        """Bring the store in line with the configured folders, or places in them, and wait."""
        body = {"paths": list(paths), "agent": agent, "wait": True}
        return Request("POST", "/ingest/scan", body, is_long=True)

    @Endpoint
    def start_scan(
        self, paths: Sequence[str] = (), *, agent: str | None = None
    ) -> Request[reports.JobAccepted]:
        """Ask for a scan and answer at once, with the job that will do it."""
        body = {"paths": list(paths), "agent": agent, "wait": False}
        return Request("POST", "/ingest/scan", body)

    @Endpoint
    def read_job(self, id: str) -> Request[reports.JobStatus]:  # noqa: A002
        """Look at a job: its state (queued, running, done or failed) and its counts so far."""
        return Request("GET", f"/ingest/jobs/{part(id)}")

    @Endpoint
    def read_document(
        self,
        path: str,
        *,
        from_line: int = 1,
        lines: int | None = None,
        agent: str | None = None,
        trust: Sequence[str] | None = None,
    ) -> Request[answers.DocumentLines]:
        """Read the text of a document by line range, as it was last ingested.

        Without lines of memories that were deleted for good, or are not of the tiers in `trust`.
        """
        params = {"path": path, "from": from_line, "lines": lines, "agent": agent, "trust": trust}
        return Request("GET", "/documents", params=params)

    @Endpoint
    def list_concepts(
        self,
        q: str | None = None,
        *,
        agent: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Request[ConceptPage]:
        """List what an agent's memories talk about; `q` is a part of the name."""
        params = {"q": q, "agent": agent, "limit": limit, "cursor": cursor}
        return Request("GET", "/concepts", params=params)

    @Endpoint
    def read_concept(self, id: str, *, agent: str | None = None) -> Request[ConceptDetail]:  # noqa: A002
        """Read one concept with the concepts around it."""
        return Request("GET", f"/concepts/{part(id)}", params={"agent": agent})

    @Endpoint
    def consolidate(
        self, **choices: Unpack[options.ConsolidateOptions]
    ) -> Request[reports.Consolidated]:
        """Show how old logs would become summaries; with `dry_run` False, have it done."""
        return Request("POST", "/consolidate", {**choices}, is_long=True)

    @Endpoint
    def start_consolidation(
        self, **choices: Unpack[options.StartOptions]
    ) -> Request[reports.JobAccepted]:
        """Have old logs become summaries and answer at once, with the job that will do it."""
        body = {**choices, "dry_run": False, "wait": False}
        return Request("POST", "/consolidate", body, is_long=True)

    @Endpoint
    def read_consolidation(self, id: str) -> Request[reports.ConsolidationStatus]:  # noqa: A002
        """Look at a consolidation that a job does: its state, its stage and its counts so far."""
        return Request("GET", f"/consolidate/jobs/{part(id)}")

    @Endpoint
    def undo_consolidation(
        self, **choices: Unpack[options.UndoOptions]
    ) -> Request[reports.TakenBack]:
        """Take a run, one summary or the merging of a concept back."""
        return Request("POST", "/consolidate/undo", {**choices}, is_long=True)

    @Endpoint
    def graph_report(self, *, agent: str | None = None) -> Request[reports.GraphReport]:
        """Tell whether the graph is worth it: for each kind of edge reach, precision and lift."""
        return Request("GET", "/graph/report", params={"agent": agent}, is_long=True)

    @Endpoint
    def index_state(self, *, agent: str | None = None) -> Request[reports.Index]:
        """Tell what is held in RAM, and compare one agent's with the store."""
        return Request("GET", "/index", params={"agent": agent}, is_long=True)

    @Endpoint
    def rebuild_index(self, *, agent: str | None = None) -> Request[reports.Rebuilt]:
        """Load indexes anew from the store: one agent's, or all that are in RAM now."""
        return Request("POST", "/index/rebuild", {"agent": agent}, is_long=True)

    @Endpoint
    def stats(self, *, agent: str | None = None) -> Request[reports.Stats]:
        """Count what an agent remembers."""
        return Request("GET", "/stats", params={"agent": agent}, is_long=True)

    @Endpoint
    def live(self) -> Request[reports.Alive]:
        """Ask whether the process answers."""
        return Request("GET", "/health/live")

    @Endpoint
    def ready(self) -> Request[reports.Readiness]:
        """Ask whether it can do its work; what is not ready is an answer too, and no Problem."""
        return Request("GET", "/health/ready", answered=frozenset({503}))


class GraphMemory(Endpoints, Sender):
    """A client that waits for each answer.

    with GraphMemory("http://127.0.0.1:8080") as memory:
        memory.store_memory("JR's code phrase is blue bunny.", kind="fact")
        hits = memory.search("what is the code phrase?", limit=3)["results"]
    """


class AsyncGraphMemory(Endpoints, AsyncSender):
    """A client whose methods are awaited.

    async with AsyncGraphMemory("http://127.0.0.1:8080") as memory:
        hits = (await memory.search("what is the code phrase?", limit=3))["results"]
    """
