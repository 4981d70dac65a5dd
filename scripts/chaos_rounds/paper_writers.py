"""Those who write documents during a round: pushed ones, and files that are scanned."""

from dataclasses import dataclass, field
from pathlib import Path

from scripts.chaos_rounds.asking import Answer
from scripts.chaos_rounds.ledger import Paper
from scripts.chaos_rounds.pens import Pen, Writer


@dataclass(slots=True)
class Documenter(Writer):
    """Pushes documents, and the same ones again with sections changed, added and left out."""

    mine: list[Paper] = field(default_factory=list)
    # A name is never given again: of one that was given up, an answer may still be under way.
    made: int = 0

    def run(self) -> None:
        """Write until told to stop."""
        while not self.stop.is_set():
            if len(self.mine) < 4:
                self.mine.append(Paper(self.agent, f"papers/{self.agent}-{self.made}.md"))
                self.ledger.papers.append(self.mine[-1])
                self.made += 1
            paper = self.pen.chance.choice(self.mine)
            words = edited(paper, self.pen)
            body = {"source": paper.uri, "agent": self.agent, "text": text_of_paper(paper, words)}
            answer = self.asking.ask("POST", "/ingest", json=body)
            paper.settle(answer.verdict, words)
            self.ledger.count(answer.verdict)
            if answer.gave_up or (answer.verdict == "unknown" and self.outlives):
                self.mine.remove(paper)
                if len(self.ledger.papers) > 8:
                    return
            self.stop.wait(self.pen.chance.uniform(0.05, 0.5))


def edited(paper: Paper, pen: Pen) -> tuple[str, ...]:
    """Return the words of a new version: some sections stay, some go, some are new."""
    kept = [word for word in paper.possible[-1] if pen.chance.random() < 0.7]
    new = [pen.word() for _ in range(pen.chance.randint(1, 3))]
    for word in new:
        paper.texts[word] = f"## On {word}\n\n{pen.text(word)}\n"
    return tuple([*kept, *new][-6:])


def text_of_paper(paper: Paper, words: tuple[str, ...]) -> str:
    """Return the document that has these sections."""
    return "\n".join(["# A paper\n", *(paper.texts[word] for word in words)])


@dataclass(slots=True, kw_only=True)
class Scanner(Writer):
    """Writes and deletes files in a folder, and has it scanned: by itself, and by a hook."""

    folder: Path
    mine: list[Paper] = field(default_factory=list)
    # What lies in the folder now, by file.
    present: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def run(self) -> None:
        """Write until told to stop."""
        self.mine = [Paper(self.agent, f"notes/file-{number}.md") for number in range(5)]
        self.ledger.papers += self.mine
        while not self.stop.is_set():
            for paper in self.pen.chance.sample(self.mine, 2):
                self._edit(paper)
            self.scan(waits=self.pen.chance.random() < 0.6)
            self.stop.wait(self.pen.chance.uniform(0.2, 0.9))

    def _edit(self, paper: Paper) -> None:
        words = () if self.pen.chance.random() < 0.15 else edited(paper, self.pen)
        path = self.folder / paper.uri
        path.parent.mkdir(parents=True, exist_ok=True)
        if words:
            new = path.with_suffix(".new")
            new.write_text(text_of_paper(paper, words), encoding="utf-8")
            new.replace(path)
        else:
            path.unlink(missing_ok=True)
        self.present[paper.uri] = words
        # A scan that is under way may read it at any time from now on.
        paper.settle("unknown", words)

    def scan(self, *, waits: bool) -> Answer:
        """Ask for a scan; one that was waited for has read what lay there when it was asked."""
        if not waits and self.pen.chance.random() < 0.5:
            answer = self.asking.ask("POST", "/hooks/session-start", json={"event": "command:new"})
        else:
            answer = self.asking.ask("POST", "/ingest/scan", json={"wait": waits})
        self.ledger.count(answer.verdict)
        if answer.status == 202:
            self.ledger.jobs.append(answer.body["job"])
        elif answer.status == 200 and waits and not answer.body["failed"]:
            for paper in self.mine:
                paper.possible = [self.present.get(paper.uri, ())]
        return answer
