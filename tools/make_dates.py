"""Write autograder/data/dates.json: how six languages write dates; names and patterns from CLDR, days in words."""

from __future__ import annotations

import json
from pathlib import Path

import babel
from babel import Locale
from babel.dates import parse_pattern

PATH = Path(__file__).parents[1] / "autograder" / "data" / "dates.json"
LANGUAGES = ("en", "de", "fr", "es", "it", "nl")
UNAMBIGUOUS = {"de": "medium", "fr": "short", "nl": "short"}  # in digits alone; 3/4 is another day elsewhere


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def english() -> list[str]:
    """First to thirty-first."""
    ones = words("first second third fourth fifth sixth seventh eighth ninth")
    teens = words("tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth")
    twenties = ["twentieth", *(f"twenty-{one}" for one in ones)]
    return [*ones, *teens, *twenties, "thirtieth", "thirty-first"]


def german() -> list[str]:
    """Erster to einunddreißigster: from 20 on, ones before tens."""
    small = words("erster zweiter dritter vierter fünfter sechster siebter achter neunter zehnter elfter zwölfter")
    stems = words("dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
    ones = words("ein zwei drei vier fünf sechs sieben acht neun")
    twenties = ["zwanzigster", *(f"{one}undzwanzigster" for one in ones)]
    return [*small, *(f"{stem}ter" for stem in stems), *twenties, "dreißigster", "einunddreißigster"]


def french() -> list[str]:
    """Premier, and then plain numbers, as in French dates."""
    small = words("premier deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize")
    teens = words("dix-sept dix-huit dix-neuf vingt")
    twenties = ["vingt et un", *(f"vingt-{one}" for one in small[1:9])]
    return [*small, *teens, *twenties, "trente", "trente et un"]


def spanish() -> list[str]:
    """Uno to treinta y uno."""
    small = words("uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince")
    teens = words("dieciséis diecisiete dieciocho diecinueve veinte")
    twenties = words("uno dós trés cuatro cinco séis siete ocho nueve")
    return [*small, *teens, *(f"veinti{one}" for one in twenties), "treinta", "treinta y uno"]


def italian() -> list[str]:
    """Primo, and then plain numbers, as in Italian dates."""
    small = words("primo due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici")
    teens = words("sedici diciassette diciotto diciannove venti")
    twenties = words("ventuno ventidue ventitré ventiquattro venticinque ventisei ventisette ventotto ventinove")
    return [*small, *teens, *twenties, "trenta", "trentuno"]


def dutch() -> list[str]:
    """Een to eenendertig: from 21 on, ones before tens."""
    small = words("een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien")
    twenties = [f"{one}{'ën' if one.endswith('e') else 'en'}twintig" for one in small[:9]]
    return [*small, "zeventien", "achttien", "negentien", "twintig", *twenties, "dertig", "eenendertig"]


DAYS_IN_WORDS = {"en": english, "de": german, "fr": french, "es": spanish, "it": italian, "nl": dutch}


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
        "days_in_words": DAYS_IN_WORDS[code](),
    }


def text() -> str:
    """The whole file."""
    tables = {code: language(code) for code in LANGUAGES}
    source = f"Unicode CLDR as in Babel {babel.__version__}; days in words by tools/make_dates.py"
    return json.dumps({"source": source, "languages": tables}, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
