"""What the control port tells of, with types."""

from __future__ import annotations

import base64
from dataclasses import dataclass, fields
from typing import Any, Mapping, Optional, Type, TypeVar

Value = TypeVar("Value")


def of(kind: Type[Value], told: Mapping[str, Any]) -> Value:
    """A value of a dataclass; what is told beside its fields is left out."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in told.items() if name in names})


@dataclass(frozen=True)
class Broker:
    id: int
    state: str
    """running, paused, fenced, crashed or stopped."""
    is_up: bool
    is_hidden: bool
    is_paused: bool


@dataclass(frozen=True)
class Status:
    """The cluster at a glance."""

    bootstrap: str
    cluster_id: str
    time_ms: int
    controller: Optional[int]
    brokers: list[Broker]

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> "Status":
        return of(cls, {**told, "brokers": [of(Broker, each) for each in told["brokers"]]})


@dataclass(frozen=True)
class Partition:
    partition: int
    leader: Optional[int]
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    elr: list[int]
    """Eligible leader replicas (KIP-966)."""
    start_offset: int
    high_watermark: int
    end_offset: int


@dataclass(frozen=True)
class Topic:
    name: str
    id: str
    partitions: list[Partition]
    config: dict[str, str]
    """What it was given; the rest is as brokers have it."""

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> "Topic":
        return of(cls, {**told, "partitions": [of(Partition, each) for each in told["partitions"]]})


@dataclass(frozen=True)
class Record:
    """A committed record."""

    partition: int
    offset: int
    timestamp: int
    key: Optional[bytes]
    value: Optional[bytes]

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> "Record":
        key, value = (_bytes(told[name]) for name in ("key_base64", "value_base64"))
        return cls(told["partition"], told["offset"], told["timestamp"], key, value)


@dataclass(frozen=True)
class FaultState:
    """What became of a fault. `left` is None for one without an end."""

    id: int
    text: str
    used: int
    left: Optional[int]


@dataclass(frozen=True)
class LoggedRequest:
    """A request and what came of it. `request` and `response` are there when one was asked for by its number."""

    number: int
    at_ms: int
    answered_at_ms: Optional[int]
    node: int
    connection: int
    client_id: str
    api: str
    version: int
    correlation_id: int
    outcome: str
    fault: Optional[str]
    reason: Optional[str] = None
    """Why the connection was closed instead of an answer."""
    request: Optional[dict[str, Any]] = None
    response: Optional[dict[str, Any]] = None


def _bytes(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else base64.b64decode(text)
