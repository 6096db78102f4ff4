"""Worst days, repeated on purpose: what they find is told in docs/reliability.md."""
