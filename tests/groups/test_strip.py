"""Headers, quotes and signatures go; everything else stays."""

import pytest

from sphericalpca.groups.texts import strip_mail

HEAD = "From: a@b.c (A B)\nSubject: Re: x\n folded line\nX-Long-Name: 1\n\n"


@pytest.mark.parametrize(
    ("mail", "body"),
    [
        (HEAD + "Hello there.\n\nMore.", "Hello there.\n\nMore."),
        ("Hello: this is no header.\nMore.\n\nEnd.", "Hello: this is no header.\nMore.\n\nEnd."),
        (HEAD + "In article <1@x> b writes:\n>yes\n> no\n | old\nNew words.", "New words."),
        ("She wrote:\n> yes\nI think so.", "I think so."),
        ("Text.\n-- \nName\nPlace", "Text."),
        ("Text.\n" + "line\n" * 40 + "--\n" + "x\n" * 30, ("Text.\n" + "line\n" * 40).strip()),
        ("Text.\n------\nName", "Text."),
        ("Table\n-----\n" + "row\n" * 40, ("Table\n-----\n" + "row\n" * 40).strip()),
        ("> all of it\n> is quoted", ""),
        ("", ""),
        (HEAD, ""),
    ],
)
def test_only_the_body_is_left(mail, body):
    assert strip_mail(mail) == body


def test_nothing_is_added_and_stripping_twice_changes_nothing():
    for mail in (HEAD + "Hello.\n> x\n", "no mail at all", "a\n\n\nb"):
        once = strip_mail(mail)
        assert set(once.splitlines()) <= set(mail.splitlines())
        assert strip_mail(once) == once


def test_long_lines_of_signs_take_no_time():
    """Once the time doubled with each sign that was not followed by the end of the line."""
    body = "-" * 5000 + "x"
    assert strip_mail(f"Before\n{body}\nafter") == f"Before\n{body}\nafter"


def test_fields_have_names_of_any_printable_characters():
    assert strip_mail("From: a@b\nArticle-I.D.: x.1993\nX_y: z\n\nThe body.") == "The body."
