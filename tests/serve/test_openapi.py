"""The OpenAPI document says what the server does: schemathesis tries it out."""

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks

from malmoi.serve.routes import ENDPOINTS, openapi_json
from tests.serve.fixtures import Running

SCHEMA = schemathesis.openapi.from_dict(json.loads(openapi_json()))
# Not all that a schema allows makes sense together, and what does not is refused.
LEFT_OUT = [checks.positive_data_acceptance]


@SCHEMA.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_as_the_document_says(
    case: "schemathesis.Case[Any]", server: Running
) -> None:
    case.call_and_validate(base_url=server.address, excluded_checks=LEFT_OUT)


def test_every_endpoint_is_documented() -> None:
    said = json.loads(openapi_json())
    assert said["openapi"].startswith("3.1")
    for endpoint in ENDPOINTS:
        if endpoint.documented:
            assert endpoint.method.lower() in said["paths"][endpoint.template]


@pytest.mark.parametrize("path", ["/docs", "/"])
def test_pages_fetch_nothing_from_outside(server: Running, path: str) -> None:
    page = server.get(path).body.decode()
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page
