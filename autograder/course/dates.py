"""Dates as instructors write them, and times as programs do."""

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from autograder.course.config import CourseError
from autograder.course.names import did_you_mean, printable

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAY = r"(?:(?P<weekday>(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)[.,]*\s+)?"
MONTH = rf"(?P<month>{'|'.join(MONTHS)})[a-z]*\.?"
TIME = (
    r"(?:(?:T|,?\s+(?:at\s+)?)(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?)?)?"
)
ZONE = r"(?:\s*(?P<offset>Z|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?)|\s+(?P<place>[A-Z][\w/+ -]*))?"
FORMS = tuple(
    re.compile(DAY + date + TIME + ZONE, re.IGNORECASE | re.ASCII)
    for date in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        rf"(?P<day>\d{{1,2}})\.?\s+{MONTH},?\s+(?P<year>\d{{4}})",
        rf"{MONTH}\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}})",
    )
)
EITHER_WAY = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})\b")  # day or month first: nobody knows
UNIVERSAL = ("UTC", "GMT", "Z")
LONGEST = 100  # letters of a date
RECORDED = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)"
    r"(?: ?(Z|[+-]\d\d:?\d\d)| ([A-Za-z]{1,20}(?:/\w{1,20})*))?",
    re.ASCII,
)


class Moment(NamedTuple):
    """A moment as it was understood: in UTC without a zone, as the gradebook keeps it, and as a text in both zones."""

    utc: datetime
    text: str


def recorded_time(text: str) -> datetime:
    """Read the time of a submission's timestamp.txt, as nbgrader or collect wrote it: in UTC, without a zone.

    Raises:
        ValueError: it is neither an ISO 8601 time nor one of nbgrader's, such as "2026-03-02 09:00:00.5 UTC".
    """
    form = RECORDED.fullmatch(text)
    if form is None:
        raise ValueError(f"{text[:LONGEST]!r} is no time")
    try:
        zone = UTC if form[2] in ("Z", None) else _offset(form[2])
        when = datetime.fromisoformat(form[1]).replace(tzinfo=ZoneInfo(form[3]) if form[3] else zone)
        return when.astimezone(UTC).replace(tzinfo=None)
    except (KeyError, ValueError, OverflowError, OSError, CourseError) as error:  # KeyError: no such zone
        raise ValueError(f"{text[:LONGEST]!r} is no time") from error


def moment(text: str) -> Moment:
    """Read a date with a time zone; without a time of the day it is the end of that day.

    nbgrader's own reading takes 12.10. for December, and a zone that it does not know for UTC.

    Raises:
        CourseError: it is no date, there is no such moment, or it could be another one.
    """
    words = printable(" ".join(text.split())[:LONGEST])
    parts = next((found.groupdict("") for form in FORMS if (found := form.fullmatch(words))), None)
    if parts is None or (parts["hour"] and not parts["minute"] and not parts["half"]):
        raise CourseError(_no_date(words))
    if not (parts["offset"] or parts["place"]):
        raise CourseError(
            f"“{words}” names no time zone. Write “{words} {_own_zone()}”, or “{words} UTC” if it is that."
        )
    zone = _offset(parts["offset"]) if parts["offset"] else _place(parts["place"])
    name = parts["month"].lower()[:3]
    month = MONTHS.index(name) + 1 if name in MONTHS else int(name)
    try:
        day = datetime(int(parts["year"]), month, int(parts["day"]), 23, 59, 59, fold=1, tzinfo=zone)
        local = _at(day, parts, words) if parts["hour"] else day
        utc = local.astimezone(UTC)
        text = _text(utc, zone)
    except (ValueError, OverflowError):
        raise CourseError(f"There is no moment “{words}”. {_example()}") from None
    if parts["weekday"] and not f"{day:%A}".lower().startswith(parts["weekday"].lower()[:3]):
        raise CourseError(f"{day.day} {day:%B %Y} is a {day:%A}, unlike “{words}”. Leave out the wrong one.")
    return Moment(utc.replace(tzinfo=None), text)


def _at(day: datetime, parts: Mapping[str, str], words: str) -> datetime:
    """A time of a day, if that day has it once.

    Raises:
        ValueError: no day has it.
        CourseError: this day does not have it, or has it twice, being one on which clocks are changed.
    """
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    if (hour, minute, second, parts["half"]) == (24, 0, 0, ""):
        return day.astimezone(UTC) + timedelta(seconds=1)
    if parts["half"]:
        if not 1 <= hour <= 12:
            raise ValueError("no hour of half a day")
        hour = hour % 12 + 12 * (parts["half"].lower() == "p")
    first = day.replace(hour=hour, minute=minute, second=second, fold=0)
    again = first.replace(fold=1)
    if first.utcoffset() == again.utcoffset():
        return first
    if first.astimezone(UTC).astimezone(first.tzinfo).replace(tzinfo=None) != first.replace(tzinfo=None):
        raise CourseError(f"There is no moment “{words}”: clocks are put forward then. Write an hour earlier or later.")
    ways = " or ".join(f"“{one:%Y-%m-%d %H:%M}{one:%z}”" for one in (first, again))
    raise CourseError(f"“{words}” comes twice, since clocks are put back then. Write {ways}.")


def _text(utc: datetime, zone: tzinfo) -> str:
    """A moment in its zone, with the day of the week, and in UTC."""
    local = utc.astimezone(zone)
    text = f"{local:%A}, {local.day} {local:%B %Y}, {_clock(local)} {zone}"
    return text if zone is UTC else f"{text} ({utc:%Y-%m-%d} {_clock(utc)} UTC)"


def _clock(when: datetime) -> str:
    return f"{when:%H:%M:%S}".removesuffix(":00")


def _offset(text: str) -> tzinfo:
    """The zone of an offset.

    Raises:
        CourseError: no zone is so far away.
    """
    digits = re.sub(r"[^0-9]", "", text)
    hours, minutes = divmod(int(digits), 100) if len(digits) > 2 else (int(digits or 0), 0)
    if hours > 14 or minutes > 59:
        raise CourseError(f"No time zone is {text} from UTC. {_example()}")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if "-" in text else offset)


def _place(words: str) -> tzinfo:
    """The zone of a name: Europe/Berlin, UTC.

    Raises:
        CourseError: there is none, or it is an abbreviation, which may mean several.
    """
    name = words.strip().replace(" ", "_")
    known = {zone.lower(): zone for zone in sorted(available_timezones()) if "/" in zone}
    if name.upper() in UNIVERSAL:
        return UTC
    if name.lower() in known:
        return ZoneInfo(known[name.lower()])
    cities = [zone for zone in known.values() if zone.rpartition("/")[2].lower() == name.lower()]
    hint = f" Did you mean `{cities[-1]}`?" if cities else did_you_mean([name], known.values())
    if name.isupper() and not hint:
        hint = " An abbreviation may mean several; write a place, or an offset such as +01:00."
    raise CourseError(f"There is no time zone “{words}” here.{hint} {_example()}")


def _no_date(words: str) -> str:
    """What to say of a text that is no date, or that may be several."""
    if (either := EITHER_WAY.search(words)) is not None:
        first, second, year = int(either[1]), int(either[2]), either[3]
        days = dict.fromkeys(((second, first), (first, second)))
        dates = [f"{year}-{month:02}-{day:02}" for month, day in days if 0 < month <= 12 and 0 < day <= 31]
        if dates:
            why = (
                "may have the day or the month first" if len(dates) > 1 else "is written in a way that is not read here"
            )
            return f"“{either[0]}” {why}. Write {' or '.join(dates)}. {_example()}"
    return f"“{words}” is no date that is understood here. {_example()}"


def _example() -> str:
    return f"For example: 2026-10-14 23:59 {_own_zone()}."


def _own_zone() -> str:
    """The zone of this machine, if it has a name."""
    path = os.path.realpath("/etc/localtime")
    name = os.environ.get("TZ", "") or path.rpartition("zoneinfo/")[2]
    return name if "/" in name and name in available_timezones() and not name.startswith("Etc/") else "Europe/Berlin"
