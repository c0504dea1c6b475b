"""What the three HTTP APIs share: keys and scopes, problems, limits, request metrics, and a graceful server."""

from assay_runtime.errors import OpenRoute
from assay_runtime.http.application import create_app
from assay_runtime.http.authentication import Credential, KeyRing, StoredKey, needs
from assay_runtime.http.guard import Limits
from assay_runtime.http.problems import Problem
from assay_runtime.http.serving import open_routes, serve

__all__ = [
    "Credential",
    "KeyRing",
    "Limits",
    "OpenRoute",
    "Problem",
    "StoredKey",
    "create_app",
    "needs",
    "open_routes",
    "serve",
]
