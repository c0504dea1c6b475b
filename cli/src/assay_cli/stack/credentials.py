"""The installation's secrets: one random root, made once, from which every password and key is derived."""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from assay_cli.stack.durable import read_object, write_object
from assay_cli.stack.layout import Layout

_ROOT_BYTES = 32
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Credentials:
    """Derives as many secrets as there are names; the same name always gives the same one."""

    root: str = field(repr=False)

    def of(self, name: str) -> str:
        """43 characters that need no quoting in a URI or a shell."""
        digest = hmac.digest(self.root.encode(), name.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def of_role(self, role: str) -> str:
        """The password of a database role."""
        return self.of(f"postgres-role/{role}")


def settle(layout: Layout) -> Credentials:
    """The secrets of this installation, made now if it is new."""
    root = read_object(layout.secrets_file).get("root")
    if not isinstance(root, str):
        root = secrets.token_urlsafe(_ROOT_BYTES)
        write_object(layout.secrets_file, {"root": root}, mode=_OWNER_ONLY)
    return Credentials(root)
