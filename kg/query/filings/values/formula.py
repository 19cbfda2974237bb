"""A small language of formulas over lines of statements, read from the vocabulary or from a question's own definition.

`365 * (average accounts payable between FY2019 and FY2020) / (FY2020 COGS + change in inventory between FY2019 and
FY2020)` and `NetIncomeLoss / average(Assets)` are the same kind of tree. Nothing is evaluated but what the tree names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

from kg.query.filings.values.concepts import concepts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg.query.filings.values.concepts import Concept

_LONGEST, _DEEPEST = 600, 24  # characters of a formula, nested parts
_ADD = (
    (re.compile(r"\+|plus\b|加(?!权)", re.IGNORECASE), "+"),
    (re.compile(r"[-–−]|minus\b|less\b|减去?", re.IGNORECASE), "-"),
)
_MULTIPLY = (
    (re.compile(r"[*×]|x\b|times\b|乘以?", re.IGNORECASE), "*"),
    (re.compile(r"[/÷]|divided by\b|over\b|除以", re.IGNORECASE), "/"),
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?!\d)")
_FISCAL = re.compile(r"(?:the )?(?:year.end )?(?:FY\s?)?(20\d\d)\s*(?:年(?:度|末)?)?\s*", re.IGNORECASE)
_AFTER = re.compile(r"\s*(?:in|for|at the end of|from|of)?\s*FY\s?(20\d\d)", re.IGNORECASE)
_SPAN = re.compile(r"\s*(?:between|from|of|in)?\s*FY\s?(20\d\d)\s*(?:and|to|-|–)\s*FY\s?(20\d\d)", re.IGNORECASE)
_OVER_TIME = re.compile(r"(?:the )?(average|change)(?: of| in)?\b\s*(\()?\s*", re.IGNORECASE)
_FILLER = re.compile(r"(?:total |net |year.end |annual |unadjusted |the |its )*", re.IGNORECASE)
_REST = 25  # characters behind a formula that may say something else


class FormulaError(ValueError):
    """A formula that cannot be read."""


class MissingOperand(LookupError):
    """A value that a formula needs and no filing states clearly."""

    def __init__(self, concept: Concept, year: int) -> None:
        super().__init__(f"{concept.name} {year}")
        self.concept, self.year = concept, year


class Values(Protocol):
    """Where the values of lines come from."""

    def value(self, concept: Concept, year: int) -> float | None:
        """Return the value of a line in a fiscal year."""


class FormulaPart(Protocol):
    """A part of a formula."""

    def evaluate(self, values: Values, year: int) -> float:
        """Return the value for a fiscal year; raises MissingOperand, ZeroDivisionError."""

    def text(self) -> str:
        """Return the formula with the names of the vocabulary."""


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    number: float

    def evaluate(self, values: Values, year: int) -> float:  # noqa: ARG002 -- a constant needs neither
        """Return the constant."""
        return self.number

    def text(self) -> str:
        """Return its digits."""
        return f"{self.number:g}"


@dataclass(frozen=True, slots=True)
class Line:
    """A concept, in the year of the whole formula or in its own; an optional one counts 0 where it is missing."""

    concept: Concept
    year: int = 0
    optional: bool = False

    def evaluate(self, values: Values, year: int) -> float:
        """Return the value of its row, else of its formula."""
        year = self.year or year
        found = values.value(self.concept, year) if self.concept.rows else None
        if found is None and self.concept.formula:
            found = formula_of(self.concept.name).evaluate(values, year)
        if found is None and not self.optional:
            raise MissingOperand(self.concept, year)
        return found or 0.0

    def text(self) -> str:
        """Return its name, and its own year."""
        return f"{self.concept.name}{f'[{self.year}]' if self.year else ''}"


@dataclass(frozen=True, slots=True)
class OverTime:
    """The average or the change of a part between two years, by default the year before and that of the formula."""

    kind: str
    part: FormulaPart
    first: int = 0
    last: int = 0

    def evaluate(self, values: Values, year: int) -> float:
        """Return the average of the two ends, or last less first."""
        last = self.part.evaluate(values, self.last or year)
        first = self.part.evaluate(values, self.first or year - 1)
        return (first + last) / 2 if self.kind == "average" else last - first

    def text(self) -> str:
        """Return it as a function."""
        years = f", {self.first}, {self.last}" if self.first else ""
        return f"{self.kind}({self.part.text()}{years})"


@dataclass(frozen=True, slots=True)
class FormulaOperation:
    """Two parts with a sign between them."""

    sign: str
    left: FormulaPart
    right: FormulaPart

    def evaluate(self, values: Values, year: int) -> float:
        """Return the result."""
        left, right = self.left.evaluate(values, year), self.right.evaluate(values, year)
        if self.sign == "/":
            return left / right
        return left + right if self.sign == "+" else left - right if self.sign == "-" else left * right

    def text(self) -> str:
        """Return it with its sign, in brackets where it is a sum."""
        plain = f"{self.left.text()} {self.sign} {self.right.text()}"
        return f"({plain})" if self.sign in "+-" else plain


@cache
def formula_of(name: str) -> FormulaPart:
    """Return the formula of a concept of the vocabulary."""
    return _Parser(concepts()[name].formula, {}).whole(exact=True)


@cache
def ingredients(concept: Concept) -> frozenset[str]:
    """Return the names of a concept and of all that it is computed from."""
    named = re.findall(r"[A-Z]\w+", concept.formula)
    return frozenset({concept.name}).union(*(ingredients(concepts()[name]) for name in named))


def read_formula(text: str, terms: Mapping[str, str] | None = None) -> FormulaPart:
    """Read a definition in words.

    Args:
        text: the definition.
        terms: abbreviations that the question defines itself, with their definitions.

    Raises:
        FormulaError: for what is not understood.

    >>> read_formula("FY2018 revenue / (average PP&E between FY2017 and FY2018)").text()
    'Revenues[2018] / average(PropertyPlantAndEquipment, 2017, 2018)'
    """
    return _Parser(text[:_LONGEST], terms or {}).whole(exact=False)


class _Parser:
    """Recursive descent; the depth is bounded."""

    def __init__(self, text: str, terms: Mapping[str, str], depth: int = 0) -> None:
        self._text, self._terms, self._depth, self._exact = text.strip(), terms, depth, False

    def whole(self, *, exact: bool) -> FormulaPart:
        self._exact = exact
        found = self._sum()
        if len(self._text.strip()) > (0 if exact else _REST):
            raise FormulaError(self._text)
        return found

    def _sign(self, table: tuple[tuple[re.Pattern[str], str], ...]) -> str:
        self._text = self._text.lstrip(" ,")
        for pattern, sign in table:
            if match := pattern.match(self._text):
                self._text = self._text[match.end() :]
                return sign
        return ""

    def _sum(self) -> FormulaPart:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FormulaError(self._text)
        left = self._product()
        while sign := self._sign(_ADD):
            left = FormulaOperation(sign, left, self._product())
        self._depth -= 1
        return left

    def _product(self) -> FormulaPart:
        left = self._part()
        while sign := self._sign(_MULTIPLY):
            left = FormulaOperation(sign, left, self._part())
        return left

    def _part(self) -> FormulaPart:
        self._text = self._text.lstrip(" ,")
        if self._text.startswith("("):
            self._text = self._text[1:]
            found = self._sum()
            self._close()
            return self._with_span(found)
        year = 0
        if match := _FISCAL.match(self._text):
            year, self._text = int(match[1]), self._text[match.end() :]
        elif match := _NUMBER.match(self._text):
            self._text = self._text[match.end() :]
            return Number(float(match[0]))
        if match := _OVER_TIME.match(self._text):
            self._text = self._text[match.end() :]
            part = self._line()
            first, last = self._years()
            if match[2]:
                self._close()
            return OverTime(match[1].lower(), part, first or (year and year - 1), last or year)
        return self._line(year)

    def _with_span(self, part: FormulaPart) -> FormulaPart:
        """Take the years behind brackets: (average inventory) between …; a year alone is dropped."""
        if match := _AFTER.match(self._text):
            self._text = self._text[match.end() :]
        return part

    def _close(self) -> None:
        self._text = self._text.lstrip().removeprefix(")")

    def _years(self) -> tuple[int, int]:
        if match := _SPAN.match(self._text):
            self._text = self._text[match.end() :]
            return int(match[1]), int(match[2])
        return 0, 0

    def _line(self, year: int = 0) -> FormulaPart:
        if self._exact:
            match = re.match(r"([A-Za-z]+)(\?)?", self._text)
            if not match or match[1] not in concepts():
                raise FormulaError(self._text)
            self._text = self._text[match.end() :]
            return Line(concepts()[match[1]], year, optional=bool(match[2]))
        for term, definition in self._terms.items():
            if self._text.startswith(term):
                self._text = self._text[len(term) :]
                rest = {name: text for name, text in self._terms.items() if name != term}
                return _Parser(definition, rest, self._depth + 1).whole(exact=False)
        concept, end = self._named()
        self._text = self._text[end:]
        if not year and not _SPAN.match(self._text) and (match := _AFTER.match(self._text)):
            year, self._text = int(match[1]), self._text[match.end() :]
        return Line(concept, year)

    def _named(self) -> tuple[Concept, int]:
        """Return the concept that the text begins with, the longest name, and where it ends."""
        filler = _FILLER.match(self._text)
        starts = {0, filler.end() if filler else 0}
        found = [
            (match.end(), concept)
            for concept in concepts().values()
            for start in starts
            if (match := concept.asks.match(self._text, start))
        ]
        if not found:
            raise FormulaError(self._text)
        end, concept = max(found, key=lambda row: row[0])
        return concept, end
