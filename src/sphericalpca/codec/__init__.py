"""Codes of a few bytes for unit vectors, and search among them."""

from sphericalpca.codec.codec import SearchResult, SphericalCodec

__all__ = ["SearchResult", "SphericalCodec"]
