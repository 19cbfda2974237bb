from __future__ import annotations

import pytest

from kg.query.filings.values.concepts import Concept, concepts
from kg.query.filings.values.formula import FormulaError, MissingOperand, formula_of, read_formula


class Table:
    """Values by concept and year."""

    def __init__(self, **values: float) -> None:
        self.values = values

    def value(self, concept: Concept, year: int) -> float | None:
        return self.values.get(f"{concept.name}_{year}")


def test_every_formula_of_the_vocabulary_is_read():
    computed = [concept for concept in concepts().values() if concept.formula]
    assert len(computed) > 25
    for concept in computed:
        assert formula_of(concept.name).text()


def test_a_definition_in_words_is_computed():
    span = "inventory between FY2018 and FY2019"
    node = read_formula(f"365 * (average {span}) / (FY2019 COGS + change in {span})")
    values = Table(Inventories_2018=10, Inventories_2019=30, CostOfRevenue_2019=345)
    assert node.evaluate(values, 2019) == pytest.approx(365 * 20 / 365)


def test_terms_that_the_question_defines_are_put_in():
    node = read_formula("DIO + DSO", {"DIO": "total assets - DSO", "DSO": "goodwill"})
    assert node.evaluate(Table(Assets_2020=5, Goodwill_2020=2), 2020) == 5


def test_a_missing_operand_is_named():
    with pytest.raises(MissingOperand, match="CostOfRevenue 2020"):
        formula_of("GrossMargin").evaluate(Table(Revenues_2020=5), 2020)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pumps / prayers",
        "revenue ** 9 ** 9 and so on for ever",
        "(" * 500 + "revenue",
        "__import__('os')",
    ],
)
def test_what_is_not_a_formula_is_refused(text: str):
    with pytest.raises(FormulaError):
        read_formula(text)
