"""The OpenAPI file, put together when somebody asks for it.

Answers are declared by reference, and their schemas are made with the file: to make them at every start would take
as long as all the rest of it.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from wellkept.server.problems import MEDIA_TYPE, ProblemBody

Responses: TypeAlias = dict[int | str, dict[str, Any]]

_REFERENCE = "#/components/schemas/{model}"
_models: dict[str, Any] = {}


def gives(model: Any, status: int = 200) -> Responses:
    """What a route answers: JSON of ``model``, a record or a pydantic model, as its handler writes it."""
    return {status: {"description": "Done.", "content": {"application/json": {"schema": _schema(model)}}}}


def takes(model: Any, *parameters: dict[str, Any]) -> dict[str, Any]:
    """What a route that reads its request itself says of it; for ``openapi_extra``."""
    content = {"application/json": {"schema": _schema(model)}}
    return {"requestBody": {"required": True, "content": content}, "parameters": list(parameters)}


def parameter(
    name: str, where: str, description: str, *, required: bool = False, **schema: Any
) -> dict[str, Any]:
    """A parameter of such a route, or of every one."""
    described = {"type": "string", **schema}
    return {"name": name, "in": where, "required": required, "schema": described, "description": description}


def _schema(model: Any) -> dict[str, str]:
    name = re.sub(r"[^\w.-]", "_", getattr(model, "__name__", str(model)))
    _models[name] = model
    return {"$ref": _REFERENCE.format(model=name)}


_PROBLEM = {
    "description": "A problem (RFC 9457): `detail` says what to do next.",
    "content": {MEDIA_TYPE: {"schema": _schema(ProblemBody)}},
}
PROBLEMS: Responses = {"4XX": _PROBLEM, "5XX": _PROBLEM}


WHOSE = [
    parameter("namespace", "query", "The tenant; a key binds it.", maxLength=512),
    parameter("user", "query", "Whose memory; a key may bind it.", maxLength=512),
    parameter("x-wellkept-namespace", "header", "The same as `namespace`, percent-encoded."),
    parameter("x-wellkept-user", "header", "The same as `user`, percent-encoded."),
]
KEY = parameter(
    "Idempotency-Key",
    "header",
    "With the same key and request it is done once, and answered as the first time. What only reads is done again.",
    minLength=1,
    maxLength=255,
)
_SECURITY = {"key": {"type": "http", "scheme": "bearer", "description": "`wellkept keys create` makes one."}}


def install(app: FastAPI) -> None:
    """Have ``app`` describe itself with this module."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _describe(app)
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def _describe(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    inputs = [(name, "serialization", TypeAdapter(model)) for name, model in _models.items()]
    schemas, shared = TypeAdapter.json_schemas(inputs, ref_template=_REFERENCE)  # type: ignore[arg-type]
    components = made.setdefault("components", {}).setdefault("schemas", {})
    components |= {name: schema for (name, _), schema in schemas.items()}
    components |= shared.get("$defs", {})
    made["components"]["securitySchemes"] = _SECURITY
    made["security"] = [{"key": []}, {}]
    for path, item in made["paths"].items():
        if path.startswith("/v1/") and path != "/v1/me":
            for method, operation in item.items():
                more = [KEY, *WHOSE] if method == "post" else WHOSE
                operation["parameters"] = [*operation.get("parameters", ()), *more]
    return made
