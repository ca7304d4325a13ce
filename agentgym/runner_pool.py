"""Processes that run trials. A worker that is killed costs its trial, not the run; no worker outlives the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection

from agentgym.errors import AgentGymError
from agentgym.runner_worker import Job, Worker
from agentgym.store import Failure, Outcome

Entry = tuple[int, Job]
Result = tuple[int, Job, Outcome | Failure]

_MOST_DEATHS = 5
"""So many workers that die in a row, with no trial ended in between, and the run gives up."""

_worker: Worker | None = None


class WorkersDiedError(AgentGymError):
    """Worker processes die before they can run anything."""


def run_in_pool(
    entries: Sequence[Entry], workers: int, on_start: Callable[[list[int]], None]
) -> Generator[Result, None, None]:
    """Run trials in processes and give each result as it comes.

    When a worker dies, nobody can say which of the running trials killed it, so each of them runs once more, alone; one
    that kills its worker alone is an infrastructure error.

    Args:
        entries: number and job of each trial.
        workers: number of processes, at least 1.
        on_start: called with the numbers of trials before they are handed to processes.

    Raises:
        WorkersDiedError: `_MOST_DEATHS` workers died in a row.
    """
    waiting, alone = deque(entries), deque[Entry]()
    running: dict[Future[Outcome | Failure], Entry] = {}
    deaths, solo = 0, False
    pool = _Pool(workers)
    try:
        while waiting or alone or running:
            solo = bool(alone) if not running else solo
            source, most = (alone, 1) if solo else (waiting, 2 * workers)
            batch = [source.popleft() for _ in range(min(len(source), most - len(running)))]
            if batch:
                on_start([number for number, _ in batch])
            for entry in batch:
                running[pool.submit(entry[1])] = entry
            killed: list[Entry] = []
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number, job = running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    killed.append((number, job))
                    continue
                deaths = 0
                yield number, job, result
            if killed:
                # The others in this pool are gone as well.
                killed += running.values()
                running.clear()
                deaths += 1
                if deaths == _MOST_DEATHS:
                    raise WorkersDiedError(
                        f"{deaths} worker processes died in a row (killed, or out of memory?); "
                        "what is missing can be run again, with fewer workers"
                    )
                pool.kill()
                pool = _Pool(workers)
                if solo and len(killed) == 1:
                    number, job = killed[0]
                    yield number, job, Failure("infrastructure", "its worker process died twice, the second time alone")
                else:
                    alone.extend(killed)
    finally:
        pool.kill()


class _Pool:
    """Worker processes that end when this object is killed, or when this process dies, however it dies."""

    def __init__(self, workers: int) -> None:
        # Spawned, not forked: a fork would copy the locks and threads of whoever calls this.
        context = multiprocessing.get_context("spawn")
        reader, self._writer = context.Pipe(duplex=False)
        self._reader = reader
        self._executor = ProcessPoolExecutor(workers, context, _start_worker, (reader,))

    def submit(self, job: Job) -> Future[Outcome | Failure]:
        # A Ctrl-C at the terminal goes to all processes of the group. It is for this one: a child inherits the mask.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._executor.submit(_run, job)
        except BrokenProcessPool as error:
            future: Future[Outcome | Failure] = Future()
            future.set_exception(error)
            return future
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def kill(self) -> None:
        """End all workers at once, in mid-trial."""
        self._writer.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._reader.close()


def _start_worker(life: Connection) -> None:
    """Prepare a worker process: standard output is not its own, and it ends when the run does."""
    global _worker
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    _worker = Worker()
    threading.Thread(target=_end_with, args=(life,), daemon=True).start()


def _end_with(life: Connection) -> None:
    try:
        life.recv_bytes()
    except (EOFError, OSError):
        # The other end is closed: the run was stopped or killed. A trial that is half done is of no use to anyone.
        os._exit(1)


def _run(job: Job) -> Outcome | Failure:
    if _worker is None:
        raise RuntimeError("_start_worker has not run in this process")
    return _worker.run(job)
