"""What can go wrong with the local stack, said so that a newcomer knows what to do next."""


class StackError(Exception):
    """The local stack cannot do what was asked."""


class MissingPart(StackError):
    """A part of the local stack is not installed."""


class NotReady(StackError):
    """Something did not become ready in time, or cannot run at all."""
