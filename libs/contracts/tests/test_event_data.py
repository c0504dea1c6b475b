"""Event data behind a ref is judged as if the event held it."""

from hashlib import sha256
from pathlib import Path

import pytest
from assay_contracts import bounds, schema
from assay_contracts.decoder import decode, decode_data
from assay_contracts.encoder import encode_data
from assay_contracts.errors import InvalidMessage, UnknownContract
from assay_contracts.events import AttributeSet, CatalogEvent
from assay_contracts.evidence import evidence_uri
from assay_contracts.values import TextValue

EXAMPLE = Path(schema.__file__).parent / "schemas" / "examples" / "catalog.event.v1" / "attribute_set_list.json"


@pytest.fixture
def whole() -> CatalogEvent:
    value = b'{"version":1,"id":"0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44","ts":1,"attempt":1,"payload":%s}'
    return decode("catalog.event.v1", value % EXAMPLE.read_bytes()).payload


def behind_ref(event: CatalogEvent, sha256: str) -> CatalogEvent:
    return event.model_copy(update={"data": None, "ref": evidence_uri(event.tenant_id, sha256)})


def test_data_behind_a_ref_makes_the_same_event(whole: CatalogEvent) -> None:
    assert whole.data is not None
    data = encode_data(whole)
    assert decode_data(behind_ref(whole, sha256(data).hexdigest()), data) == whole


def test_other_bytes_than_the_ref_names_are_refused(whole: CatalogEvent) -> None:
    with pytest.raises(InvalidMessage) as caught:
        decode_data(behind_ref(whole, "0" * 64), b"{}")
    assert caught.value.reason == "ref_mismatch"


@pytest.mark.parametrize(("data", "reason"), [(b"{", "not_json"), (b"{}", "missing_field"), (b"[]", "wrong_type")])
def test_bad_data_behind_a_ref_is_refused(whole: CatalogEvent, data: bytes, reason: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        decode_data(behind_ref(whole, sha256(data).hexdigest()), data)
    assert caught.value.reason == reason


def test_an_event_with_its_data_has_no_ref_to_follow(whole: CatalogEvent) -> None:
    with pytest.raises(UnknownContract):
        decode_data(whole, b"{}")


def test_no_invalid_data_is_written(whole: CatalogEvent) -> None:
    assert isinstance(whole.data, AttributeSet)
    value = TextValue(text="a", lang="en")
    for update, reason in (
        ({"name": "Not a name"}, "wrong_pattern"),
        ({"value": value.model_copy(update={"text": ""})}, "wrong_length"),
        ({"value": value.model_copy(update={"text": "\0"})}, "nul_character"),
        ({"value": value.model_copy(update={"text": "a" * bounds.EVENT_DATA_BYTES})}, "too_large"),
        ({"owner": whole.data.owner.model_copy(update={"id": "item_other"})}, "aggregate_mismatch"),
    ):
        event = whole.model_copy(update={"data": whole.data.model_copy(update=update)})
        with pytest.raises(InvalidMessage) as caught:
            encode_data(event)
        assert caught.value.reason == reason
    with pytest.raises(UnknownContract):
        encode_data(behind_ref(whole, "0" * 64))
