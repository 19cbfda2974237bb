"""Make training pairs of a question and a sentence for the answer model.

Questions are written by readers, with the exact sentences that answer (`quotes`), or made from annotated relations and
indicators by templates (`answer_templates.yaml`). Sentences that do not answer come from the same search that `ask`
makes, or from the same text. A question about another thing or year than its answer makes a hard wrong pair.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

import rjieba
import yaml

from extraction.documents.open_file import read_file
from kg.errors import DocumentError, KgError
from kg.query.ask.answer_model import SentenceInContext, encoded
from kg.query.ask.evidence import Retriever, reading_of
from kg.query.ask.understand import understand

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kg.service.base import KnowledgeBase
    from kg.text.word_pieces import WordPieces

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")
_YEAR = re.compile(r"20[12]\d")
_LATEST = date(2100, 1, 1)
_SHORTEST_QUOTE, _SHORTEST_ANSWER = 8, 4  # characters from which a match is no accident
_LABEL = 24
_WRONG_OF_A_TEXT = 3  # sentences of the same text beside one that answers
_BEST, _NEVER_SKIPPED = 12, 6  # sentences of the search that are taken, and those of them that are never left out
_OFTEN_SKIPPED = 0.4
_ANSWERS, _QUOTED, _HALF = 0.9, 0.75, 0.6
_PROPER = ("nr", "nz", "ns", "nt")

Pair: TypeAlias = "tuple[str, SentenceInContext, float]"


@dataclass(frozen=True, slots=True)
class Question:
    """A reader's question with the sentences that a search finds for it, best first."""

    row: dict[str, Any]
    found: tuple[SentenceInContext, ...]

    @property
    def answerable(self) -> bool:
        """Whether the documents answer it."""
        return self.row["kind"] not in {"unanswerable", "offtopic"}

    def label(self, reading: SentenceInContext) -> float | None:
        """Return how far a sentence answers: 1 for all of it, 0 for nothing, None where that is not known."""
        if not self.answerable:
            return 0.0
        text = _folded(reading.sentence)
        if "expect" not in self.row:  # only quoted
            quotes = [_folded(each) for each in self.row["quotes"]]
            return float(any(each in text or (text in each and len(text) > _SHORTEST_QUOTE) for each in quotes))
        met = [found for group in self.row["expect"] if (found := [s for s in group.split("|") if _folded(s) in text])]
        need = max(1, self.row.get("need") or 1)
        quoted = any(
            len(quote) >= _SHORTEST_QUOTE and (quote in text or (text in quote and len(text) > _SHORTEST_QUOTE))
            for quote in map(_folded, self.row["quotes"])
        )
        if quoted:
            return 1.0 if len(met) >= need else _QUOTED if met else _HALF
        if not met:
            return 0.0
        if sum(max(map(len, found)) for found in met) < _SHORTEST_ANSWER:
            return None
        return _ANSWERS if len(met) >= need else min(0.8, 0.3 + 0.5 * len(met) / need)


def read_questions(kb: KnowledgeBase, files: Iterable[Path]) -> list[Question]:
    """Return the questions of JSONL files, each with what a search of the base finds."""
    questions = []
    for row in (json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()):
        with kb.session() as session:
            newest = max(head.published_on for head in session.view.documents())
            asked = understand(session, row["question"], newest)
            if asked.as_of:
                session = session.earlier(asked.as_of)  # noqa: PLW2901 -- what the question hides
            found = Retriever(session, asked).best_by_words()
            questions.append(Question(row, tuple(reading_of(each) for each in found)))
    return questions


def pairs_of(questions: Sequence[Question], rng: random.Random) -> Iterator[Pair]:
    """Yield the pairs of readers' questions: answers wherever they are found, and the best that do not answer."""
    for question in questions:
        for place, reading in enumerate(question.found):
            label = question.label(reading)
            if label is None or (place >= _BEST and label < _QUOTED):
                continue
            if place >= _NEVER_SKIPPED and label < _HALF / 2 and rng.random() < _OFTEN_SKIPPED:
                continue
            yield question.row["question"], reading, label


def swapped(questions: Sequence[Question], rng: random.Random) -> Iterator[Pair]:
    """Yield wrong pairs: the answer to a question, asked of another thing or another year."""
    others = sorted({name for question in questions for name in _proper(question.row["question"])})
    for question in questions:
        asked = question.row["question"]
        answers = [reading for reading in question.found if (question.label(reading) or 0) >= _QUOTED][:2]
        for reading in answers:
            seen = " ".join((*reading.above, reading.label, reading.before, reading.sentence))
            name = next((each for each in _proper(asked) if each in seen), None)
            other = rng.choice(others) if others else ""
            if name and other and other not in seen and other not in asked:
                yield asked.replace(name, other), reading, 0.0
            year = _YEAR.search(asked)
            if year and year[0] in seen:
                another = str(int(year[0]) + rng.choice((-4, -3, -2, 2, 3, 4)))
                if another not in seen:
                    yield asked.replace(year[0], another), reading, 0.0


def _proper(text: str) -> list[str]:
    return [word for word, tag in rjieba.tag(text) if tag[:2] in _PROPER and len(word) > 1]


def relation_pairs(annotations: Iterable[Path], folders: Sequence[Path], rng: random.Random) -> Iterator[list[Pair]]:
    """Yield the pairs of each question that a template makes of annotated relations.

    A note is annotated completely, so what is not quoted for a relation does not state it.

    Raises:
        KgError: a note's text is in none of the folders.
    """
    source = resources.files(__package__) / "answer_templates.yaml"
    templates = yaml.safe_load(source.read_text(encoding="utf-8"))
    for note in (json.loads(line) for file in annotations for line in file.read_text(encoding="utf-8").splitlines()):
        file = next((path for folder in folders if (path := folder / f"{note['id']}.md").exists()), None)
        if file is None:
            raise KgError(f"no text for note {note['id']} in {', '.join(map(str, folders))}")
        readings = _readings(file)
        texts = [_folded(reading.sentence) for reading in readings]
        asked: dict[tuple[int, str, str], tuple[set[int], set[str], list[str]]] = defaultdict(
            lambda: (set(), set(), [])
        )
        for edge in note["edges"]:
            if edge.get("pol") == "negative" or edge["r"] not in templates:
                continue
            quote = _folded(edge["quote"])
            places = {
                at for at, text in enumerate(texts) if quote in text or (text in quote and len(text) > _SHORTEST_QUOTE)
            }
            for side, (name, answer) in enumerate(((edge["s"], edge["o"]), (edge["o"], edge["s"]))):
                quoted, answers, moves = asked[side, edge["r"], name]
                quoted |= places
                answers.add(_folded(answer))
                moves.append((edge.get("dirs") or "none-none").split("-")[-1])
        for (side, relation, name), (quoted, answers, moves) in asked.items():
            if not quoted or len(name) == 1:
                continue
            move = rng.choice(templates["moves"][max(sorted(set(moves)), key=moves.count)])
            question = rng.choice(templates[relation][side]).format(name=name, move=move)
            others = [at for at, text in enumerate(texts) if at not in quoted and not any(a in text for a in answers)]
            rng.shuffle(others)
            others.sort(key=lambda at: _folded(name) not in texts[at])  # sentences about the same thing first
            yield [
                (question, readings[min(quoted)], 1.0),
                *((question, readings[at], 0.0) for at in others[:_WRONG_OF_A_TEXT]),
            ]


def indicator_pairs(reports: Iterable[Path], rng: random.Random) -> Iterator[list[Pair]]:
    """Yield the pairs of questions for annotated values: {"source_content", "data": [{"indicators": […]}]} a report."""
    for file in reports:
        report = json.loads(file.read_text(encoding="utf-8"))
        text, title = report["source_content"], file.name.removesuffix(".pdf.json")
        spans = [match.span() for match in re.finditer(r"[^。！？；]+[。！？；]?", text)]
        pieces = [
            SentenceInContext(text[start:end][-300:], (title,), before=text[slice(*spans[at - 1])] if at else "")
            for at, (start, end) in enumerate(spans)
        ]
        for each in (indicator for claim in report["data"] for indicator in claim["indicators"]):
            value, start = each["indicator_value"][0], int(each["indicator_value"][1])
            at = next((at for at, (low, high) in enumerate(spans) if low <= start < high), None)
            if at is None or value not in pieces[at].sentence:
                continue
            said = {name: found[0] for name, found in each["indicator_element"].items() if found and found[0]}
            when, name = said.pop("时间", ""), each["indicator_name"]
            about = "".join(dict.fromkeys(said.values()))
            question = rng.choice(("{when}{about}{name}是多少", "{about}{when}{name}多少", "{when}{about}的{name}"))
            others = [place for place, piece in enumerate(pieces) if place != at and value not in piece.sentence]
            rng.shuffle(others)
            others.sort(key=lambda place: -sum(word in pieces[place].sentence for word in (name[-3:], *said.values())))
            asked = question.format(when=when, about=about, name=name)
            yield [(asked, pieces[at], 1.0), *((asked, pieces[place], 0.0) for place in others[:_WRONG_OF_A_TEXT])]


def _readings(file: Path) -> list[SentenceInContext]:
    """Return the sentences of a Markdown note with their headings."""
    document = next(iter(read_file(file, today=_LATEST, published_on=_LATEST)))
    if isinstance(document, DocumentError):
        raise document
    out, label, before = [], "", ""
    for block in document.text.split("\n"):
        for match in _SENTENCE.finditer(block):
            text = match[0].strip()
            if len(text) <= _LABEL and not text.endswith("。"):
                label = text.rstrip("：:")
            else:
                out.append(SentenceInContext(text, (document.title,), label, before))
                before = text
    return out


def items_of(pairs: Iterable[Pair], pieces: WordPieces) -> list[tuple[list[int], list[int], float]]:
    """Return pairs as numbers of pieces, their parts and the label."""
    return [(*encoded(pieces, question, reading), label) for question, reading, label in pairs]


def _folded(text: str) -> str:
    return "".join(text.split()).lower().replace(",", "").replace("*", "")
