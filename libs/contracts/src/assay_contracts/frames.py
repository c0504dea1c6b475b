"""The frames of `pulse.worker.v1`: what a worker and the gateway say to one another, one message a frame."""

from typing import Annotated, Generic, Literal, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from assay_contracts import timestamps
from assay_contracts.fields import WIRE, Message, Optional, Tuple

AttemptState = Literal["LEASED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "UNKNOWN"]
TaskState = Literal["WAITING", "LEASED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "NEEDS_REVIEW"]
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$"
_SAFE_MILLISECONDS = 9_223_372_036_854


def _check_value(value: JsonValue, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> JsonValue:
    """Looks inside only where code makes the value; a document's has been read as JSON."""
    if value is None:
        raise ValueError("null is no value")
    return value if info.context == WIRE else check(value)


def _check_moment(text: timestamps.Timestamp) -> timestamps.Timestamp:
    if not timestamps.is_timestamp(text):
        raise ValueError("no such moment")
    return text


Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Counter = Annotated[
    str,
    Field(
        pattern=r"^(?:[1-9][0-9]{0,18}|1[0-7][0-9]{18}|18[0-3][0-9]{17}|184[0-3][0-9]{16}|1844[0-5][0-9]{15}"
        r"|18446[0-6][0-9]{14}|184467[0-3][0-9]{13}|1844674[0-3][0-9]{12}|184467440[0-6][0-9]{10}"
        r"|1844674407[0-2][0-9]{9}|18446744073[0-6][0-9]{8}|1844674407370[0-8][0-9]{6}|18446744073709[0-4][0-9]{5}"
        r"|184467440737095[0-4][0-9]{4}|18446744073709550[0-9]{3}|18446744073709551[0-5][0-9]{2}"
        r"|1844674407370955160[0-9]{1}|1844674407370955161[0-4]|18446744073709551615)$"
    ),
]
"""1 to 2^64 - 1 as a decimal number; `int` reads it."""
Secret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$", repr=False)]
Time = Annotated[
    timestamps.Timestamp,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z$"),
    AfterValidator(_check_moment),
]
Value = Annotated[JsonValue, WrapValidator(_check_value)]
Handler = Annotated[str, Field(min_length=1, max_length=128, pattern=_NAME)]
HandlerVersion = Annotated[str, Field(min_length=1, max_length=64, pattern=_NAME)]
PayloadVersion = Annotated[str, Field(min_length=1, max_length=32, pattern=_NAME)]
Code = Annotated[str, Field(min_length=1, max_length=64, pattern=_NAME)]
Delay = Annotated[int, Field(ge=0, le=_SAFE_MILLISECONDS)]


class Capability(Message):
    """What an instance can run."""

    handler: Handler
    handler_version: HandlerVersion
    payload_version: PayloadVersion


class Hello(Message):
    """Who connects, for which queue, and how much it can take."""

    instance_id: Id
    instance_secret: Secret
    queue_id: Id
    capabilities: Annotated[Tuple[Capability], Field(min_length=1, max_length=32)]
    capacity: Annotated[int, Field(ge=1, le=256)]

    @model_validator(mode="after")
    def _check_distinct(self) -> Self:
        if len(set(self.capabilities)) != len(self.capabilities):
            raise ValueError("a capability stands twice")
        return self


class Capacity(Message):
    """How much the instance can take from now on; `sequence` rises."""

    sequence: Counter
    capacity: Annotated[int, Field(ge=0, le=256)]
    drain: bool


class AttemptRef(Message):
    """The attempt that a worker believes to hold."""

    task_id: Id
    attempt_id: Id
    epoch: Counter
    lease_secret: Secret


class Finish(Message):
    """How an attempt ended; only a success is without an error code."""

    ref: AttemptRef
    outcome: Literal["SUCCEEDED", "FAILED", "UNKNOWN"]
    result: Value
    error_code: Optional[Code | Literal[""]] = None

    @model_validator(mode="after")
    def _check_code(self) -> Self:
        if (self.outcome == "SUCCEEDED") == bool(self.error_code):
            raise ValueError("an error code belongs to what did not succeed")
        return self


class Welcome(Message):
    """A session as it stands."""

    session_id: Id
    epoch: Counter
    server_time: Time
    expires_at: Time
    lease_duration_ms: Annotated[int, Field(ge=1000, le=120_000)]
    draining: bool


class Lease(Message):
    """The right to run, as just looked up."""

    active: bool
    state: AttemptState
    lease_until: Time
    server_time: Time

    @model_validator(mode="after")
    def _check_state(self) -> Self:
        if self.active and self.state not in ("LEASED", "RUNNING"):
            raise ValueError("an attempt that has ended holds no lease")
        return self


class OperationReceipt(Message):
    """What an operation did when it was first asked for."""

    operation: Literal["start", "renew", "finish"]
    task_state: TaskState
    attempt_state: AttemptState
    task_revision: Counter
    lease_until: Time
    disposition: Literal["APPLIED", "EVIDENCE_ONLY"]


class CommandResult(Message):
    """The answer to a start, a renew or a finish."""

    receipt: OperationReceipt
    lease: Lease
    deduplicated: bool


class Retry(Message):
    """How often and how patiently a task is tried."""

    max_attempts: Annotated[int, Field(ge=1, le=100)]
    initial_delay_ms: Delay
    max_delay_ms: Delay
    attempt_timeout_ms: Annotated[int, Field(ge=1, le=2_592_000_000)]


class AssignedTask(Message):
    """A task as its assignment shows it."""

    id: Id
    namespace_id: Id
    queue_id: Id
    state: Literal["LEASED"] = "LEASED"
    revision: Counter
    handler: Handler
    handler_version: HandlerVersion
    payload_version: PayloadVersion
    payload: Value
    result: Optional[Value] = None
    business_key: Optional[Annotated[str, Field(max_length=191)]] = None
    available_at: Time
    start_deadline_at: Optional[Time] = None
    deadline_at: Time
    recovery_safety: Literal["IDEMPOTENT", "RECONCILE_ONLY"]
    retry: Retry
    attempt_count: Annotated[int, Field(ge=1, le=100)]
    cancel_requested_at: Optional[Time] = None
    completed_at: Optional[Time] = None
    created_at: Time
    updated_at: Time


class Assignment(Message):
    """A task, and the lease on it."""

    task: AssignedTask
    attempt_id: Id
    epoch: Counter
    lease_secret: Secret
    lease_until: Time
    server_time: Time


class PublicError(Message):
    """A stable code and a sentence, neither of which says anything of the inside."""

    code: Code
    message: Annotated[str, Field(max_length=1024)]


_Type = TypeVar("_Type", bound=str)
_Body = TypeVar("_Body")


class Frame(Message, Generic[_Type]):
    """What every frame has; `message_id` names it for its answer, and an operation for ever."""

    protocol_version: Literal["1"] = "1"
    type: _Type
    message_id: Id


class Request(Frame[_Type], Generic[_Type, _Body]):
    """A frame inside a session."""

    session_id: Id
    body: _Body


class Reply(Request[_Type, _Body], Generic[_Type, _Body]):
    """A frame that answers another."""

    reply_to: Id


class HelloFrame(Frame[Literal["worker.hello"]]):
    """Opens a session."""

    body: Hello


class CapacityFrame(Request[Literal["worker.capacity"], Capacity]):
    """Answered by a welcome."""


class ResumeFrame(Request[Literal["worker.resume"], AttemptRef]):
    """Asks what is still ours; answered by a lease."""


class StartFrame(Request[Literal["task.start"], AttemptRef]):
    """Answered by a command result."""


class RenewFrame(Request[Literal["task.renew"], AttemptRef]):
    """Answered by a command result."""


class FinishFrame(Request[Literal["task.finish"], Finish]):
    """Answered by a command result."""


class WelcomeFrame(Reply[Literal["worker.welcome"], Welcome]):
    """The answer to a hello."""


class AssignmentFrame(Request[Literal["task.assign"], Assignment]):
    """Work for the worker."""


class AckFrame(Reply[Literal["ack"], Welcome | Lease | CommandResult]):
    """The answer to any other request."""


class ErrorFrame(Frame[Literal["error"]]):
    """What went wrong, in answer to a request or by itself."""

    session_id: Optional[Id] = None
    error: PublicError
    reply_to: Optional[Id] = None


ClientFrame: TypeAlias = HelloFrame | CapacityFrame | ResumeFrame | StartFrame | RenewFrame | FinishFrame
ServerFrame: TypeAlias = WelcomeFrame | AssignmentFrame | AckFrame | ErrorFrame
