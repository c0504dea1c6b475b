"""Every failure that is the product's own."""


class ProductError(Exception):
    """Something in the product service went wrong."""


class GenerationMoved(ProductError):
    """A catalog's live generation changed while the batch waited for its row; once more, the batch will find it."""


class UnreadableParked(ProductError):
    """A parked value that was decoded once is refused now: another release of the contracts wrote it."""


class TopicMissing(ProductError):
    """The event topic does not exist; it is made before the services start, and comes back if it was lost."""


class Stopped(ProductError):
    """The process was asked to stop while it waited for something."""


class NotLive(ProductError):
    """The tenant has no live catalog of this name."""


class StalePage(ProductError):
    """The page cursor belongs to another generation, or was never given out; begin at the first page again."""
