"""What a person types as a value, as the value document that the attribute's registered type asks for."""

from assay_resolver import registry

from assay_cli.errors import CommandError


def value_of(name: str, typed: str) -> dict[str, object]:
    """CommandError if the registry has no such attribute of items."""
    attribute = registry.ITEM.get(name)
    if attribute is None:
        raise CommandError(f"there is no attribute {name}; there are: {', '.join(registry.ITEM)}")
    if attribute.many:
        values = [_scalar(attribute, part.strip()) for part in typed.split(",") if part.strip()]
        return {"type": "list", "values": values}
    return _scalar(attribute, typed)


def _scalar(attribute: registry.Attribute, typed: str) -> dict[str, object]:
    match attribute.type:
        case "text":
            return {"type": "text", "text": typed, "lang": None}
        case "number":
            return {"type": "number", "number": typed, "unit": attribute.unit}
        case _:
            return {"type": attribute.type, attribute.type: typed}
