"""What the server counts and times about itself, as Prometheus instruments."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PREFIX = "graph_memory_embedding"
# From a short query on a CPU (2 ms) to a long list (minutes).
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)
TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)


class Instruments:
    """All instruments of one server, in a registry of its own.

    They may be used from every thread. Tokens per second are `rate(…_tokens_total)`, the wasted
    share of the model's time is `padding` in that counter, the fill of batches is `…_batch_texts`.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "Answered requests.", "status")
        self.request_seconds = self._histogram(
            "request_duration_seconds", "Time from a request's first byte to its answer.", SECONDS
        )
        self.request_texts = self._histogram("request_texts", "Texts in a request.", TEXTS)
        self.stage_seconds = self._histogram(
            "stage_duration_seconds",
            "Time spent in a stage: tokenize and render once a request, queue once a text, "
            "forward once a batch.",
            SECONDS,
            "stage",
        )
        self.rejected = self._counter(
            "rejected_requests", "Requests answered 429, by what was full: texts, tokens.", "full"
        )
        self.refused_bodies = self._counter(
            "refused_bodies", "Bodies that were not read, by reason: size, memory, time.", "reason"
        )
        self.body_bytes = self._gauge("body_bytes", "Bytes that bodies of requests hold.")
        self.ended_connections = self._counter(
            "ended_connections",
            "Connections that were ended, by reason: headers, many, unread.",
            "reason",
        )
        self.cancelled = self._counter(
            "cancelled_requests", "Requests whose client left before the answer."
        )
        self.waiting_texts = self._gauge("waiting_texts", "Admitted texts without a vector yet.")
        self.waiting_tokens = self._gauge("waiting_tokens", "Tokens of those texts.")
        self.batch_texts = self._histogram("batch_texts", "Texts in one forward pass.", TEXTS)
        self.tokens = self._counter(
            "tokens", "Tokens that went through the model: of texts, and padding.", "kind"
        )
        self.batch_token_budget = self._gauge(
            "batch_token_budget",
            "Most padded tokens in one forward pass; sinks when memory runs out, then rises.",
        )
        self.out_of_memory = self._counter(
            "out_of_memory", "Forward passes that ran out of memory: halved, or of a single text."
        )
        self.failed_texts = self._counter(
            "failed_texts",
            "Texts without a vector, by reason: out_of_memory, unusable (NaN, infinite, zero), "
            "error.",
            "reason",
        )
        self.model_ready = self._gauge("model_ready", "1 while the model answers, else 0.")

    def observe_forward(self, texts: int, tokens: int, padded_tokens: int, seconds: float) -> None:
        """Count one finished forward pass; `padded_tokens` is texts x longest."""
        self.batch_texts.observe(texts)
        self.tokens.labels("text").inc(tokens)
        self.tokens.labels("padding").inc(padded_tokens - tokens)
        self.stage_seconds.labels("forward").observe(seconds)

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"{PREFIX}_{name}", description, labels, registry=self.registry)

    def _gauge(self, name: str, description: str, *labels: str) -> Gauge:
        return Gauge(f"{PREFIX}_{name}", description, labels, registry=self.registry)

    def _histogram(
        self, name: str, description: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(
            f"{PREFIX}_{name}", description, labels, buckets=buckets, registry=self.registry
        )
