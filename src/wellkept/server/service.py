"""The parts of one running service, handed to every door."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from wellkept.aio import AsyncMemory
from wellkept.server.auth import Doorkeeper
from wellkept.server.live import Live
from wellkept.server.metrics import Metrics
from wellkept.server.settings import Settings


@dataclass(frozen=True)
class Service:
    """One memory, opened to the network."""

    memory: AsyncMemory
    settings: Settings
    doorkeeper: Doorkeeper
    live: Live
    metrics: Metrics = field(default_factory=Metrics)


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    return cast(Service, request.app.state.service)


Served = Annotated[Service, Depends(service_of)]
