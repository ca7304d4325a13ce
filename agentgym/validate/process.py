"""V21–V25: the forbidden stays forbidden, consent is the user's, the innocent go free, nothing can be farmed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from agentgym.env import ToolEnv
from agentgym.errors import EpisodeError
from agentgym.hooks import Hook
from agentgym.presentation import DIRECT
from agentgym.reward import MODES, VETO_RETURN
from agentgym.scenario import Effect, Scenario, roomy
from agentgym.validate.forbidden import Agreeable, Forbidden, breaches, calls_of, confirms, rules_of
from agentgym.validate.graders import equivalents
from agentgym.validate.moves import Action, Tail, begin, current, go_on, own_reads
from agentgym.validate.registry import Finding, check
from agentgym.validate.sources import Forged, Unavailable
from agentgym.validate.subject import Played, Subject

_WRAPPED = 4
"""In so many scenarios the veto is also looked at through wrappers and vector environments."""


# V21


@check("V21", "absorbing veto")
def absorbing(subject: Subject) -> Finding:
    """After a forbidden act neither completing perfectly nor undoing it helps, and the return stays at the veto's."""
    finding, kinds, wrapped = Finding(), Counter[str](), 0
    envs: dict[tuple[str, Effect], ToolEnv] = {
        (mode, effect): subject.make(reward=mode, on_veto=effect, user=Agreeable())
        for mode in MODES
        for effect in ("flag", "end")
    }
    flagging = envs["sparse", "flag"]
    ruled = 0
    for scenario in subject.scenarios:
        ruled += bool(rules_of(subject, scenario) or scenario.secrets)
        for forbidden in breaches(subject, flagging, scenario):
            kinds[forbidden.kind] += 1
            for (mode, effect), env in envs.items():
                # Ends look alike in both modes, so acts take turns.
                if effect == "end" and not subject.full and mode != MODES[kinds.total() % len(MODES)]:
                    continue
                where = f"{scenario.id}, {forbidden.rule}, {mode}, {effect}"
                finding.failures += _through(env, forbidden, effect, where)
            finding.failures += _undone(flagging, forbidden)
            if wrapped < _WRAPPED:
                wrapped += 1
                finding.failures += _through_wrappers(subject, forbidden)
    for env in envs.values():
        env.close()
    if ruled and not kinds:
        finding.failures.append("no rule of any scenario could be broken, so nothing was tested")
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    finding.figure = f"{kinds.total()} acts ({listed or 'no rules'}), {wrapped} through wrappers and autoreset modes"
    return finding


def _through(env: ToolEnv, forbidden: Forbidden, effect: Effect, where: str) -> Iterator[str]:
    """Do the forbidden act and then gold's rest, and look at the return."""
    env.reset(seed=0, options={"scenario": forbidden.scenario})
    before = go_on(env, forbidden.before)
    act = go_on(env, [forbidden.act])
    if not act.infos[-1]["veto"]:
        yield f"{where}: no veto where flagging gave one"
        return
    total = sum(before.rewards) + sum(act.rewards)
    if not np.isclose(total, VETO_RETURN):
        yield f"{where}: the return at the veto is {total:g}"
    if effect == "end":
        if not act.ended or act.infos[-1]["end_reason"] != "veto":
            yield f"{where}: the episode did not end by the veto"
            return
        try:
            env.step(forbidden.act)
            yield f"{where}: a step after the veto went through"
        except EpisodeError:
            return
    rest = Tail([], [], True) if act.ended else go_on(env, forbidden.after)
    if any(rest.rewards):
        yield f"{where}: {sum(rest.rewards):+g} was paid after the veto"
    if env.episode_return != VETO_RETURN:
        yield f"{where}: the return is {env.episode_return:g} in the end"
    if any(info["success"] for info in rest.infos) or (env.verdict and env.verdict.success):
        yield f"{where}: a success after the veto"
    if any(not info["veto"] for info in rest.infos):
        yield f"{where}: the veto was forgotten"


def _undone(env: ToolEnv, forbidden: Forbidden) -> Iterator[str]:
    """Do the act, put the rows back as they were, and complete gold."""
    env.reset(seed=0, options={"scenario": forbidden.scenario})
    go_on(env, [*forbidden.before, forbidden.act])
    episode = current(env)
    if episode.end_reason:
        return
    for change in reversed(env.trace[-1].changes):
        if change.table.startswith("_") or (change.old is None and len(change.key) != 1):
            continue
        rows: Any = [change.old] if change.old is not None else {key: None for key in change.key}
        patch = {change.table: rows}
        episode.judge.after_call(episode.backend.apply(patch, "agent"))
    tail = go_on(env, forbidden.after)
    if tail.success or env.episode_return != VETO_RETURN:
        yield f"{forbidden.scenario.id}, {forbidden.rule}: undone, the return is {env.episode_return:g}"


def _through_wrappers(subject: Subject, forbidden: Forbidden) -> Iterator[str]:
    """The same through Gymnasium's wrappers and each autoreset mode."""
    where = f"{forbidden.scenario.id}, {forbidden.rule}"

    def make() -> gym.Env[Any, Any]:
        made = gym.make(subject.env_id, split="test", on_veto="flag", reward="shaped", user=Agreeable(), tools=DIRECT)
        return RecordEpisodeStatistics(TimeLimit(made, 1000))

    env = make()
    env.reset(seed=0, options={"scenario": forbidden.scenario})
    tail = go_on(env, [*forbidden.before, forbidden.act, *forbidden.after])
    recorded = tail.infos[-1].get("episode", {}).get("r") if tail.infos else None
    if (
        not tail.ended
        or not np.isclose(sum(tail.rewards), VETO_RETURN)
        or recorded is None
        or not np.isclose(recorded, VETO_RETURN)
    ):
        yield f"{where}: through wrappers the return is {sum(tail.rewards):g}, recorded as {recorded}"
    env.close()
    for mode in AutoresetMode:
        yield from _through_vector(SyncVectorEnv([make], autoreset_mode=mode), forbidden, f"{where}, {mode.value}")


def _through_vector(vector: SyncVectorEnv, forbidden: Forbidden, where: str) -> Iterator[str]:
    mode = vector.metadata["autoreset_mode"]
    vector.reset(seed=0, options={"scenario": forbidden.scenario})
    total, done = 0.0, False
    info: Mapping[str, Any] = {}
    for action in [*forbidden.before, forbidden.act, *forbidden.after]:
        _, rewards, terminations, truncations, info = vector.step((action,))
        total += float(rewards[0])
        done = bool(terminations[0] or truncations[0])
        if done:
            break
    last = info["final_info"] if mode == AutoresetMode.SAME_STEP and done else info
    if not done or not np.isclose(total, VETO_RETURN) or bool(last["success"][0]):
        yield f"{where}: ended {done}, return {total:g}"
    if mode == AutoresetMode.DISABLED:
        vector.reset(options={"reset_mask": np.array([True])})
    elif mode == AutoresetMode.NEXT_STEP:
        vector.step(("ignored",))
    _, rewards, _, _, info = vector.step(("Hello?",))
    if float(rewards[0]) < 0 or bool(info["veto"][0]):
        yield f"{where}: the veto went on into the next episode"
    vector.close()


# V22


@check("V22", "attempts")
def attempts(subject: Subject) -> Finding:
    """A forbidden call that is refused or broken is an attempt: nothing changes, and only some rules veto it."""
    finding, broken, blocked = Finding(), 0, 0
    blocking, env = subject.make(on_veto="block"), subject.make()
    for scenario in subject.scenarios:
        played = subject.golds[scenario.id][0]
        for rule in rules_of(subject, scenario):
            act = next(iter(calls_of(env, played, rule.call, rule.arguments)), None) if rule.call else None
            if act is None:
                continue
            where = f"{scenario.id}, {rule.label}: "
            broken += 1
            begin(env, played, 0, hooks=[Unavailable(act)], scenario=roomy(scenario))
            info = go_on(env, [act]).infos[-1]
            if info["veto_attempts"] != 1 or info["veto"] != rule.attempts:
                finding.failures.append(
                    f"{where}broken: {info['veto_attempts']} attempts, veto {info['veto']}, expected 1, {rule.attempts}"
                )
            blocked += 1
            begin(blocking, played, 0, scenario=roomy(scenario))
            info = go_on(blocking, [act]).infos[-1]
            if info["veto_attempts"] != 1 or info["veto"] or blocking.trace[-1].changes or blocking.trace[-1].ok:
                finding.failures.append(
                    f"{where}blocked: {info['veto_attempts']} attempts, veto {info['veto']}, expected 1, False"
                )
            elif not go_on(blocking, played.actions).success:
                finding.failures.append(f"{where}after a blocked attempt gold is no success")
    blocking.close()
    env.close()
    finding.figure = f"{broken} broken calls, {blocked} blocked ones"
    return finding


# V23


@check("V23", "confirmation")
def confirmation(subject: Subject) -> Finding:
    """Only the user's yes to exactly that call counts, for one effect, and a call that failed keeps it."""
    finding, kinds = Finding(), Counter[str]()
    env = subject.make(user=Agreeable(), on_veto="flag")
    for scenario in subject.scenarios:
        for played in subject.golds[scenario.id]:
            for asked, name in enumerate(
                a["arguments"]["tool"] if a["name"] == "confirm_with_user" else "" for a in played.actions
            ):
                if not name or not _needs_consent(subject, scenario, name):
                    continue
                written = _written_after(env, played, asked)
                if written is None:
                    continue
                for kind, problem in _consents(env, played, asked, written):
                    kinds[kind] += 1
                    finding.failures += [f"{scenario.id}, {name}, {kind}: {problem}"] if problem else []
    env.close()
    finding.figure = f"{kinds.total()} runs: " + (
        ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())) or "no consent needed"
    )
    return finding


def _needs_consent(subject: Subject, scenario: Scenario, name: str) -> bool:
    rules = {rule.unconfirmed for rule in rules_of(subject, scenario)}
    return name in rules or name in scenario.checks.process.confirm_before


def _written_after(env: ToolEnv, played: Played, asked: int) -> int | None:
    """Where gold makes the call that it asked for at *asked*, if that was the first time that it asked."""
    wanted = played.actions[asked]["arguments"]
    tool = env.domain.toolset[wanted["tool"]]

    def same(arguments: Mapping[str, Any]) -> bool:
        given = {name: value for name, value in tool.validate(arguments).items() if name != tool.idempotency}
        return given == {n: v for n, v in tool.validate(wanted["arguments"]).items() if n != tool.idempotency}

    if any(confirms(a, tool.name) and same(a["arguments"]["arguments"]) for a in played.actions[:asked]):
        return None
    later = enumerate(played.actions[asked:], asked)
    return next((at for at, a in later if a["name"] == tool.name and same(a["arguments"])), None)


def _consents(env: ToolEnv, played: Played, asked: int, written: int) -> Iterator[tuple[str, str]]:
    """(what was tried, what is wrong or "") for one confirmed write of gold."""
    actions, scenario = played.actions, roomy(played.scenario)
    name = actions[written]["name"]
    instead = {"name": "respond", "arguments": {"message": "Do you agree? Yes, I confirm."}}

    def run(steps: list[Action], hooks: tuple[Hook, ...] = ()) -> Tail:
        for hook in hooks:
            env.add_hook(hook)
        env.reset(seed=0, options={"scenario": scenario})
        return go_on(env, steps)

    # Gold may ask for the same more than once.
    asks = [at for at, action in enumerate(actions) if action == actions[asked]]
    without = [action for at, action in enumerate(actions) if at not in asks]
    words = [instead if at == asked else action for at, action in enumerate(actions) if at == asked or at not in asks]
    yield "only words", "a success" if run(words).success else ""
    yield "a forged result", "a success" if run(without, (Forged(),)).success else ""
    for other in _others(env, actions[written]):
        ask = {"name": "confirm_with_user", "arguments": {"tool": name, "arguments": other}}
        steps = [ask if action == instead else action for action in words]
        yield "other arguments", "a success" if run(steps).success else ""
    tail = run([*actions[: written + 1], actions[written], *actions[written + 1 :]])
    row = env.trace[written + 1] if len(env.trace) > written + 1 else None
    if row is not None and row.ok and not row.replayed and row.changes:
        yield "a second effect", "a success" if tail.success else ""
    tail = run([*actions[: written + 1], *actions[written:]], (Unavailable(actions[written]),))
    yield "kept by a failing call", "" if tail.success else f"no success, veto {tail.infos[-1]['veto_rule']!r}"


def _others(env: ToolEnv, action: Action) -> Iterator[dict[str, Any]]:
    """The arguments with one whole number changed."""
    tool = env.domain.toolset[action["name"]]
    for name, value in action["arguments"].items():
        if type(value) is int and name != tool.idempotency:
            yield {**action["arguments"], name: value + (-1 if value > 1 else 1)}
            return


# V24


@check("V24", "innocent")
def innocent(subject: Subject) -> Finding:
    """Gold, its equivalents and reads of the caller's own things raise no veto and count as no attempt."""
    finding, runs, read = Finding(), 0, 0
    for scenario in subject.scenarios:
        plays = [(f"gold[{plan}]", played) for plan, played in enumerate(subject.golds[scenario.id])]
        for kind, played in [*plays, *equivalents(subject, scenario)]:
            runs += 1
            info = played.infos[-1]
            if info["veto"] or info["veto_attempts"]:
                finding.failures.append(
                    f"{scenario.id}: {kind}: veto {info['veto_rule']!r}, {info['veto_attempts']} attempts"
                )
        actions, tail = own_reads(subject.env, scenario)
        read += len(actions)
        if tail.ended or any(info["veto"] or info["veto_attempts"] for info in tail.infos):
            finding.failures.append(
                f"{scenario.id}: reading own things: {json.dumps(actions[-1])} gave {tail.infos[-1]['veto_rule']!r}"
            )
    finding.figure = f"{runs} runs, {read} reads of own things"
    return finding


# V25


@check("V25", "no farming")
def no_farming(subject: Subject) -> Finding:
    """Each checkpoint pays once, no path pays more than gold, and every failure is worth less than every success."""
    finding, runs = Finding(), 0
    env = subject.make(reward="shaped", on_veto="flag")
    worst, best = 1.0, 0.0
    for scenario in subject.scenarios:
        for plan, played in enumerate(subject.golds[scenario.id]):
            where = f"{scenario.id}, plan {plan}: "
            runs += 1
            tail = begin(env, played, len(played.actions))
            finding.failures += [where + problem for problem in _farmed(tail)]
            worst = min(worst, sum(tail.rewards)) if tail.success else worst
            before_end = sum(tail.rewards[:-1])
            for name, path in _repeats(env, played):
                env.reset(seed=0, options={"scenario": roomy(scenario)})
                again = go_on(env, path)
                runs += 1
                finding.failures += [f"{where}{name}: {problem}" for problem in _twice(again)]
                if sum(again.rewards) > before_end + 1e-9:
                    finding.failures.append(
                        f"{where}{name}: a return of {sum(again.rewards):g}, gold has {before_end:g} there"
                    )
            for end in _wrong_ends(played.actions[-1]):
                begin(env, played, len(played.actions) - 1)
                failed = go_on(env, [end])
                runs += 1
                if not failed.success:
                    best = max(best, env.episode_return)
    env.close()
    if best >= worst:
        finding.failures.append(f"a failing episode returns {best:g}, a success {worst:g}")
    finding.figure = f"{runs} runs; failures return at most {best:g}, successes at least {worst:g}"
    return finding


def _farmed(tail: Tail) -> Iterator[str]:
    yield from _twice(tail)
    sums = np.cumsum(tail.rewards)
    if len(sums) and float(max(sums)) > float(sums[-1]) + 1e-9:
        yield f"a part of the path returns {max(sums):g}, the whole {sums[-1]:g}"


def _twice(tail: Tail) -> Iterator[str]:
    credited = [name for info in tail.infos for name in info["checkpoint_new"].split(",") if name]
    yield from (f"{name} was credited twice" for name, count in Counter(credited).items() if count > 1)


def _repeats(env: ToolEnv, played: Played) -> Iterator[tuple[str, list[Action]]]:
    """Gold's steps without the end, each done twice, and all done twice."""
    steps = played.actions[:-1]
    writes = {tool.name for tool in env.domain.tools if tool.writes}
    yield "each look twice", [action for action in steps for _ in range(1 if action["name"] in writes else 2)]
    yield "each step twice", [action for action in steps for _ in range(2)]
    yield "all steps twice", steps * 2


def _wrong_ends(last: Action) -> Iterator[Action]:
    """Ends that gold does not choose."""
    for outcome in ("done", "refused", "impossible"):
        if last["name"] != "finish" or last["arguments"].get("outcome") != outcome:
            yield {"name": "finish", "arguments": {"outcome": outcome}}
    yield {"name": "hand_off", "arguments": {"reason": "no_such_reason", "summary": "x"}}
