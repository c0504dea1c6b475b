"""API keys of machines: how one is made, how one is read, how one is checked without telling which part was wrong."""

import hashlib
import hmac
import re
import secrets
import zlib
from dataclasses import dataclass

from assay_contracts.ids import uuid7
from pydantic import SecretStr

from assay_runtime.errors import InvalidKey

SECRET_BYTES = 32
_SHAPE = re.compile(r"assay_(?P<key_id>key_[0-9a-f]{32})_(?P<secret>[0-9a-f]{64})_(?P<checksum>[0-9a-f]{8})", re.ASCII)
_NOBODY = bytes(hashlib.sha256().digest_size)


@dataclass(frozen=True)
class MintedKey:
    """A new key: `text` is shown to its owner once and never stored, `mac` is stored under `key_id`."""

    key_id: str
    text: SecretStr
    mac: bytes


def mint(pepper: SecretStr) -> MintedKey:
    """Make a key of 256 random bits."""
    key_id = f"key_{uuid7().hex}"
    body = f"assay_{key_id}_{secrets.token_hex(SECRET_BYTES)}"
    text = f"{body}_{_checksum(body)}"
    return MintedKey(key_id, SecretStr(text), mac_of(pepper, text))


def parse(text: str) -> str:
    """Return the key id of a well-formed key with a right checksum; says nothing about whether the key is known."""
    match = _SHAPE.fullmatch(text)
    if match is None or not hmac.compare_digest(_checksum(text.rpartition("_")[0]), match["checksum"]):
        raise InvalidKey
    return match["key_id"]


def verify(pepper: SecretStr, text: str, mac: bytes | None) -> bool:
    """Compare in constant time; for an unknown id pass None, which costs the same and is never right."""
    equal = hmac.compare_digest(mac_of(pepper, text), _NOBODY if mac is None else mac)
    return equal and mac is not None


def mac_of(pepper: SecretStr, text: str) -> bytes:
    """HMAC-SHA-256 of the whole key text under the pepper: 32 bytes."""
    return hmac.digest(pepper.get_secret_value().encode(), text.encode(), "sha256")


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"
