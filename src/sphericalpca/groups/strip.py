"""Mails and posts without what is not theirs: headers, quotes, signatures."""

from __future__ import annotations

import re

__all__ = ["strip_mail"]

# A name of a field has any printable characters but a colon (RFC 5322), as in "Article-I.D.:".
HEADER = re.compile(r"[!-9;-~]+:(\s|$)|From ")
QUOTE = re.compile(r"\s*[>|]|In article\b|Quoted from\b|.*\b(writes|wrote|says|said)( in)?:?\s*$")
# A line that begins a signature, if so few lines come after it.
RULE, LONGEST = re.compile(r"\s*[-_=*#~]{2}[-_=*#~\s]*$"), 12


def strip_mail(text: str) -> str:
    """The body of a mail or post, without the lines that it quotes and without its signature."""
    lines = text.splitlines()
    if lines and HEADER.match(lines[0]):
        end = next((k for k, line in enumerate(lines) if not line.strip()), len(lines))
        # Lines of a header that is folded begin with a space.
        if all(HEADER.match(line) or line[:1].isspace() for line in lines[:end]):
            lines = lines[end:]
    rules = [k for k, line in enumerate(lines) if RULE.match(line)]
    ends = [k for k in rules if len(lines) - k <= LONGEST or lines[k].rstrip() == "--"]
    kept = lines[: min(ends, default=len(lines))]
    return "\n".join(line for line in kept if not QUOTE.match(line)).strip()
