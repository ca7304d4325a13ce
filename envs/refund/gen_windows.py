"""Requests that the days decide: the last day to ask, by category, tier, notices, Sundays and holidays."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Any

from agentgym.envs.refund import calculator
from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_data import PLAIN_CATEGORIES, Row, reference
from agentgym.envs.refund.gen_gold import act, of
from agentgym.envs.refund.gen_request import Order, Request
from agentgym.envs.refund.gen_words import facts, mention
from agentgym.scenario import GoldAction

Actions = tuple[GoldAction, ...]

LAST_DAY = """
WITH RECURSIVE start(day) AS (SELECT substr(value ->> 'at', 1, 10) FROM json_each(:events) WHERE value ->> 'code' =
'delivered'),
days(n) AS (SELECT CASE :product ->> 'category' WHEN 'apparel' THEN 45 ELSE 30 END + CASE :customer ->> 'tier' WHEN
'silver' THEN 7
WHEN 'gold' THEN 15 ELSE 0 END/*notices*/),
later(day) AS (SELECT date(start.day, '+' || n || ' days') FROM start, days UNION ALL SELECT date(day, '+1 day') FROM
later
WHERE strftime('%w', day) = '0' OR day IN (SELECT value ->> 'day' FROM json_each(:holidays)))
SELECT max(day) FROM later
""".replace("\n", " ").strip()
"""Policy 2.1, 2.2, 2.4."""

_NOTICES = (
    " + (SELECT coalesce(sum(value ->> 'extra_days'), 0) FROM json_each(:notices), start "
    "WHERE start.day BETWEEN value ->> 'first_day' AND value ->> 'last_day')"
)
"""Policy 2.3, where the carrier has notices for the country."""


def last_day(i: int, noticed: bool) -> dict[str, Any]:
    """The last day to ask, of what was read about request *i*; *noticed*: there were notices."""
    found = {
        "sql": LAST_DAY.replace("/*notices*/", _NOTICES if noticed else ""),
        "events": of(f"way{i}", "$.events"),
        "product": of(f"product{i}"),
        "customer": of("customer"),
        "holidays": of("holidays", "$.holidays"),
    }
    return {**found, "notices": of(f"notices{i}", "$.notices")} if noticed else found


@cache
def _window_reads(i: int) -> tuple[Actions, Actions]:
    reads = gold.common(i)
    notices = act(
        "list_carrier_notices", f"notices{i}", carrier=of(f"way{i}", "$.carrier"), country=of("customer", "$.country")
    )
    line = gold.lines(i, 1)
    one = (*line, reads["product"], reads["tracking"], notices, gold.HOLIDAYS, reads["returns"])
    two = (
        reads["shipments"],
        *line,
        reads["product"],
        reads["tracking_b"],
        notices,
        gold.HOLIDAYS,
        reads["returns"],
        reads["claims"],
    )
    return one, two


def _told_day(i: int, noticed: bool, before: str, after: str) -> GoldAction:
    return act("respond", message={"sql": f"SELECT '{before}' || :day || '{after}'", "day": last_day(i, noticed)})


@cache
def _gold_late(i: int, noticed: bool, chinese: bool) -> Actions:
    if chinese:
        return (_told_day(i, noticed, "抱歉，超过了退货期限（outside window），最后一天是", "，无法退货。"),)
    return (
        _told_day(
            i,
            noticed,
            "I am sorry, that is outside the window: the last day to ask was ",
            ", so we cannot take it back.",
        ),
    )


SHOWN_DAYS = frozenset({"2026-01-01", "2026-01-31"})
"""Days that stand in the manuals: none to find out may be one."""


def noticed(case: Case) -> bool:
    """Whether the customer's carrier has notices for their country."""
    return any(
        (row["carrier"], row["country"]) == (case.country.carrier, case.country.code) for row in reference().notices
    )


def last_of(case: Case, category: str, delivered: date) -> date:
    """The last day to ask for goods of the case."""
    known = reference()
    notice = calculator.extra_days(delivered, case.country.carrier, case.country.code, known.notices)
    day = calculator.last_day(
        delivered, category, case.tier, notice, known.holidays.get(case.country.code, frozenset())
    )
    if day is None:
        raise ValueError(f"goods of the category {category!r} never come back")
    return day


def _delivered_for(case: Case, category: str, gap: int) -> date:
    """A delivery day whose last day to ask is *gap* days before the ticket's, if possible within a notice."""
    day = case.member.asked - timedelta(gap)
    start = day - timedelta(calculator.WINDOWS[category] + calculator.EXTRA_DAYS[case.tier])
    tries = [start - timedelta(back) for back in range(-1, 12)]
    lasts = [(each, last_of(case, category, each)) for each in tries]
    usable = [
        (each, last)
        for each, last in lasts
        if last.isoformat() not in SHOWN_DAYS and (last < case.member.asked) == (gap > 0)
    ]

    def fit(entry: tuple[date, date]) -> tuple[int, int, date]:
        each, last = entry
        plain = each + timedelta(calculator.WINDOWS[category] + calculator.EXTRA_DAYS[case.tier])
        return abs((last - day).days), -(last - plain).days, each

    return min(usable, key=fit)[0]


def outside_window(case: Case, i: int, hard: bool) -> Request:
    """Asked too late: refused, with the last day."""
    draw = case.draw
    product = case.products(PLAIN_CATEGORIES, 1)[0]
    delivered = _delivered_for(case, product["category"], draw.integers(1, 3) if hard else draw.integers(3, 12))
    request, order, last = _window(case, i, product, delivered, "outside-window", draw.integers(1, 3))
    request.code = "outside_window"
    checks.without(request, order, "create_return")
    request.final_state.append(checks.state(checks.NO_REFUND, 0, holds=True, id=order.id))
    request.wants.append(checks.want("create_return", item_id=order.items[0]["item_id"]))
    request.said.append(checks.on_day(last))
    request.writes = _gold_late(i, noticed(case), case.chinese)
    request.steps = (
        "Find the day of delivery and work out the last day to ask, with tier, notices, Sundays and holidays",
        "Refuse since the ticket was created later, and tell the last day",
    )
    return request


def _window(case: Case, i: int, product: Row, delivered: date, kind: str, quantity: int) -> tuple[Request, Order, date]:
    order = case.order([product], [quantity], delivered)
    request = Request(kind, order.id)
    where, name = mention(case, request, order), product["name"]
    request.ask.append(
        case.says(
            (
                f"I would like to send back the {name} from {where}, I changed my mind. Until which day could I "
                "ask for that?",
                f"The {name} of {where} is not for me after all; can it go back? And what is the last day for that?",
                f"Please take back the {name} of {where}, all of it. Tell me the last day to ask, too.",
                f"Can I still return what I bought with {where}, the {name}? Which day is the last one?",
            ),
            (
                f"{where}里的{name}我不想要了，想退货。最晚哪天可以申请？",
                f"我改主意了，{where}的{name}能退吗？截止日期是哪天？",
                f"请给{where}的{name}办理退货，全部退。最后期限是哪一天也请告诉我。",
            ),
        )
    )
    request.goal = f"Send back the {name} and know the last day for that"
    request.facts |= facts(case, i_reason=True)
    checks.looked_up(request, i, order, order.items[0])
    tracking = checks.call("get_tracking", shipment_id=order.parcels[0]["shipment_id"])
    checks.must_read(request, i, "delivery", tracking, "create_return" if kind != "outside-window" else "")
    request.reads = _window_reads(i)
    return request, order, last_of(case, product["category"], delivered)


@cache
def _gold_return(i: int, noticed: bool, chinese: bool) -> Actions:
    label = {
        "sql": "SELECT CASE :customer ->> 'tier' WHEN 'gold' THEN 'shop' ELSE 'customer' END",
        "customer": of("customer"),
    }
    arguments = {
        "item_id": of(f"line{i}_0", "$.item_id"),
        "quantity": of(f"line{i}_0", "$.quantity"),
        "reason": "change_of_mind",
        "label": label,
    }
    before, after = (
        ("退货已登记，申请的最后一天是", "。")
        if chinese
        else ("The return is registered. The last day to ask was ", ".")
    )
    return (*gold.confirmed("create_return", f"return{i}", arguments), _told_day(i, noticed, before, after))


def return_window(case: Case, i: int, hard: bool) -> Request:
    """Asked in time, if need be thanks to the tier, a notice, a Sunday or a holiday: a return, no money yet."""
    draw = case.draw
    product = case.products(PLAIN_CATEGORIES, 1)[0]
    gap = -draw.integers(0, 2) if hard else -draw.integers(0, 9)
    request, order, last = _window(case, i, product, _delivered_for(case, product["category"], gap), "return-window", 1)
    item, label = order.items[0], "shop" if case.tier == "gold" else "customer"
    sql = "SELECT label FROM returns WHERE item_id = :id AND reason = 'change_of_mind' AND quantity = 1"
    request.final_state += [
        checks.state(sql, label, "text", id=item["item_id"]),
        checks.state("SELECT count(*) FROM returns WHERE item_id = :id", 1, id=item["item_id"]),
        checks.state(checks.NO_REFUND, 0, holds=True, id=order.id),
    ]
    request.may_change.append(
        checks.insert(
            "returns",
            item_id=item["item_id"],
            quantity=1,
            reason="change_of_mind",
            label=label,
            status="open",
            received_at=None,
            condition=None,
            inspection_note=None,
        )
    )
    request.checkpoints.append(checks.reached(f"returned_{i}", sql, label, "text", id=item["item_id"]))
    request.wants.append(checks.want("create_return", item_id=item["item_id"]))
    request.said.append(checks.on_day(last))
    request.confirm.append("create_return")
    checks.without(request, order, "create_refund")
    request.writes = _gold_return(i, noticed(case), case.chinese)
    request.keys, request.pending = {"return_id": f"return{i}"}, True
    made = "SELECT return_id FROM returns WHERE item_id = :id"
    request.answer_state = {"return_id": checks.born(made, id=item["item_id"])}
    request.steps = (
        "Find the day of delivery and work out the last day to ask, with tier, notices, Sundays and holidays",
        "Get a yes and register the return with the label by tier; no money yet",
    )
    return request
