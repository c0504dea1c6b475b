"""Every failure that the relay names."""


class RelayError(Exception):
    """The relay cannot go on as it is."""


class DeliveryRefused(RelayError):
    """Kafka or its client refused an event: nothing that is in flight counts any more.

    `code` is Kafka's name of the error; `permanent` says that it is the event's own fault.
    """

    def __init__(self, code: str, *, permanent: bool) -> None:
        super().__init__(code)
        self.code = code
        self.permanent = permanent


class EventUnsendable(RelayError):
    """This one event can never be sent as it is; the events of its stream before it are not affected."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
