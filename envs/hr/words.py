"""Words for the names of an API: the plain ones, short forms, synonyms, and invented ones.

A phrase is words with spaces between, to be joined in some case later. ``{employee}`` and its like stand for the word
that a style has chosen for that noun, so that one API calls one thing by one word.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

SHORT: Mapping[str, tuple[str, ...]] = {
    "account": ("account", "acct"),
    "adjustment": ("adjustment", "adj", "adjust"),
    "attendance": ("attendance", "att", "attend"),
    "candidate": ("candidate", "cand"),
    "contract": ("contract", "contr"),
    "correction": ("correction", "corr"),
    "department": ("department", "dept", "dep"),
    "employee": ("employee", "emp", "empl"),
    "grade": ("grade", "pay grade"),
    "grant": ("grant", "access grant"),
    "leave": ("leave",),
    "manager": ("manager", "mgr"),
    "partner": ("partner", "hr partner"),
    "payslip": ("payslip", "pay slip", "slip"),
    "request": ("request", "req"),
    "requisition": ("requisition", "reqn", "requis"),
    "run": ("run", "payrun"),
}
"""What level 1 may call a noun."""

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "account": ("login", "user account", "access account", "system account"),
    "adjustment": ("correction item", "pay change", "supplement", "variance", "one off item"),
    "attendance": ("time record", "presence", "time sheet", "work time", "clocking"),
    "candidate": ("applicant", "prospect", "contender", "job seeker"),
    "contract": ("agreement", "engagement", "terms", "employment agreement"),
    "correction": ("amendment", "rectification", "revision", "fix"),
    "department": ("unit", "division", "org unit", "team", "section", "branch"),
    "employee": ("worker", "associate", "colleague", "staff member", "person", "team mate"),
    "grade": ("band", "pay level", "tier", "salary class", "rank"),
    "grant": ("permission", "entitlement", "privilege", "authorisation"),
    "leave": ("absence", "time off", "away", "holiday"),
    "manager": ("lead", "supervisor", "head", "superior", "chief"),
    "partner": ("people partner", "adviser", "business partner", "hr contact"),
    "payslip": ("pay statement", "wage slip", "remittance", "earnings sheet"),
    "request": ("application", "filing", "claim", "petition"),
    "requisition": ("vacancy", "opening", "job", "position", "hiring case"),
    "run": ("cycle", "batch", "settlement", "payroll period"),
    "balance": ("quota", "credit", "allowance", "budget"),
    "change": ("move", "switch", "transition", "update"),
    "decision": ("ruling", "verdict", "outcome", "resolution"),
    "history": ("record", "past", "timeline", "log"),
    "me": ("whoami", "session", "self", "current user"),
    "member": ("membership", "roster", "crew", "belonging"),
    "pay": ("compensation", "salary", "remuneration", "wage"),
    "payroll": ("pay", "wages", "compensation", "salary"),
    "stage": ("phase", "step", "milestone", "pipeline step"),
    "summary": ("digest", "totals", "overview", "aggregate"),
    "type": ("kind", "category", "class", "sort"),
    "bulk": ("batch", "mass", "multiple", "group"),
    "overtime": ("extra time", "extra hours", "surplus time", "additional time"),
}
"""What level 2 may call it."""

SMALL: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "no", "ref", "key", "code", "number", "nr"),
    "on": ("on", "date", "day"),
    "by": ("by", "by id", "by ref"),
    "at": ("at", "time", "stamp", "timestamp"),
    "first": ("from", "start", "first", "begin"),
    "last": ("to", "end", "last", "till"),
    "date": ("date", "day"),
}
"""Small words that make up names; they vary from level 1 on. Of ``first`` and ``last`` the same place is taken."""

RESOURCES: Mapping[str, tuple[str, bool]] = {
    "accounts": ("{account}", True),
    "adjustments": ("{adjustment}", True),
    "attendance": ("{attendance}", False),
    "attendance-corrections": ("{attendance} {correction}", True),
    "attendance-summary": ("{attendance} {summary}", False),
    "bulk": ("{bulk}", False),
    "candidates": ("{candidate}", True),
    "contracts": ("{contract}", True),
    "decision": ("{decision}", False),
    "departments": ("{department}", True),
    "employees": ("{employee}", True),
    "grade-changes": ("{grade} {change}", True),
    "grades": ("{grade}", True),
    "grants": ("{grant}", True),
    "leave-balances": ("{leave} {balance}", True),
    "leave-requests": ("{leave} {request}", True),
    "leave-types": ("{leave} {type}", True),
    "me": ("{me}", False),
    "members": ("{member}", True),
    "pay": ("{pay}", False),
    "pay-history": ("{pay} {history}", False),
    "payroll-runs": ("{payroll} {run}", True),
    "payslips": ("{payslip}", True),
    "requisitions": ("{requisition}", True),
    "stage": ("{stage}", False),
}
"""Segment of a canonical path → its phrase, and whether it may stand in the plural."""

RECORD_WORDS: Mapping[str, str] = {
    "me": "{me}",
    "employee": "{employee}",
    "department": "{department}",
    "membership": "{department} {member}",
    "contract": "{contract}",
    "grade": "{grade}",
    "pay_structure": "{pay} structure",
    "attendance_day": "{attendance} day",
    "attendance_summary": "{attendance} {summary}",
    "attendance_correction": "{attendance} {correction}",
    "payslip": "{payslip}",
    "payroll_run": "{payroll} {run}",
    "adjustment": "{adjustment}",
    "leave_type": "{leave} {type}",
    "leave_balance": "{leave} {balance}",
    "leave_request": "{leave} {request}",
    "requisition": "{requisition}",
    "candidate": "{candidate}",
    "access_grant": "{grant}",
    "account": "{account}",
    "bulk_result": "{bulk} result",
    "deleted": "removal",
}

VERBS: Mapping[str, tuple[str, ...]] = {
    "get": ("get", "fetch", "read", "show", "retrieve"),
    "list": ("list", "search", "find", "query", "browse"),
    "create": ("create", "add", "new", "register", "enter"),
    "update": ("update", "modify", "edit", "amend", "set"),
    "delete": ("delete", "remove", "erase", "purge"),
    "decide": ("decide", "resolve", "rule", "settle"),
    "cancel": ("cancel", "withdraw", "retract", "revert"),
    "move": ("move", "advance", "shift", "transfer"),
    "change": ("change", "switch", "adjust", "alter"),
    "bulk_update": ("bulk update", "mass update", "update many", "batch edit"),
    "revoke": ("revoke", "take away", "strip", "drop"),
    "close": ("close", "disable", "shut", "deactivate"),
}

_ONSETS = (
    "b",
    "br",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "pr",
    "r",
    "s",
    "t",
    "tr",
    "v",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ou")
_CODAS = ("", "l", "m", "n", "r", "s", "x", "nd", "rk", "lt")


class Draw:
    """Choices that depend on a name and on nothing else, so that a new choice leaves the older ones as they were."""

    def __init__(self, name: str) -> None:
        self._base = hashlib.sha256(name.encode())

    def bits(self, name: str) -> int:
        """64 bits for *name*."""
        digest = self._base.copy()
        digest.update(b"/" + name.encode())
        return int.from_bytes(digest.digest()[:8], "big")

    def pick(self, name: str, options: Sequence[T]) -> T:
        """One of *options*, all equally likely."""
        return options[self.bits(name) % len(options)]

    def chance(self, name: str, percent: int) -> bool:
        """True in so many of 100 cases."""
        return self.bits(name) % 100 < percent

    def word(self, name: str) -> str:
        """An invented word of two syllables."""
        bits, out = self.bits(name), ""
        for _ in range(2):
            for parts in (_ONSETS, _VOWELS, _CODAS):
                bits, place = divmod(bits, len(parts))
                out += parts[place]
        return out


@lru_cache(maxsize=1 << 14)
def cased(phrase: str, case: str) -> str:
    """*phrase* in a case: ``snake`` ``camel`` ``pascal`` ``kebab`` ``upper`` (snake) ``title`` or ``dot``.

    >>> cased("cost centre", "camel"), cased("cost centre", "upper"), cased("cost centre", "title")
    ('costCentre', 'COST_CENTRE', 'Cost centre')
    """
    words = phrase.split()
    if case == "camel":
        return words[0] + "".join(word.capitalize() for word in words[1:])
    if case == "pascal":
        return "".join(word.capitalize() for word in words)
    if case == "title":
        return " ".join(words).capitalize()
    joined = {"snake": "_", "upper": "_", "kebab": "-", "dot": "."}[case].join(words)
    return joined.upper() if case == "upper" else joined


def plural(phrase: str) -> str:
    """*phrase* with its last word in the plural.

    >>> plural("vacancy"), plural("tax class"), plural("day"), plural("terms")
    ('vacancies', 'tax classes', 'days', 'terms')
    """
    if phrase.endswith("s") and not phrase.endswith("ss"):
        return phrase
    if phrase.endswith("y") and phrase[-2] not in "aeiou":
        return phrase[:-1] + "ies"
    return phrase + ("es" if phrase.endswith(("ss", "x", "ch", "sh")) else "s")
