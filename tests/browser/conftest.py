"""A real service on the scene, and a real browser before it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.browser.scene import NAMESPACE, USER, build
from tests.service import Process

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SLOW_MS = 20_000


@contextmanager
def serving(store: Path, *options: str) -> Iterator[str]:
    """`wellkept serve` on a store, in a process of its own; its address."""
    with Process("--store", str(store), *options) as service:
        yield service.url


@dataclass
class Tab:
    """A page of the browser, and whatever went wrong in it."""

    page: Any
    base: str
    faults: list[str] = field(default_factory=list)

    def open(self, name: str, **values: Any) -> Any:
        """Go to a page of the panel about the scene's user; the response."""
        return self.page.goto(self.base + address(name, **values), wait_until="load")


def address(name: str, **values: Any) -> str:
    return f"/{name}?{urlencode({'namespace': NAMESPACE, 'user': USER, **values})}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    # Not for the whole session: as long as it lives, playwright's event loop runs in this thread, and no other may.
    if CHROMIUM is None:
        pytest.skip("needs Chromium: tools/install_browser.sh")
    sync = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    with sync.sync_playwright() as playwright:
        # As root, in a container, Chromium's own sandbox cannot start.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def scene(tmp_path: Path, drawn: tuple[Path, dict[str, str]]) -> tuple[Path, dict[str, str]]:
    """A copy of the scene's store, to write to."""
    path, ids = drawn
    copy = tmp_path / "scene.db"
    shutil.copy(path, copy)
    return copy, ids


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("browser") / "scene.db"
    return path, build(path)


@pytest.fixture(scope="module")
def shared_service(chromium: Any, drawn: tuple[Path, dict[str, str]]) -> Iterator[str]:
    """A service on the scene that no test changes."""
    with serving(drawn[0], "--no-worker") as url:
        yield url


@pytest.fixture
def service(chromium: Any, scene: tuple[Path, dict[str, str]]) -> Iterator[str]:
    """A service on a scene of this test's own."""
    with serving(scene[0], "--no-worker") as url:
        yield url


Opener = Callable[..., Tab]


@pytest.fixture
def opened(chromium: Any) -> Iterator[Opener]:
    """Opens a tab on a service; at the end nothing may have gone wrong in any."""
    tabs: list[Tab] = []

    def open_tab(base: str, *, locale: str = "en-US", theme: str = "light", width: int = 1200) -> Tab:
        context = chromium.new_context(
            locale=locale,
            color_scheme=theme,
            viewport={"width": width, "height": 900},
            reduced_motion="reduce",
        )
        context.set_default_timeout(SLOW_MS)
        tab = Tab(context.new_page(), base)
        tabs.append(tab)
        _watch(tab)
        return tab

    yield open_tab
    faults = [fault for tab in tabs for fault in tab.faults]
    for tab in tabs:
        tab.page.context.close()
    assert faults == []


def _watch(tab: Tab) -> None:
    page = tab.page
    page.on("pageerror", lambda error: tab.faults.append(f"script error: {error}"))
    page.on("dialog", lambda dialog: (tab.faults.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    page.on(
        "console", lambda it: it.type in ("error", "warning") and tab.faults.append(f"console: {it.text}")
    )
    page.on(
        "request",
        lambda it: it.url.startswith(tab.base) or tab.faults.append(f"asked another host: {it.url}"),
    )
