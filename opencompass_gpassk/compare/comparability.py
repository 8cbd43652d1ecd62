"""May two results be compared: what differs between them, and what of it matters."""

from __future__ import annotations
