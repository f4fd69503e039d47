"""A Kafka cluster for tests: starts the binary millstream-broker, and steers it by its control port."""

from ._binary import BinaryNotFound, find_binary
from ._cluster import Cluster, ControlError, StartError
from ._values import Broker, FaultState, LoggedRequest, Partition, Record, Status, Topic

__all__ = [
    "BinaryNotFound",
    "Broker",
    "Cluster",
    "ControlError",
    "FaultState",
    "LoggedRequest",
    "Partition",
    "Record",
    "StartError",
    "Status",
    "Topic",
    "find_binary",
]
