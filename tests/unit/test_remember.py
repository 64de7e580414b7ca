from __future__ import annotations

import threading

from wellkept.policy.text.remember import remembered


def test_a_text_is_read_once_as_long_as_there_is_room() -> None:
    read: list[str] = []

    @remembered(10)
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length(text) for text in ("four", "four", "fives", "four", "six")] == [4, 4, 5, 4, 3]
    assert read == ["four", "fives", "six"]
    assert (length("four"), length("fives")) == (4, 5)
    assert read == ["four", "fives", "six", "fives"]
    assert length("much too long") == length("much too long") == 13
    assert read[4:] == ["much too long", "much too long"]


def test_what_threads_read_at_once_counts_once() -> None:
    both = threading.Barrier(2)
    read: list[str] = []

    @remembered(8)
    def length(text: str) -> int:
        read.append(text)
        if text == "four":
            both.wait(10)
        return len(text)

    threads = [threading.Thread(target=length, args=("four",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    length("five")
    length("four")
    assert read == ["four", "four", "five"]
