"""Options of a cluster as flags of the binary."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, TypeVar, Union

Value = TypeVar("Value")


Setting = Union[str, int, float, bool]
# How many partitions, or all that a topic may have: `partitions`, `replication_factor`, `config`.
TopicOptions = Union[int, Mapping[str, Any]]
Topics = Union[Mapping[str, TopicOptions], Sequence[str], str]


def flags(
    *,
    brokers: int,
    topics: Topics,
    config: Optional[Mapping[str, Setting]],
    users: Optional[Mapping[str, str]],
    sasl: Union[Sequence[str], str],
    seed: Optional[int],
    arguments: Sequence[str],
) -> list[str]:
    if isinstance(arguments, str):
        raise TypeError(f"arguments is a list of flags, as in ['--as-version', '2.8'], not {arguments!r}")
    given = [f"--brokers={brokers}"]
    given += [f"--topic={topic}" for topic in _topics(topics)]
    given += [f"--set={key}={text(value)}" for key, value in pairs("config", config)]
    given += [f"--user={name}={password}" for name, password in pairs("users", users)]
    given += [f"--sasl={mechanism}" for mechanism in _names(sasl)]
    given += [] if seed is None else [f"--seed={seed}"]
    return [*given, *arguments]


def _topics(topics: Topics) -> list[str]:
    if isinstance(topics, Mapping):
        return [_topic(name, options) for name, options in topics.items()]
    return _names(topics)


def _topic(name: str, options: TopicOptions) -> str:
    if not isinstance(options, Mapping):
        return f"{name}:{options}"
    unknown = [key for key in options if key not in ("partitions", "replication_factor", "config")]
    if unknown:
        raise TypeError(f"a topic has no option {unknown[0]!r}; it has partitions, replication_factor, config")
    replicas = options.get("replication_factor")
    shape = f"{name}:{options.get('partitions', 1)}" + ("" if replicas is None else f":{replicas}")
    return shape + "".join(f",{key}={text(value)}" for key, value in pairs("config", options.get("config")))


def _names(names: Union[Sequence[str], str]) -> list[str]:
    """A text is one name, not a list of letters."""
    return [names] if isinstance(names, str) else list(names)


def pairs(option: str, given: Optional[Mapping[str, Value]]) -> list[tuple[str, Value]]:
    """What a dict has, and nothing where none is given."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"{option} is a dict, not {given!r}")
    return list(given.items())


def text(value: Setting) -> str:
    """As Kafka writes it: true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)
