"""Write autograder/data/dates.json: how six languages write dates; names and patterns from CLDR, days in words."""

import json
from pathlib import Path

import babel
from babel import Locale
from babel.dates import parse_pattern

PATH = Path(__file__).parents[1] / "autograder" / "data" / "dates.json"
UNAMBIGUOUS = {"de": "medium", "fr": "short", "nl": "short"}  # in digits alone; 3/4 is another day elsewhere
# The thirty-one days of a month. In French and Italian, dates have plain numbers but for the first.
DAYS_IN_WORDS = {
    "en": """
        first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth, thirteenth,
        fourteenth, fifteenth, sixteenth, seventeenth, eighteenth, nineteenth, twentieth, twenty-first, twenty-second,
        twenty-third, twenty-fourth, twenty-fifth, twenty-sixth, twenty-seventh, twenty-eighth, twenty-ninth, thirtieth,
        thirty-first
    """,
    "de": """
        erster, zweiter, dritter, vierter, fünfter, sechster, siebter, achter, neunter, zehnter, elfter, zwölfter,
        dreizehnter, vierzehnter, fünfzehnter, sechzehnter, siebzehnter, achtzehnter, neunzehnter, zwanzigster,
        einundzwanzigster, zweiundzwanzigster, dreiundzwanzigster, vierundzwanzigster, fünfundzwanzigster,
        sechsundzwanzigster, siebenundzwanzigster, achtundzwanzigster, neunundzwanzigster, dreißigster,
        einunddreißigster
    """,
    "fr": """
        premier, deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze, treize, quatorze, quinze, seize,
        dix-sept, dix-huit, dix-neuf, vingt, vingt et un, vingt-deux, vingt-trois, vingt-quatre, vingt-cinq, vingt-six,
        vingt-sept, vingt-huit, vingt-neuf, trente, trente et un
    """,
    "es": """
        uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce, trece, catorce, quince, dieciséis,
        diecisiete, dieciocho, diecinueve, veinte, veintiuno, veintidós, veintitrés, veinticuatro, veinticinco,
        veintiséis, veintisiete, veintiocho, veintinueve, treinta, treinta y uno
    """,
    "it": """
        primo, due, tre, quattro, cinque, sei, sette, otto, nove, dieci, undici, dodici, tredici, quattordici, quindici,
        sedici, diciassette, diciotto, diciannove, venti, ventuno, ventidue, ventitré, ventiquattro, venticinque,
        ventisei, ventisette, ventotto, ventinove, trenta, trentuno
    """,
    "nl": """
        een, twee, drie, vier, vijf, zes, zeven, acht, negen, tien, elf, twaalf, dertien, veertien, vijftien, zestien,
        zeventien, achttien, negentien, twintig, eenentwintig, tweeëntwintig, drieëntwintig, vierentwintig,
        vijfentwintig, zesentwintig, zevenentwintig, achtentwintig, negenentwintig, dertig, eenendertig
    """,
}


def field(pattern: str) -> str:
    """A CLDR pattern as a format string: `d MMMM y` → `{day} {month} {year}`."""
    names = {"EEEE": "weekday", "MMMM": "month", "MMM": "short_month", "MM": "month_02", "dd": "day_02", "d": "day"}
    text = parse_pattern(pattern).format  # "%(d)s %(MMMM)s %(y)s"
    for symbol, name in {**names, "y": "year"}.items():
        text = text.replace(f"%({symbol})s", f"{{{name}}}")
    assert "%" not in text, pattern
    return text


def language(code: str) -> dict[str, object]:
    """Everything about one language, in small letters."""
    locale = Locale.parse(code)
    patterns = {name: field(str(locale.date_formats[name].pattern)) for name in ("full", "long", "medium")}
    if code in UNAMBIGUOUS:
        patterns["digits"] = field(str(locale.date_formats[UNAMBIGUOUS[code]].pattern))
        if UNAMBIGUOUS[code] == "medium":
            patterns["medium"] = patterns["long"].replace("{month}", "{short_month}")
    in_words = patterns["long"].replace("{day}.", "{day_in_words}").replace("{day}", "{day_in_words}")
    return {
        "patterns": {**patterns, "words": in_words},
        "months": [name.lower() for _, name in sorted(locale.months["format"]["wide"].items())],
        "short_months": [name.lower() for _, name in sorted(locale.months["format"]["abbreviated"].items())],
        "weekdays": [name.lower() for _, name in sorted(locale.days["format"]["wide"].items())],
        "days_in_words": [" ".join(day.split()) for day in DAYS_IN_WORDS[code].split(",")],
    }


def text() -> str:
    """The whole file."""
    tables = {code: language(code) for code in DAYS_IN_WORDS}
    source = f"Unicode CLDR as in Babel {babel.__version__}; days in words by tools/make_dates.py"
    return json.dumps({"source": source, "languages": tables}, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
