"""What goes wrong with a message: one exception, whose reason codes a machine may rely on."""

from typing import Final, get_args

from assay_contracts.reasons import Reason

REASONS: Final[frozenset[Reason]] = frozenset(reason for group in get_args(Reason) for reason in get_args(group))


class ContractError(Exception):
    """Something is wrong with a message or with its contract."""


class UnknownContract(ContractError):
    """No schema or topic has this name."""


class InvalidMessage(ContractError):
    """The bytes are not the message that the topic or the API asks for.

    `reason` is a stable code, `pointer` the JSON pointer of the place ("" is the document), and `text` a sentence
    for people that quotes nothing of the document's values.
    """

    def __init__(self, reason: Reason, pointer: str, text: str) -> None:
        super().__init__(f"{reason} at '{pointer}': {text}")
        self.reason: Reason = reason
        self.pointer = pointer
        self.text = text
