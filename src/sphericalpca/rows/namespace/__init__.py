"""Rows on a device that NumPy cannot address: their products are made there, by its library.

What has a row for each row of the data never leaves the device during a fit.  Matrices of m
rows, such as U and the gradient, travel once for each block of a pass; solvers hold them on
the host.
"""

from sphericalpca.rows.namespace.matrix import NamespaceMatrix
from sphericalpca.rows.namespace.rows import NamespaceRows

__all__ = ["NamespaceMatrix", "NamespaceRows"]
