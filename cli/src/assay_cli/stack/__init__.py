"""The local stack: real Kafka, Postgres and S3, the services over them, and the supervisor that keeps them up."""

from assay_cli.stack.errors import StackError
from assay_cli.stack.stack import Stack

__all__ = ["Stack", "StackError"]
