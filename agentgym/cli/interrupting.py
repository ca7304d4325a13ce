"""Ctrl-C that is always seen."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

_AGAIN_S = 0.1
"""So long it may take until Python has acted on a signal; then it is sent again."""


@contextlib.contextmanager
def insistent_interrupts() -> Iterator[None]:
    """In this block, Ctrl-C ends every wait of the line editor; to be entered in the main thread.

    The editor waits for a key without looking for signals first: one that comes just before its wait, or while it calls
    a completer (whose exceptions it drops), would be seen at the next key only. But for each signal the interpreter
    writes a byte at once, wherever it is; who reads it here sends the signal again until the block is left.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    left = threading.Event()
    watcher = threading.Thread(target=_watch, args=(reader, threading.get_ident(), left), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(before)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _watch(reader: int, thread: int, left: threading.Event) -> None:
    while caught := os.read(reader, 64):
        if signal.SIGINT in caught:
            while not left.wait(_AGAIN_S):
                signal.pthread_kill(thread, signal.SIGINT)
