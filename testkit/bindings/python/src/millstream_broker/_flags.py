"""Options of a cluster as flags of the binary."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence, Union


def flags(
    *,
    brokers: int,
    topics: Union[Mapping[str, int], Sequence[str], str],
    config: Optional[Mapping[str, Union[str, int, float, bool]]],
    users: Optional[Mapping[str, str]],
    sasl: Union[Sequence[str], str],
    seed: Optional[int],
    arguments: Sequence[str],
) -> list[str]:
    if isinstance(arguments, str):
        raise TypeError(f"arguments is a list of flags, as in ['--as-version', '2.8'], not {arguments!r}")
    given = [f"--brokers={brokers}"]
    given += [f"--topic={topic}" for topic in _topics(topics)]
    given += [f"--set={key}={_text(value)}" for key, value in _pairs("config", config)]
    given += [f"--user={name}={password}" for name, password in _pairs("users", users)]
    given += [f"--sasl={mechanism}" for mechanism in _names(sasl)]
    given += [] if seed is None else [f"--seed={seed}"]
    return [*given, *arguments]


def _topics(topics: Union[Mapping[str, int], Sequence[str], str]) -> list[str]:
    if isinstance(topics, Mapping):
        return [f"{name}:{partitions}" for name, partitions in topics.items()]
    return _names(topics)


def _names(names: Union[Sequence[str], str]) -> list[str]:
    """A text is one name, not a list of letters."""
    return [names] if isinstance(names, str) else list(names)


def _pairs(option: str, pairs: Optional[Mapping]) -> list[tuple]:
    if pairs is None:
        return []
    if not isinstance(pairs, Mapping):
        raise TypeError(f"{option} is a dict, not {pairs!r}")
    return list(pairs.items())


def _text(value: Union[str, int, float, bool]) -> str:
    """As Kafka writes it: true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)
