"""The decoder once more, to be imported first: what the fuzzer's instruments slow down is another copy of it."""

import sys

from assay_contracts.decoder import decode as plain_decode
from assay_contracts.decoder import decode_document as plain_decode_document
from assay_contracts.errors import InvalidMessage as PlainRefusal

__all__ = ["PlainRefusal", "plain_decode", "plain_decode_document"]

for _name in [name for name in sys.modules if name.partition(".")[0] == "assay_contracts"]:
    del sys.modules[_name]
