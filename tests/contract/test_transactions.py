"""``read`` and ``write`` of any store: one snapshot, one transaction, across threads, and a clear end."""

from __future__ import annotations

import threading

import pytest

from tests.contract.scene import ALICE, said
from wellkept.errors import StoreError
from wellkept.store.protocol import SessionRef, Store, Tables


def test_a_read_sees_one_moment(store: Store, ref: SessionRef) -> None:
    def write() -> None:
        store.write(lambda tables: tables.events.append(ref, [said()], at=1))
        written.set()

    def work(tables: Tables) -> tuple[int, int]:
        first = len(list(tables.events.walk(ref)))
        writer.start()
        written.wait(0.3)  # a store may let the writer through or make it wait for this read
        return first, len(list(tables.events.walk(ref)))

    written = threading.Event()
    writer = threading.Thread(target=write)
    assert store.read(work) == (0, 0)
    writer.join()
    assert len(store.read(lambda tables: list(tables.events.walk(ref)))) == 1


def test_a_read_inside_a_read_is_the_same_moment(store: Store, ref: SessionRef) -> None:
    def work(tables: Tables) -> int:
        return store.read(lambda inner: len(list(inner.events.walk(ref))))

    assert store.read(work) == 0


def test_a_write_inside_a_write_is_a_part_of_it(store: Store, ref: SessionRef) -> None:
    def append(text: str) -> None:
        store.write(lambda tables: tables.events.append(ref, [said(text)], at=1))

    def failing() -> None:
        append("taken back")
        raise ZeroDivisionError

    def work(tables: Tables) -> list[object]:
        append("kept")
        with pytest.raises(ZeroDivisionError):
            store.write(lambda _: failing())
        return store.read(lambda inner: [event.content for event in inner.events.walk(ref)])

    def broken(tables: Tables) -> None:
        append("never there")
        raise ZeroDivisionError

    assert store.write(work) == ["kept"]
    with pytest.raises(ZeroDivisionError):
        store.write(broken)
    assert [event.content for event in store.read(lambda tables: list(tables.events.walk(ref)))] == ["kept"]
    append("later")
    assert len(store.read(lambda tables: list(tables.events.walk(ref)))) == 2


def test_one_failing_writer_does_not_disturb_the_others(store: Store, ref: SessionRef) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(6)

    def good() -> None:
        start.wait()
        for _ in range(20):
            store.write(lambda tables: tables.events.append(ref, [said()], at=1))

    def bad() -> None:
        start.wait()
        for _ in range(20):
            with pytest.raises(ZeroDivisionError):
                store.write(lambda tables: (tables.events.append(ref, [said("bad")], at=1), 1 // 0))

    def run(work: object) -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in (good, bad, good, bad, good, good)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    events = store.read(lambda tables: list(tables.events.walk(ref)))
    assert len(events) == 80
    assert [event.seq for event in events] == list(range(1, 81)), (
        "a place that was taken back is given out again"
    )
    assert "bad" not in {event.content for event in events}


def test_a_closed_store_says_so(store: Store, ref: SessionRef) -> None:
    store.close()
    for work in (store.read, store.write):
        with pytest.raises(StoreError, match="closed"):
            work(lambda tables: tables.sessions.find(ALICE, "s1"))


def test_closing_twice_is_fine(store: Store) -> None:
    store.close()
    store.close()
