"""JSON bodies, read by the one strict parser: what two readers could understand differently is refused."""

from typing import Any, TypeVar

from assay_contracts import strict_json
from fastapi import Request
from pydantic import BaseModel, ConfigDict, ValidationError

from assay_resolver_api.errors import InvalidBody

_MOST_ERRORS = 20


class Document(BaseModel):
    """A closed JSON object; nothing in it is converted."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


_D = TypeVar("_D", bound=Document)


async def read(request: Request, model: type[_D]) -> _D:
    """The request's body; InvalidMessage or InvalidBody if it is not one of `model`."""
    document = strict_json.parse(await request.body())
    try:
        return model.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_ERRORS]
        raise InvalidBody(
            [{"place": "/".join(str(part) for part in one["loc"]), "text": one["msg"]} for one in found]
        ) from None


def body_of(model: type[Document]) -> dict[str, Any]:
    """How OpenAPI describes the body that `read` reads."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}
