"""Documents that a schema takes, drawn from the schema itself: what two judges are compared on."""

from collections.abc import Callable
from typing import Any, cast

from hypothesis import strategies as st

Schema = dict[str, Any]

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
_JSON = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: (
        st.lists(inner | st.none(), max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "type"]), inner, max_size=2)
    ),
    max_leaves=4,
)
_MOMENTS = st.builds(
    "{}{}{}{}{}".format,
    st.dates().map(str),
    st.sampled_from("TTTTt"),
    st.times().map(lambda time: time.strftime("%H:%M:%S")),
    st.sampled_from(["", "", ".5", ".123456", ".1234567"]),
    st.sampled_from(["Z", "Z", "Z", "z", "+00:00", "-05:30", "+23:59"]),
)
_FORMATS: dict[str, st.SearchStrategy[str]] = {
    "date-time": _MOMENTS,
    "date": st.dates().map(str),
    "uuid": st.uuids().map(str) | st.uuids().map(lambda one: str(one).upper()),
}
_LARGE = st.sampled_from([2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**63, 2**64 - 1])


def instances(root: Schema, is_valid: Callable[[Schema, Any], bool]) -> st.SearchStrategy[Any]:
    """Mostly valid documents of a schema; `is_valid` judges a document by a piece of the schema."""
    return _Maker(root, is_valid).of(root)


class _Maker:
    def __init__(self, root: Schema, is_valid: Callable[[Schema, Any], bool]) -> None:
        self._root, self._is_valid = root, is_valid
        self._known: dict[str, st.SearchStrategy[Any]] = {}

    def of(self, schema: Schema) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            return self._of_reference(schema)
        if "if" in schema:
            plain = {word: value for word, value in schema.items() if word not in ("if", "then", "else")}
            whole = {**schema, "$defs": self._root.get("$defs", {})}
            return self.of(plain).filter(lambda document: self._is_valid(whole, document))
        if "allOf" in schema:
            return self._of_condition(schema)
        if "oneOf" in schema:
            return st.one_of([self.of(one) for one in schema["oneOf"]])
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        kinds = schema.get("type", [])
        if not kinds:
            return _JSON
        return st.one_of([self._of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])

    def _of_reference(self, schema: Schema) -> st.SearchStrategy[Any]:
        name = schema["$ref"]
        if name not in self._known:
            target: Schema = self._root if name == "#" else self._root["$defs"][name.rsplit("/", 1)[1]]
            self._known[name] = self.of(target)
        return self._known[name]

    def _of_condition(self, schema: Schema) -> st.SearchStrategy[Any]:
        """Either branch of its one condition, as far as the whole takes what comes of it."""
        plain = {word: value for word, value in schema.items() if word != "allOf"}
        (condition,) = schema["allOf"]
        branches = [_merge(plain, condition.get(word, {})) for word in ("then", "else")]
        whole = {**schema, "$defs": self._root.get("$defs", {})}
        return st.one_of([self.of(one) for one in branches]).filter(lambda document: self._is_valid(whole, document))

    def _of_kind(self, kind: str, schema: Schema) -> st.SearchStrategy[Any]:
        match kind:
            case "object":
                return self._of_object(schema)
            case "array":
                return self._of_array(schema)
            case "string":
                return _of_string(schema)
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
            case _:
                return _of_number(kind, schema)

    def _of_object(self, schema: Schema) -> st.SearchStrategy[Any]:
        fields = {name: self.of(one) for name, one in schema.get("properties", {}).items()}
        if not fields:
            return st.dictionaries(_TEXT, _JSON, min_size=schema.get("minProperties", 0), max_size=2)
        required = {name: fields.pop(name) for name in schema.get("required", ())}
        return st.fixed_dictionaries(required, optional=fields)

    def _of_array(self, schema: Schema) -> st.SearchStrategy[Any]:
        least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
        return st.lists(self.of(schema["items"]), min_size=least, max_size=most)


def _of_string(schema: Schema) -> st.SearchStrategy[str]:
    if schema.get("format") == "date-time" and "pattern" in schema:
        return _MOMENTS.map(lambda text: text.upper()[:19] + text[19:-1].partition("+")[0].partition("-")[0][:7] + "Z")
    if "format" in schema:
        return _FORMATS[schema["format"]]
    if "pattern" in schema:
        text = st.from_regex(cast("str", schema["pattern"]).removesuffix("$") + r"\Z")
        return text.filter(lambda found: len(found) <= schema.get("maxLength", 200))
    return st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        min_size=schema.get("minLength", 0),
        max_size=min(schema.get("maxLength", 20), 20),
    )


def _of_number(kind: str, schema: Schema) -> st.SearchStrategy[Any]:
    least, most = schema.get("minimum"), schema.get("maximum")
    whole = st.integers(least, most)
    if least is not None and most is not None:
        whole |= st.sampled_from([least, most])
    if most is None:
        whole |= _LARGE
    fractions = (
        st.integers(least or 0, (least or 0) + 100)
        if kind == "integer"
        else st.floats(least or 0, allow_nan=False, allow_infinity=False)
    )
    return st.one_of(whole, whole, whole, fractions.map(float))


def _merge(schema: Schema, branch: Schema) -> Schema:
    properties = {**schema["properties"]}
    for name, narrower in branch.get("properties", {}).items():
        properties[name] = {**properties[name], **narrower}
    return {
        **schema,
        "required": [*schema["required"], *branch.get("required", ())],
        "properties": properties,
    }
