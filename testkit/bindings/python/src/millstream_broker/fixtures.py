"""Fixtures for pytest."""

from __future__ import annotations

from typing import Iterator

import pytest

from ._cluster import Cluster


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kafka_cluster(**options): options of the fixture `kafka_cluster`, as for Cluster")


@pytest.fixture
def kafka_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster for one test."""
    marker = request.node.get_closest_marker("kafka_cluster")
    if marker and marker.args:
        raise TypeError(f"the marker kafka_cluster takes options by name, as in kafka_cluster(brokers=3), not {marker.args!r}")
    with Cluster(**(marker.kwargs if marker else {})) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def shared_kafka_cluster() -> Iterator[Cluster]:
    """A cluster for all tests of a session; `cluster.reset()` makes it as new."""
    with Cluster(brokers=3) as cluster:
        yield cluster
