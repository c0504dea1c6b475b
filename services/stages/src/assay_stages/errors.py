"""Every failure that the stages name."""


class StagesError(Exception):
    """A stage failed in a way that it has a name for."""


class UnknownPin(StagesError):
    """No adapter or profile of that exact name and version is listed in this build."""

    def __init__(self, pin: str) -> None:
        super().__init__(f"unknown pin: {pin[:100]!r}")
        self.pin = pin


class PlaceNotFound(StagesError):
    """An artifact has nothing at the place that a fact names."""

    def __init__(self, place: str) -> None:
        super().__init__(f"nothing stands at {place[:200]!r}")
        self.place = place
