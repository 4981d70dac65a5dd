"""What is done with secrets and instructions: by the settings, and by where a text comes from."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from service.access.origins import Origin
from service.errors import FieldError, TextRefused
from service.sanitise.instructions import Score, score_instructions, without_instructions
from service.sanitise.policies import DEFAULT_INSTRUCTIONS, Instructions, Secrets
from service.sanitise.private_blocks import without_private
from service.sanitise.secrets import mask_secrets

# Nothing is stored without these: what it says, and of a document its name.
_NEEDED: Final = ("text", "source")


@dataclass(frozen=True, slots=True)
class Screened:
    """Texts as they may be stored, and what a caller should know of it."""

    texts: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    is_quarantined: bool = False


@dataclass(frozen=True, slots=True)
class Sanitiser:
    """The policy: what is done with secrets, and with instructions of each origin."""

    secrets: Secrets = "mask"
    instructions: Mapping[Origin, Instructions] = field(
        default_factory=lambda: DEFAULT_INSTRUCTIONS
    )

    def screen(
        self,
        texts: Mapping[str, str],
        origin: Origin,
        *,
        prose: frozenset[str] = frozenset({"text"}),
    ) -> Screened:
        """Screen the texts of a memory by the names of their fields; only `prose` is filtered.

        What is private is in none of them. Raises TextRefused, which names fields and patterns and
        repeats no text.
        """
        texts, private = _open_texts(texts)
        masked, warnings = self._masked(texts)
        warnings = (*private, *warnings)
        policy = self.instructions.get(origin, DEFAULT_INSTRUCTIONS[origin])
        if policy == "off":
            return Screened(masked, warnings)
        # All fields at once: what is in none of them is not looked for in each.
        whole = score_instructions("\n".join(masked.values()))
        if not whole.is_high:
            return Screened(masked, warnings)
        scores = {name: score_instructions(text) for name, text in masked.items()}
        high = {name: score for name, score in scores.items() if score.is_high} or {"text": whole}
        if policy == "reject":
            raise _refusal({name: _orders_in(score) for name, score in high.items()})
        what = {"warn": "stored as it is", "filter": "left out", "quarantine": "quarantined"}[
            policy
        ]
        if policy == "filter":
            for name in high:
                masked[name] = without_instructions(masked[name]) if name in prose else ""
            if _lacking(masked):
                raise _refusal({name: _orders_in(score) for name, score in high.items()})
        told = tuple(f"{name}: {_orders_in(score)}: {what}" for name, score in high.items())
        return Screened(masked, (*warnings, *told), policy == "quarantine")

    def mask(self, text: str) -> str:
        """Return a text without its secrets, of a way in that has nobody to tell."""
        return text if self.secrets == "off" else mask_secrets(text).text

    def _masked(self, texts: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
        if self.secrets == "off":
            return dict(texts), ()
        if not mask_secrets("\n".join(texts.values())).kinds:
            return dict(texts), ()
        found = {name: mask_secrets(text) for name, text in texts.items()}
        told = {name: _secrets_in(one.kinds) for name, one in found.items() if one.kinds}
        if told and self.secrets == "reject":
            raise _refusal(told)
        warnings = tuple(f"{name}: {what} masked" for name, what in told.items())
        return {name: one.text for name, one in found.items()}, warnings


def _open_texts(texts: Mapping[str, str]) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return texts without private blocks, and what is told of that; raises TextRefused."""
    found = {name: without_private(text) for name, text in texts.items()}
    counts = {name: count for name, (_, count) in found.items() if count}
    if not counts:
        return texts, ()
    opened = {name: text for name, (text, _) in found.items()}
    if lacking := [name for name in _lacking(opened) if name in counts]:
        raise _refusal(dict.fromkeys(lacking, "is private throughout; nothing is stored"))
    told = (f"{name}: {n} private block{'s' * (n > 1)} left out" for name, n in counts.items())
    return opened, tuple(told)


def _lacking(texts: Mapping[str, str]) -> list[str]:
    """Return the names of those texts that are empty, and that nothing is stored without."""
    return [name for name in _NEEDED if name in texts and not texts[name].strip()]


def _secrets_in(kinds: tuple[str, ...]) -> str:
    counted = Counter(kinds)
    count = len(kinds)
    return f"{count} secret{'s' * (count > 1)} ({', '.join(sorted(counted))})"


def _orders_in(score: Score) -> str:
    return f"reads like instructions to an agent ({', '.join(score.patterns)}; {score.score:.2f})"


def _refusal(told: Mapping[str, str]) -> TextRefused:
    errors = tuple(FieldError(f"/{name}", what) for name, what in told.items())
    return TextRefused(
        "; ".join(f"{one.pointer[1:]}: {one.detail}" for one in errors) + ".", errors
    )
