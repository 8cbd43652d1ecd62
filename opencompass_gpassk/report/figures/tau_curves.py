"""How far a model's G-Pass@k falls as more of the k samples must be right: curves over τ."""

from __future__ import annotations
