"""The refund desk's expert: the whole policy, several wishes, exceptions, hand-offs; no model. Only for Refund.

It reads the customer's words with keywords and everything else with tools. What it knows of the policy is code in
`_refund_policy`; it sees no scenario and no gold.
"""

from __future__ import annotations

from agentgym.baselines import _refund_rules as rules
from agentgym.baselines._refund_case import Case, Json
from agentgym.baselines._refund_money import CONFIRMED, Decision
from agentgym.baselines._refund_policy import Policy
from agentgym.baselines._refund_rules import money
from agentgym.baselines._refund_wishes import Wishes
from agentgym.baselines._refund_words import says
from agentgym.baselines._view import BUDGET, Scripted, View, main

_FRAUD_SCORE = 80


class Expert(Scripted):
    """Applies the policy to every wish, then acts.

    Args:
        budget: steps at most.
    """

    name = "expert"

    def __init__(self, budget: int = BUDGET) -> None:
        super().__init__(budget)

    def play(self, view: View) -> None:
        """Play the episode."""
        _Desk(Case(view)).work()


class _Desk:
    def __init__(self, case: Case) -> None:
        self.case, self.policy = case, Policy(case)
        self.refused: list[str] = []
        self.answer: Json = {}
        self.paid: dict[str, int] = {}
        self.currency = ""
        self.tells: list[str] = []
        self.wishes = Wishes(case)

    def work(self) -> None:
        opening = self.case.view.opening
        wishes = self.wishes.find(opening)
        self.refused += ["not_your_order" for _ in self.wishes.foreign]
        self.tells += [f"{name} is not your order." for name in self.wishes.foreign]
        if says("person", opening):
            # 7.1: only the second time; so it is settled before anything is paid.
            for ask in ("I can help you with that here.", "Shall I go on?"):
                self.case.say("我可以在这里直接帮您处理。" if self.case.chinese else ask)
                if sum(says("person", text) for text in self.case.heard) > 1:
                    self._hand_off("customer_requests_person")
        if says("injured", opening):
            self._hand_off("safety")
        if says("legal", opening):
            self._hand_off("legal_threat")
        if not wishes and not self.refused:
            self._not_found()
            return
        decisions = self._decisions(wishes)
        self._check_hand_off(decisions)
        done = [self._carry_out(decision) for decision in decisions]
        self._finish(decisions, any(done))

    # What is to be done.

    def _decisions(self, wishes: list[tuple[Json, str]]) -> list[Decision]:
        found: list[Decision] = []
        for order, text in wishes:
            self.currency = order["currency"]
            if says("cancel", text) and order["status"] in ("processing", "shipped"):
                found.append(self.policy.cancel(order))
            elif says("twice", text):
                found.append(self.policy.twice(order))
            elif (
                order["status"] == "delivered"
                and says("late", text)
                and not any(says(kind, text) for kind in ("missing", "damage", "back"))
            ):
                found.append(self.policy.late(order))
            else:
                found += self._items(order, text)
        return found

    def _items(self, order: Json, text: str) -> list[Decision]:
        entries = self.wishes.meant(order, text)
        made = [self.policy.decide(order, entry, text) for entry in entries]
        paying = [each for each in made if each.due and not each.code]
        if paying:
            self.policy.shipping(paying[-1], order)
        lost = any(tool == "file_carrier_claim" for each in made for tool, _ in each.writes) and says("missing", text)
        if lost and says("voucher", text):
            made.append(
                Decision(order["order_id"]).refuse(
                    "no_fault_found", "There is no voucher for a parcel that never came."
                )
            )
        return made

    # Hand-offs (7).

    def _check_hand_off(self, decisions: list[Decision]) -> None:
        photo = next((each for each in decisions if each.photo), None)
        if any(each.risky for each in decisions) or photo:
            risk = self.case.read("get_risk_profile", customer_id=self.case.customer_id)
            if (risk.get("fraud_score") or 0) >= _FRAUD_SCORE or any(
                row["status"] == "open" for row in risk.get("reviews", [])
            ):
                self._hand_off("fraud_suspected")
        if photo:
            self.case.write(
                "flag_fraud_review", order_id=photo.order_id, cause="The photo shows another product than was ordered."
            )
            self._hand_off("fraud_suspected")
        due = sum(each.due for each in decisions if not each.code)
        if due:
            limits = self.case.read("get_role_limits", role=self.case.role, currency=self.currency)
            refunds = self.case.read("list_refunds", customer_id=self.case.customer_id).get("refunds", [])
            if rules.over_limit(due, self.currency, limits, refunds, self.case.today):
                body = f"Amount due: {due} minor units of {self.currency}. It is above the limit of the desk."
                self.case.write("add_ticket_note", ticket_id=self.case.ticket_id, body=body)
                self._hand_off("over_limit")

    def _hand_off(self, reason: str) -> None:
        """Hand off with the facts: orders, goods, days of delivery, returns."""
        facts = [f"Ticket {self.case.ticket_id}, reason {reason.replace('_', ' ')}."]
        for name, order in self.wishes.seen.items():
            facts.append(f"Order {name}:")
            for entry in order["items"]:
                item = self.case.item(entry["item_id"])
                arrived = self.case.delivered(item)
                facts.append(
                    f"{entry['quantity']} x {entry['name']} ({entry['product_id']})"
                    + (f", delivered on {arrived}." if arrived else ".")
                )
            facts += [f"Return {row['return_id']} is {row['status']}." for row in self.case.returns(name)]
        self.case.say(
            "我会把您的请求转给同事处理。"
            if self.case.chinese
            else "I am passing this on to a colleague, who will get in touch with you."
        )
        self.case.view.call("hand_off", {"reason": reason, "summary": " ".join(facts)})

    # Acting.

    def _carry_out(self, decision: Decision) -> bool:
        """Do it; whether anything of what was asked took effect."""
        if decision.code:
            self.refused.append(decision.code)
        self.tells += decision.tells
        done = False
        for tool, arguments in decision.writes:
            agreed = tool not in CONFIRMED or self.case.confirmed(tool, arguments)
            if tool == "cancel_order" and says("stop", " ".join(self.case.heard[1:])):
                # They have changed their mind since the opening.
                self.tells.append(f"Nothing was cancelled; {money(decision.paid, self.currency)} are charged.")
                continue
            if not agreed:
                continue
            result = self.case.write(tool, **arguments)
            if not result:
                continue
            done |= tool in CONFIRMED or tool == "open_trace"
            if tool in (
                "create_refund",
                "refund_shipping",
                "issue_store_credit",
                "void_duplicate_charge",
                "cancel_order",
            ):
                amount = int(result.get("amount_minor") or result["refunded_minor"])
                self.paid[decision.order_id] = self.paid.get(decision.order_id, 0) + amount
                self.tells.append(f"{money(amount, self.currency)} go back to you.")
            self.answer |= {key: result[name] for key, name in decision.keys.items() if name in result}
        return done

    def _finish(self, decisions: list[Decision], done: bool) -> None:
        total = sum(self.paid.values())
        if total:
            self.answer |= {"refund_minor": total, "currency": self.currency}
            self.tells += [
                f"For order {name} that is {money(amount, self.currency)}." for name, amount in self.paid.items()
            ]
            self.tells.append(f"Together: {money(total, self.currency)}.")
        codes = sorted(set(self.refused), key=rules.CODES.index)
        if codes:
            self.tells.append("We cannot do this: " + ", ".join(code.replace("_", " ") for code in codes) + ".")
        if self.tells:
            self.case.say(" ".join(dict.fromkeys(self.tells)))
        # Waiting counts only for what took place or was refused for now.
        waits = any(each.waits and (each.code or done) for each in decisions)
        self.case.close("pending" if waits else "solved")
        if done or (not codes):
            self.answer |= {"refused": codes} if codes else {}
            self.case.view.finish("done", self.answer if done else {"result": "no_change"})
        self.case.view.finish("refused", {"reason": codes[0]})

    def _not_found(self) -> None:
        latest = self.case.orders[-1]["order_id"] if self.case.orders else ""
        self.case.say(
            "请问确认邮件的发件人是哪家商店？"
            if self.case.chinese
            else "Which shop sent the confirmation, and what is the order number?"
        )
        self.case.say(
            f"您没有这样的订单。您最近的订单是 {latest}。"
            if self.case.chinese
            else f"No order of yours fits. Your latest order is {latest}."
        )
        self.case.close("solved")
        self.case.view.finish("impossible", {"reason": "not_found"})


if __name__ == "__main__":
    main(Expert)
