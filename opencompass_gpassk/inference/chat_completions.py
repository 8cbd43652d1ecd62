"""The chat completion protocol: what is sent in a request, and how its reply is read."""

from __future__ import annotations
