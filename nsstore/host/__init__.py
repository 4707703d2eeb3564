"""Knows who asks, from where and for what: by the user's settings, the bound checkout, and git."""

from nsstore.host.inference import Inferred, Source, Value, infer

__all__ = ["Inferred", "Source", "Value", "infer"]
