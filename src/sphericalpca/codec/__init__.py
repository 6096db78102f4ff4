"""Codes of a few bytes for unit vectors, and search among them."""

from sphericalpca.codec.codec import SearchResult, SphericalCodec
from sphericalpca.codec.files import codes_to_faiss
from sphericalpca.codec.sizes import ByteChoice, BytePoint, choose_bytes

__all__ = ["ByteChoice", "BytePoint", "SearchResult", "SphericalCodec"]
__all__ += ["choose_bytes", "codes_to_faiss"]
