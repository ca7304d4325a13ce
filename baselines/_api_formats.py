"""How an API says that it writes dates, months, amounts, times and numbers, and what that means.

All of it is read off the JSON Schema and the sentence beside it ("a date DD.MM.YYYY such as 14.03.2026"). Days are
`date`, months ``"2026-03"``, amounts whole minor units, times whole minutes, numbers with two decimals hundredths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

Schema = Mapping[str, Any]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PARTS = {"YYYY": r"(?P<y>\d{4})", "Mon": r"(?P<b>[A-Z][a-z]{2})", "MM": r"(?P<m>\d\d)", "DD": r"(?P<d>\d\d)"}
_WITHOUT_MINOR = ("JPY", "KRW", "VND")


class Format:
    """One kind of value.

    Args:
        kind: ``date``, ``month``, ``money``, ``minutes``, ``hundredths``, ``bool``; anything else is as it is.
        schema: its schema, with a description.
    """

    def __init__(self, kind: str, schema: Schema) -> None:
        self.kind = kind
        self.type = str(schema.get("type", ""))
        self.values: list[Any] = list(schema.get("enum", ()))
        said = str(schema.get("description", ""))
        written = re.search(r"\ba (?:date|month) (\S+)", said)
        self.written = written[1] if written else ""
        self.pattern = str(schema.get("pattern", ""))
        self.example = example(said)
        parts = schema.get("properties", {})
        self.amount = next((name for name, part in parts.items() if "[0-9]" in part.get("pattern", "")), "")
        self.currency = next((name for name in parts if name != self.amount), "")

    def read(self, shown: Any, currency: str = "") -> Any:
        """The meaning of a shown value; *currency* is what an amount is in where it does not say so itself."""
        if shown is None:
            return None
        if self.kind in ("date", "month"):
            return self._read_date(shown)
        if self.kind == "money":
            code = shown[self.currency] if self.type == "object" else currency
            amount = shown[self.amount] if self.type == "object" else shown
            return int(amount) if self.type == "integer" else _scaled(amount, 0 if code in _WITHOUT_MINOR else 2)
        if self.kind == "minutes":
            return self._read_minutes(shown)
        if self.kind == "hundredths":
            return shown if self.type == "integer" else _scaled(str(shown), 2)
        if self.kind == "bool":
            return shown if isinstance(shown, bool) else shown == self.values[0]
        return shown

    def write(self, value: Any, currency: str = "") -> Any:
        """A value as shown: the inverse of `read`."""
        if self.kind in ("date", "month"):
            return self._write_date(value)
        if self.kind == "money" and self.type != "integer":
            amount = _decimal(value, 0 if currency in _WITHOUT_MINOR else 2)
            return amount if self.type == "string" else {self.amount: amount, self.currency: currency}
        if self.kind == "minutes" and self.type != "integer":
            clock = f"PT{value // 60}H{value % 60}M" if "PT" in self.pattern else f"{value // 60:02d}:{value % 60:02d}"
            return round(value / 60, 2) if self.type == "number" else clock
        if self.kind == "hundredths" and self.type != "integer":
            return value / 100 if self.type == "number" else _decimal(value, 2)
        if self.kind == "bool" and self.type != "boolean":
            return self.values[0 if value else 1]
        if self.type == "string" and isinstance(value, int):
            return f'"{value}"' if self.pattern.startswith('^"') else str(value)
        return value

    def _read_date(self, shown: str) -> Any:
        pattern = re.escape(self.written).replace(r"\-", "-")
        for part, group in _PARTS.items():
            pattern = pattern.replace(part, group)
        found = re.fullmatch(pattern, shown)
        if found is None:
            raise ValueError(f"expected {self.kind} as {self.written}, got {shown!r}")
        parts = found.groupdict()
        month = _MONTHS.index(parts["b"]) + 1 if parts.get("b") else int(parts["m"])
        day = date(int(parts["y"]), month, int(parts.get("d") or 1))
        return day if self.kind == "date" else day.isoformat()[:7]

    def _write_date(self, value: Any) -> str:
        day = value if isinstance(value, date) else date.fromisoformat(f"{value}-01")
        out = self.written.replace("Mon", _MONTHS[day.month - 1]).replace("YYYY", f"{day.year}")
        return out.replace("MM", f"{day.month:02d}").replace("DD", f"{day.day:02d}")

    def _read_minutes(self, shown: Any) -> int:
        if self.type == "integer":
            return int(shown)
        if self.type == "number":
            return int(round(shown * 60))
        hours, minutes = re.findall(r"\d+", shown)
        return int(hours) * 60 + int(minutes)


def example(said: str) -> str:
    """What stands behind "such as" in a sentence, without quotes and what follows; "" if nothing does."""
    found = re.search(r'such as "?([^"\s;,]+(?: \d\d:\d\d:\d\d)?)', said)
    return found[1] if found else ""


def _scaled(text: str, digits: int) -> int:
    found = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?", text)
    if found is None:
        raise ValueError(f"expected a decimal number, got {text!r}")
    minor = int(found[2]) * int(10**digits) + int((found[3] or "").ljust(digits, "0")[:digits] or 0)
    return -minor if found[1] else minor


def _decimal(value: int, digits: int) -> str:
    whole, part = divmod(abs(value), 10**digits)
    return ("-" if value < 0 else "") + (f"{whole}.{part:0{digits}d}" if digits else f"{whole}")
