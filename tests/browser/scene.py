"""A store with something on every page: conversations in both languages, facts with a past, summaries, jobs, spend."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from wellkept import Memory, Policy
from wellkept.session import Session
from wellkept.testing import FakeClock, FakeModel

NAMESPACE, USER = "acme", "alice"
HOSTILE = "<img src=x onerror=\"document.title='stolen'\"><script>document.title='stolen'</script>"
LABEL = '"><svg onload=alert(1)>'
START = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)

CHAT = [
    (
        "我小孩今年五岁，对恐龙特别着迷，周末想带他去自然博物馆。",
        "好主意！周末人多，可以提前预约上午的场次。",
    ),
    (
        "I am allergic to peanuts, so please keep that in mind for restaurants.",
        "Noted: no peanuts anywhere near lunch.",
    ),
    ("会议改到 3 月 12 日下午 3:30，地点在上海虹桥的 B2 会议室。", "记下了：3 月 12 日 15:30，虹桥 B2。"),
    (
        "The order number is AX-20931, the total was $1,249.50 and it must arrive before Friday.",
        "I will watch AX-20931.",
    ),
    ("房租每月 6500 元，合同到 2027 年 6 月 30 日。", "好的，合同到期前两个月我会提醒你。"),
    (
        "My flight to Lisbon leaves on March 20 at 07:45, gate not known yet.",
        "Safe travels; I will ask about the gate.",
    ),
    ("别忘了给妈妈买生日蛋糕，不要含坚果的。", "好，不含坚果的蛋糕。"),
    (
        "We moved the launch to April 2. Daniel will write the release notes.",
        "Launch April 2, release notes by Daniel.",
    ),
]


class Teller(FakeModel):
    """Summarises by keeping every other line, extracts what the scene wants kept, and fails where it is told to."""

    def __init__(self) -> None:
        super().__init__(self._tell)

    def _tell(self, call: Any) -> str | BaseException:
        if '"intent"' not in call.system:
            lines = [line.split(": ", 1)[1] for line in call.text.splitlines() if line.startswith("[")]
            return "\n".join(f"- {line}" for line in lines[::2])
        if "peanuts" in call.text:
            return json.dumps({"intent": "none", "memories": [PEANUTS]})
        if "forget" in call.text:
            return json.dumps({"intent": "forget", "memories": []})
        if "unreadable" in str(call.messages):
            return f"Sure! Here is what I found: {HOSTILE}"
        return json.dumps({"intent": "none", "memories": []})


PEANUTS = {
    "subject": "user", "attribute": "diet", "content": "The user is allergic to peanuts", "labels": ["diet"],
    "keywords": ["peanuts"], "quote": "I am allergic to peanuts",
}  # fmt: skip


def build(path: Path) -> dict[str, str]:
    """Write the store; the ids of its sessions."""
    clock = FakeClock(START)
    policy = Policy(
        debug_trace=4, summarize_every=6, recent_window_size=2, context_budget=1200, summary_share=0.12
    )
    with Memory(str(path), model=Teller(), clock=clock, policy=policy, worker=False) as memory:
        chat = memory.session(namespace=NAMESPACE, user=USER, title="周末、会议和 the launch")
        for question, answer in _turns():
            _say(chat, clock, question, answer)
            memory.run_jobs()
        hostile = memory.session(namespace=NAMESPACE, user=USER, title=HOSTILE)
        _say(hostile, clock, HOSTILE, HOSTILE)
        _say(hostile, clock, "I live in a small house and my handwriting is unreadable.", "I see.")
        _blocks(hostile)
        _facts(memory, clock)
        _say(chat, clock, "Please forget that I drive a blue Skoda.", "It is forgotten.")
        for _ in range(8):
            memory.run_jobs()
            clock.advance(hours=1)
        memory.session(namespace=NAMESPACE, user="bob <b>", title="Bob's").add_message(
            "user", "Only Bob knows."
        )
        return {"chat": chat.id, "hostile": hostile.id}


def _turns() -> Iterator[tuple[str, str]]:
    for lap in range(3):
        for question, answer in CHAT:
            yield (question, answer) if not lap else (f"{question} ({lap + 1})", answer)


def _say(chat: Session, clock: FakeClock, question: str, answer: str) -> None:
    chat.add_message("user", question, ts=clock.advance(hours=3))
    chat.get_context(question)
    chat.add_message("assistant", answer, ts=clock.advance(minutes=1))


def _blocks(chat: Session) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look_up", "arguments": '{"q": "<b>dinosaurs</b>"}'},
    }
    chat.add_messages(
        [
            {"role": "user", "content": "Look it up."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "<script>alert(2)</script> three museums"},
            {"role": "assistant", "content": "There are three."},
        ]
    )


def _facts(memory: Memory, clock: FakeClock) -> None:
    alice = memory.user(USER, namespace=NAMESPACE)
    home = alice.keep("Lives in Lisbon", attribute="home", labels=["home"], actor="user")[0].id
    clock.advance(days=1)
    alice.update(home, "Lives in Porto, near the river", actor="user")
    alice.keep("孩子五岁，喜欢恐龙", labels=["家庭", "孩子"], actor="app")
    alice.keep(f"Writes things like {HOSTILE}", labels=[LABEL], actor="app")
    pinned = alice.keep("Never schedule anything before 09:30", labels=["rules"], actor="user")[0].id
    alice.pin(pinned)
    for text in ("Has a sister called Lena in Hamburg", "Drives a blue 2014 Skoda", "每周三晚上打羽毛球"):
        alice.keep(text, actor="extract", labels=["life"])
        clock.advance(minutes=7)
    alice.delete(alice.keep("Once worked at a bakery", actor="app")[0].id, actor="user")
    alice.profile["user"] = f"Prefers short answers.\n{HOSTILE}"
    alice.profile["soul"] = "Calm, exact, a little dry."
