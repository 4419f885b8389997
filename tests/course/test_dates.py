# ruff: noqa: E501 (a table; a text in other digits)
"""Dates are understood with their zone, as they are meant, or refused with what to write."""

import pytest

from autograder.course.config import CourseError
from autograder.course.dates import moment

LAST = "2026-12-10 22:59"
UNDERSTOOD = {  # in UTC
    "2026-12-10 23:59 Europe/Berlin": LAST,
    "  2026-12-10   23:59  europe/berlin ": LAST,
    "2026-12-10T23:59+01:00": LAST,
    "2026-12-10 23:59 +0100": LAST,
    "2026-12-10 23:59+1": LAST,
    "2026-12-10 23:59 UTC+1": LAST,
    "2026-12-10T22:59Z": LAST,
    "2026-12-10 22:59 utc": LAST,
    "2026-12-10 22:59 GMT": LAST,
    "2026-12-10 11:59 PM Europe/Berlin": LAST,
    "2026-12-10 11:59 p.m. Europe/Berlin": LAST,
    "2026/12/10 23:59 Europe/Berlin": LAST,
    "2026.12.10, 23:59 Europe/Berlin": LAST,
    "10 December 2026, 23:59 Europe/Berlin": LAST,
    "10. Dec 2026 23:59 Europe/Berlin": LAST,
    "Dec. 10, 2026 at 11:59pm Europe/Berlin": LAST,
    "Thursday, 10 December 2026, 23:59 Europe/Berlin": LAST,
    "2026-12-10 17:59 America/New York": LAST,
    "2026-12-11 04:29 Asia/Kolkata": LAST,
    "2026-12-10 17:59 Etc/GMT+5": LAST,  # whose sign is the other way round
    "2026-12-10 11 PM UTC": "2026-12-10 23:00",
    "2026-12-10 12:30 AM UTC": "2026-12-10 00:30",
    "2026-12-10 12:30 PM UTC": "2026-12-10 12:30",
    "2026-07-10 23:59 Europe/Berlin": "2026-07-10 21:59",
    "2026-12-10 Europe/Berlin": "2026-12-10 22:59:59",
    "2026-12-10 24:00 Europe/Berlin": "2026-12-10 23:00",
    "2026-10-25 02:30+02:00": "2026-10-25 00:30",
    "2026-10-25 02:30+01:00": "2026-10-25 01:30",
    "2026-10-25 Europe/Berlin": "2026-10-25 22:59:59",
    "2026-09-05 24:00 America/Santiago": "2026-09-06 04:00",  # where no day begins then
}
REFUSED = {
    "10/12/2026 11:59 PM": "“10/12/2026” may have the day or the month first. Write 2026-12-10 or 2026-10-12.",
    "12.10.2026": "Write 2026-10-12 or 2026-12-10.",
    "12-10-2026 23:59 UTC": "Write 2026-10-12 or 2026-12-10.",
    "25/12/2026 UTC": "Write 2026-12-25. For example",
    "11.11.2026 UTC": "Write 2026-11-11. For example",
    "45.99.2026 UTC": "is no date that is understood",
    "12/10/26 UTC": "is no date that is understood",
    "2026-12-10 23:59": "names no time zone. Write “2026-12-10 23:59 ",
    "2026-12-10": "names no time zone",
    "2026-12-10 11:59 PM": "names no time zone",
    "2026-12-10 23 Europe/Berlin": "is no date that is understood",
    "2026-12-10 23:59 Europe/Berln": "Did you mean `Europe/Berlin`",
    "2026-12-10 23:59 Berlin": "Did you mean `Europe/Berlin`?",
    "2026-12-10 23:59 CET": "An abbreviation may mean several",
    "2026-12-10 23:59 EST": "An abbreviation may mean several",
    "2026-12-10 23:59 Europe/Nowhere": "There is no time zone “Europe/Nowhere” here.",
    "2026-12-10 23:59 ../../etc/passwd": "is no date that is understood",
    "2026-12-10 23:59 +25:00": "No time zone is +25:00 from UTC",
    "2026-03-29 02:30 Europe/Berlin": "clocks are put forward then. Write an hour earlier or later.",
    "2026-10-25 02:30 Europe/Berlin": "comes twice, since clocks are put back then. Write “2026-10-25 02:30+0200” or “2026-10-25 02:30+0100”",
    "2026-02-29 23:59 UTC": "There is no moment",
    "2026-13-10 23:59 UTC": "There is no moment",
    "2026-12-10 25:00 UTC": "There is no moment",
    "2026-12-10 24:01 UTC": "There is no moment",
    "2026-12-10 23:59 PM UTC": "There is no moment",
    "2026-12-10 0:30 AM UTC": "There is no moment",
    "9999-12-31 23:59-05:00": "There is no moment",
    "0000-01-01 UTC": "There is no moment",
    "Friday, 10 December 2026 UTC": "10 December 2026 is a Thursday",
    "tomorrow": "is no date that is understood",
    "٢٠٢٦-12-10 23:59 UTC": "is no date that is understood",
    "": "is no date that is understood",
}  # fmt: skip


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_a_date_is_understood_as_it_is_meant(text: str) -> None:
    """The moment is right in UTC, and what is said of it is understood as the same moment."""
    found = moment(text)
    assert f"{found.utc:%Y-%m-%d %H:%M:%S}".removesuffix(":00") == UNDERSTOOD[text]
    assert found.utc.tzinfo is None and moment(found.text.partition(" (")[0]).utc == found.utc


@pytest.mark.parametrize("text", REFUSED)
def test_what_could_mean_two_moments_or_none_is_refused(text: str) -> None:
    """The reason names what to write instead, on one line."""
    with pytest.raises(CourseError) as caught:
        moment(text)
    assert REFUSED[text] in str(caught.value) and "\n" not in str(caught.value)
