"""A real model behind an OpenAI-compatible server, where somebody names one: WELLKEPT_TEST_SERVER=http://127.0.0.1:8080/v1"""

from __future__ import annotations

import os

import pytest

from benchmarks.real_model import Listening, summarised
from wellkept.models import OpenAI

SERVER = os.environ.get("WELLKEPT_TEST_SERVER", "")
MODEL = os.environ.get("WELLKEPT_TEST_MODEL", "local")


@pytest.mark.optin
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not SERVER, reason="set WELLKEPT_TEST_SERVER to the address of a server")
@pytest.mark.parametrize("language", ["zh", "en"])
def test_whatever_a_real_model_does_nothing_is_lost(language: str) -> None:
    model = Listening(OpenAI(MODEL, base_url=SERVER, api_key="none", timeout=900))
    found, jobs = summarised(language, model, merges=1)
    assert model.heard and found.all > 5
    assert found.lost == 0
    assert [job.state for job in jobs] == ["done"]
