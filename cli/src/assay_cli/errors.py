"""What a command may tell its user instead of a traceback."""


class CommandError(Exception):
    """A command cannot do what it was asked; the message says why and what to do."""


class Refused(CommandError):
    """A service answered with a problem document."""

    def __init__(self, status: int, code: str, title: str, detail: str) -> None:
        super().__init__(f"{title} ({status}): {detail}" if detail else f"{title} ({status})")
        self.status, self.code = status, code
