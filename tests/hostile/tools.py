"""Tools that hang, fork, fill the memory, write past the log: standard library only, as every domain's."""

import os
import subprocess
import time
from typing import Any, Literal

from agentgym.tools import ToolError, tool
from agentgym.world import World

Json = dict[str, Any]


@tool(latency_ms=100)
def get(world: World, name: str) -> Json:
    """Read an item.

    Args:
        name: e.g. "apple"
    """
    row = world.row("SELECT * FROM items WHERE name = ?", name)
    if row is None:
        raise ToolError(f"there is no {name}")
    return row


@tool(writes=True)
def put(world: World, name: str, value: int, note: str | None = None) -> Json:
    """Write an item.

    Args:
        name: e.g. "apple"
        value: any number
        note: any text
    """
    world.execute(
        "INSERT INTO items VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET value = ?2, note = ?3",
        name,
        value,
        note,
    )
    return {"name": name, "value": value, "note": note}


@tool(writes=True)
def put_part(world: World, part_id: int, name: str, share: float) -> Json:
    """Write a part of an item, with bytes.

    Args:
        part_id: a number
        name: of the item
        share: a real number
    """
    world.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?)", part_id, name, share, bytes(range(256)))
    return {"part_id": part_id, "share": share}


@tool(writes=True)
def half(world: World, name: str) -> Json:
    """Write an item and fail.

    Args:
        name: of the item
    """
    world.execute("UPDATE items SET value = 99 WHERE name = ?", name)
    raise ToolError(f"{name} cannot be had")


@tool()
def hang(world: World, how: Literal["python", "stubborn", "sql", "sleep", "deaf"]) -> Json:
    """Never end.

    Args:
        how: in which way
    """
    if how == "sleep":
        time.sleep(3600)
    elif how == "sql":
        world.value("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
    elif how == "deaf":
        # One call into C that looks at no signal.
        sum(range(10**15))
    while True:
        try:
            sum(range(1000))
        except Exception:
            if how != "stubborn":
                raise


@tool(writes=True)
def spawn(world: World, count: int) -> Json:
    """Leave processes behind that write files for ever.

    Args:
        count: how many
    """
    script = "while true; do date > /tmp/left-$$; sleep 0.05; done"
    for _ in range(count):
        subprocess.Popen(["sh", "-c", script], start_new_session=True, stdout=subprocess.DEVNULL)
    return {"started": count}


@tool()
def fork_bomb(world: World) -> Json:
    """Fork until it fails, in every child too."""
    for _ in range(1000):
        if os.fork() == 0:
            while True:
                try:
                    os.fork()
                except OSError:
                    time.sleep(0.01)
    return {}


@tool()
def fill_memory(world: World) -> Json:
    """Take all the memory there is."""
    held = []
    while True:
        held.append(bytearray(1 << 24))


@tool(writes=True)
def crash(world: World) -> Json:
    """End the process."""
    os._exit(3)


@tool()
def bug(world: World) -> Json:
    """Fail as a tool must not."""
    rows: Json = {}
    return {"value": rows["missing"]}


@tool(writes=True)
def hide(world: World, name: str, value: int) -> Json:
    """Write an item and wipe the log.

    Args:
        name: of the item
        value: any number
    """
    world.execute("UPDATE items SET value = ? WHERE name = ?", value, name)
    world.execute("DELETE FROM _changes")
    return {"name": name}


@tool(writes=True)
def redefine(world: World) -> Json:
    """Change the schema."""
    world.execute("DROP TRIGGER _log_items_update")
    world.execute("CREATE TABLE extra (id INTEGER PRIMARY KEY)")
    return {}


@tool(writes=True)
def commit(world: World, name: str) -> Json:
    """Commit, which destroys the savepoints of episode and call.

    Args:
        name: of the item that is changed for good
    """
    world.execute("UPDATE items SET value = 77 WHERE name = ?", name)
    world.execute("COMMIT")
    return {}


@tool()
def peek(world: World, path: str) -> Json:
    """Read a file.

    Args:
        path: which
    """
    try:
        with open(path, encoding="utf-8") as file:
            return {"text": file.read(1000)}
    except OSError as error:
        raise ToolError(f"cannot read it: {type(error).__name__}") from error


@tool()
def litter(world: World, text: str) -> Json:
    """Leave files in every place that can be written, and print.

    Args:
        text: what
    """
    os.makedirs("/tmp/deep/er", exist_ok=True)
    for path in ("/tmp/one", "/tmp/deep/er/two"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    os.write(1, text.encode())
    return {"files": sorted(os.listdir("/tmp"))}


TOOLS = (
    get,
    put,
    put_part,
    half,
    hang,
    spawn,
    fork_bomb,
    fill_memory,
    crash,
    bug,
    hide,
    redefine,
    commit,
    peek,
    litter,
)
