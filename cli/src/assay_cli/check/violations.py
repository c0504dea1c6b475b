"""What the checker finds, and the names of all rules that it knows."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from assay_runtime import sql

PythonRule = Literal[
    "i1_bytes_missing_or_other",
    "i2_job_says_otherwise",
    "i2_letter_copy_differs",
    "i2_letter_copy_without_row",
    "i2_letter_marked_before_copied",
    "i2_message_not_of_its_job",
    "i3_event_passed_without_trace",
    "i3_job_passed_without_trace",
    "i3_offset_past_open_job",
    "i3_offset_past_projection",
    "i3_unreadable_without_dead_letter",
    "i4_digest_differs",
    "i4_event_says_otherwise",
    "i5_event_of_no_history",
    "i5_marked_before_acknowledged",
    "i5_partition_count_changed",
    "i5_position_out_of_order",
    "i6_projection_went_back",
    "i7_progress_digest_differs",
    "i7_projection_is_not_the_fold",
    "i7_projection_shows_another_value",
    "i10_foreign_event_took_effect",
    "i10_generation_of_unknown_epoch",
    "i11_key_of_another_tenant",
    "i11_credentials_differ",
    "i11_letter_of_another_tenant",
    "i11_object_of_no_tenant",
    "i11_object_under_another_tenant",
    "i11_tenant_on_two_partitions",
    "model_listing_key_differs",
    "model_settle_differs",
]
"""What more than one source, or code, has to answer."""

ROW_FILES: Final = {"resolver": "check_resolver", "product": "check_product"}
"""Which file holds the rules that one database can answer by itself, each a statement of the rule's name."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that must not be: its invariant (I1 to I15, or `MODEL`), the broken rule's name, and what breaks it."""

    invariant: str
    rule: str
    subject: str


def found(rule: PythonRule, subject: str) -> Violation:
    """A violation of a rule that Python decides."""
    return Violation(invariant_of(rule), rule, subject)


def invariant_of(rule: str) -> str:
    """`i4_positions_not_whole` is about I4, `model_listing_forgotten` about the catalog's own model."""
    return rule.split("_", 1)[0].upper()


def all_rules() -> list[tuple[str, str]]:
    """Every rule as (where it is decided, its name): `resolver` and `product` by a statement, `python` by code."""
    by_statement = [(place, rule) for place, file in ROW_FILES.items() for rule in sql.load("assay_cli", file)]
    return by_statement + [("python", rule) for rule in get_args(PythonRule)]
