"""The lock that searches take one after the other."""

from __future__ import annotations

import os
import threading
import time

import pytest

from wellkept import Memory, NotFound
from wellkept.core import Turns


def test_one_after_the_other() -> None:
    turns, inside, most = Turns(), 0, 0

    def work() -> None:
        nonlocal inside, most
        with turns:
            inside += 1
            most = max(most, inside)
            time.sleep(0.001)
            inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_search_that_failed_keeps_nobody_out() -> None:
    with Memory(":memory:", worker=False) as memory:
        alice = memory.user("alice", namespace="acme")
        for _ in range(2):
            with pytest.raises(NotFound):
                alice.search("x", session_id="not there")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_does_not_wait_for_a_thread_that_it_has_not() -> None:
    turns, held, let_go = Turns(), threading.Event(), threading.Event()

    def hold() -> None:
        with turns:
            held.set()
            let_go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        threading.Timer(5, os._exit, (1,)).start()
        with turns:
            os._exit(0)
    let_go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
