"""The closed list of reasons for which a message is refused, in the order in which they are looked for."""

from typing import Literal

BytesReason = Literal[
    "null_value",  # a Kafka tombstone where a message must be
    "too_large",  # more bytes than the topic or the API takes
    "byte_order_mark",
    "not_utf8",  # UTF-16 included
    "too_deep",  # more than 64 arrays and objects inside one another
    "not_json",
    "duplicate_key",
    "not_finite",  # NaN, Infinity, and numbers that overflow to it
    "number_not_exact",  # a number that a 64-bit integer or a double cannot hold as written
    "lone_surrogate",
    "nul_character",
]
SchemaReason = Literal[
    "missing_field",
    "unknown_field",
    "wrong_type",
    "wrong_value",  # not the constant, or not one of the listed values
    "wrong_pattern",
    "wrong_format",
    "out_of_range",
    "wrong_length",  # of a string
    "wrong_count",  # of array items or object fields
    "repeated_item",
]
RuleReason = Literal[
    "job_id_mismatch",  # not capture_id:stage:attempt_group
    "ref_mismatch",  # an evidence ref that names another tenant or hash than the fields beside it
    "aggregate_mismatch",  # the aggregate is not the one that the data describes
    "missing_dependency",  # the event does not name what it needs to be applied
    "merged_into_itself",
    "repeated_part",  # two artifacts of a capture name one part of the body
    "value_too_large",  # a business value of more bytes than a task keeps
    "value_too_deep",  # a business value that would not fit its frame with others
    "session_mismatch",  # a welcome of another session than its frame
    "failure_reason_mismatch",  # a job that did not fail, with a reason why it did
    "state_mismatch",  # a moment that the job's status has not reached
    "expiry_mismatch",  # not the claim and the time to live together
    "no_findings",  # an empty list, where null says all of them
    "duration_mismatch",  # not the time between the two moments beside it
]
KeyReason = Literal[
    "null_key",
    "wrong_key",  # not the tenant of the payload, or not a tenant at all
]
ModelReason = Literal["not_modelled"]  # the schema takes it and the model does not: a defect of this library
Reason = BytesReason | SchemaReason | RuleReason | ModelReason | KeyReason
