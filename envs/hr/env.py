"""The HR API as a Gymnasium environment."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.envs.hr.generator import generate
from agentgym.envs.hr.presentation import HttpPresentation, TypedPresentation
from agentgym.envs.hr.tools import TOOLS
from agentgym.random import derive
from agentgym.scenario import Scenario, VetoRule


def _integer(value: Any) -> int:
    """An integer, and nothing that only equals one.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"expected an integer, got {value!r}")
    return operator.index(value)


Obfuscation = Literal[0, 1, 2, 3]
Level = Annotated[Obfuscation, BeforeValidator(_integer)]
ApiSeed = Annotated[int, BeforeValidator(_integer), Field(ge=0, lt=2**63)]
Role = Literal["employee", "manager", "hr_partner", "payroll_officer", "recruiter", "hr_admin"]


class Api(BaseModel):
    """How the API is spelt.

    Attributes:
        seed: names, paths and formats are drawn from it.
        obfuscate: 0 plain · 1 other formats, envelopes and paging · 2 other words as well · 3 invented words as well.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    seed: ApiSeed
    obfuscate: Level = 2


class HrCase(BaseModel):
    """The ``domain`` section of a scenario: for whom the agent works, and how the API is spelt.

    Attributes:
        caller: employee id of the person who asks; requests are made on their behalf.
        role: in which role.
        api: pinned in curated scenarios; without it, it is drawn from the episode's seed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    caller: str = Field(pattern=r"E\d+")
    role: Role = "employee"
    api: Api | None = None


class HrSettings(BaseModel):
    """What ``gym.make("HR-v0", …)`` and the options of a reset take besides.

    Attributes:
        obfuscate: overrides how far the API's spelling differs from the plain one.
        api_seed: overrides what the spelling is drawn from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    obfuscate: Level | None = Field(default=None, description="0, 1, 2 or 3, an integer, or left out")
    api_seed: ApiSeed | None = Field(default=None, description="an integer in 0..2**63-1, or left out")


_prepared: dict[tuple[int, Api], tuple[Scenario, Scenario]] = {}
_MOST = 512


def prepare(scenario: Scenario, seed: int, settings: HrSettings) -> Scenario:
    """The scenario with the API's spelling fixed, and the person and the spelling entered in the world."""
    case = HrCase.model_validate(scenario.domain)
    drawn = case.api or Api(seed=derive(seed, "api"), obfuscate=derive(seed, "obfuscate") % 4)  # type: ignore[arg-type]
    api = Api(
        seed=drawn.seed if settings.api_seed is None else settings.api_seed,
        obfuscate=drawn.obfuscate if settings.obfuscate is None else settings.obfuscate,
    )
    known = _prepared.get((id(scenario), api))
    if known is not None and known[0] is scenario:
        return known[1]
    patch = {
        **scenario.initial_state.patch,
        "session": {1: {"employee_id": case.caller, "role": case.role}},
        "api_style": {1: {"seed": api.seed, "level": api.obfuscate}},
    }
    made = scenario.model_copy(
        update={
            "domain": {**scenario.domain, "api": api.model_dump()},
            "initial_state": scenario.initial_state.model_copy(update={"patch": patch}),
        }
    )
    if len(_prepared) >= _MOST:
        _prepared.clear()
    # It holds on to the scenario, so that the id stays that one's.
    _prepared[id(scenario), api] = (scenario, made)
    return made


def _api(scenario: Scenario | None) -> tuple[int, int]:
    """Seed and level of an episode's spelling; the plain one before there is an episode."""
    api = scenario.domain.get("api") if scenario is not None else None
    return (api["seed"], api["obfuscate"]) if api is not None else (0, 0)


def _http(scenario: Scenario | None) -> HttpPresentation:
    return HttpPresentation(*_api(scenario))


def _typed(scenario: Scenario | None) -> TypedPresentation:
    return TypedPresentation(*_api(scenario))


def _briefing(scenario: Scenario) -> str:
    case = scenario.domain
    return f"You work for {case['caller']}, whose role is {case.get('role', 'employee').replace('_', ' ')}."


CONFIRMED = (
    "update_employee",
    "bulk_update_employees",
    "change_grade",
    "create_adjustment",
    "decide_leave",
    "decide_correction",
    "cancel_leave",
    "revoke_grant",
    "close_account",
)
"""Policy 1.5, whatever the arguments."""

CONFIRMED_MOVES = ("offer", "hired", "turned_down")
"""Policy 1.5: moves of a candidate that need a yes."""

WORLD_SIDE = (
    "agentgym.relay",
    "agentgym.text",
    *(
        f"agentgym.envs.hr.{name}"
        for name in (
            "access",
            "answers",
            "api",
            "arranging",
            "asking",
            "canonical",
            "docs",
            "docs_overview",
            "docs_text",
            "endpoints",
            "examples",
            "filled",
            "formats",
            "http_contained",
            "http_service",
            "layout",
            "naming",
            "openapi",
            "operations",
            "paging",
            "phrases",
            "problems",
            "reading",
            "records",
            "seed",
            "seed_data",
            "seed_hiring",
            "seed_pay",
            "seed_people",
            "seed_time",
            "style",
            "tools",
            "typed",
            "words",
            "world",
        )
    ),
)
"""What an image holds besides the tools: the documentation, the spelling, the HTTP service and the seed data."""

DOMAIN = Domain(
    name="hr",
    folder=Path(__file__).parent,
    tools=TOOLS,
    scenario_model=HrCase,
    generator=generate,
    vetoes=(
        VetoRule(call="delete_employee"),
        *(VetoRule(unconfirmed=name) for name in CONFIRMED),
        *(VetoRule(unconfirmed="move_candidate", arguments={"stage": stage}) for stage in CONFIRMED_MOVES),
    ),
    free_text=frozenset({"leave_requests.reason", "attendance_corrections.note", "adjustments.note", "pay_terms.note"}),
    volatile=frozenset(
        f"{table}.version"
        for table in (
            "employees",
            "contracts",
            "attendance_corrections",
            "leave_requests",
            "requisitions",
            "candidates",
        )
    ),
    caller="caller",
    briefing=_briefing,
    settings=HrSettings,
    prepare=prepare,
    presentations={"http": _http, "typed": _typed},
    forms={f"obfuscate={level}": {"obfuscate": level} for level in get_args(Obfuscation)},
    redrawn={"api_seed": 20_260_310},
    world_side=WORLD_SIDE,
)


class HrEnv(ToolEnv):
    """The HR desk of a company, behind an API that is spelt differently in each episode.

    ## Description
    Somebody at a company of about 400 people asks for a figure, a change or a decision. The agent works in their name
    through an HTTP API that it knows only from the documentation: it reads that, applies the written policy, looks
    things up page by page, asks for consent where the policy says so, and answers, refuses or hands off.

    ## Action Space
    One tool call: ``{"name": str, "arguments": dict | str}``; a plain string is said to the user. ``tools="http"`` (the
    default) offers ``list_docs``, ``read_docs(section)`` and ``http_request(method, path, query, headers, body)``,
    ``tools="typed"`` one typed tool for each endpoint, in the episode's spelling.

    ## Observation Space
    ``Dict(role, name, content, notices)``, all text. The first observation holds the policy and the opening message.

    ## Rewards
    ``reward="sparse"``: 1 on success, else 0. ``"shaped"``: half of it by checkpoints. A forbidden act brings the
    return to −1.

    ## Episode End
    Terminated by ``finish``, ``hand_off``, a forbidden act, or a user who leaves; truncated by the step budget or by 20
    invalid calls in a row.

    ## Arguments
    See `agentgym.ToolEnv`; besides ``obfuscate`` (0–3: how far the API's spelling is from the plain one) and
    ``api_seed`` (what the spelling is drawn from). Curated scenarios pin both; in training they are drawn from the
    episode's seed.

    ## Other Clients
    ``python -m agentgym.envs.hr.http_server`` serves the API to any HTTP client, with ``--docker`` from inside a
    container, with ``--scenario`` as an episode of that scenario begins; see ``images/README.md``. The judge sees
    steps alone, so nothing that is done there counts in an episode.

    ## Version History
    * v0: first version.
    """

    domain: ClassVar[Domain] = DOMAIN
