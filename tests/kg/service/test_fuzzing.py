"""Requests made from the OpenAPI description: no server error, and every answer as the description says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

schemathesis = pytest.importorskip("schemathesis")

from fastapi.testclient import TestClient  # noqa: E402 -- after the check above
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402

from kg.service.app import create_app  # noqa: E402
from kg.service.base import open_kb  # noqa: E402
from tests.kg.query.world import filled, solar  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EXAMPLES = 12  # requests for each of the operations


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    path: Path = tmp_path_factory.mktemp("fuzzing") / "kb.liantu"
    kb = open_kb(path, create=True)
    filled(solar(), kb.store)
    app = create_app(kb)
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000), raise_server_exceptions=False) as it:
        yield it


def _operations(served: TestClient) -> dict[str, Any]:
    description = served.get("/openapi.json?lang=en").json()
    found = (each.ok() for each in schemathesis.openapi.from_dict(description).get_all_operations())
    return {each.path: each for each in found}


def test_every_operation_answers_as_described(served: TestClient):
    operations = _operations(served)
    assert len(operations) > 20
    statuses = {status for operation in operations.values() for status in _try(operation, served)}
    assert {200, 404, 422} <= statuses


def _try(operation: Any, served: TestClient) -> set[int]:
    statuses = set()

    @settings(
        max_examples=_EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case: Any) -> None:
        arguments = case.as_transport_kwargs(base_url="http://127.0.0.1")
        response = served.request(**{name: value for name, value in arguments.items() if name != "cookies"})
        assert response.status_code < 500, (case, response.text)
        operation.validate_response(response)
        statuses.add(response.status_code)

    run()
    return statuses


def test_another_shape_is_noticed(served: TestClient):
    operations, answer = _operations(served), served.get("/v1/stats")
    operations["/v1/stats"].validate_response(answer)
    with pytest.raises(BaseExceptionGroup) as found:
        operations["/v1/chain"].validate_response(answer)
    assert "Response violates schema" in "".join(str(each) for each in found.value.exceptions)
