"""A cluster as a process, and what it can be made to do."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar, Union, cast

from ._binary import find_binary
from ._flags import Setting, Topics, flags, pairs, text
from ._values import Broker, FaultState, LoggedRequest, Record, Status, Topic, of

Effect = Union[str, Mapping[str, Any]]
Found = TypeVar("Found")

# The control port is on loopback, whatever proxy the environment names.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class StartError(RuntimeError):
    """The binary did not say that it is ready; the text is what it said instead."""


class ControlError(RuntimeError):
    """The control port refused something; the text says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status


class Cluster:
    """A cluster in a process of its own. It ends with `close`, with the `with` block, or with this process.

    `topics` are names, or names with their partitions, or with a dict of `partitions`, `replication_factor` and `config`; `config` are broker options by Kafka's keys; `users` have passwords, which
    `sasl` asks for, by mechanisms as SCRAM-SHA-256; `arguments` are any other flags of the binary, as `--help` tells them.
    """

    def __init__(
        self,
        *,
        brokers: int = 1,
        topics: Topics = (),
        config: Optional[Mapping[str, Setting]] = None,
        users: Optional[Mapping[str, str]] = None,
        sasl: Union[Sequence[str], str] = (),
        seed: Optional[int] = None,
        arguments: Sequence[str] = (),
        binary: Optional[str] = None,
    ) -> None:
        more = flags(brokers=brokers, topics=topics, config=config, users=users, sasl=sasl, seed=seed, arguments=arguments)
        command = [find_binary(binary), "--json", "--with-parent", "--control-port", "0", *more]
        # A file takes what it says however much that is; a pipe that nobody reads does not.
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True
        )
        ready = self._ready(command[0])
        self.bootstrap_servers: str = ready["bootstrap"]
        self.control_url: str = ready["control"]
        self.listeners: dict[str, str] = ready["listeners"]

    def _ready(self, binary: str) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        try:
            return json.loads(line)
        except ValueError:
            self.close()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        raise StartError(said or f"{binary} ended with {self._process.returncode} and no ready line: {line!r}")

    def __repr__(self) -> str:
        return f"<millstream_broker.Cluster at {self.bootstrap_servers}, control port {self.control_url}>"

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it; doing so twice is no mistake."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Asks the control port for anything that testkit/openapi.yaml names."""
        if not path.startswith("/"):
            raise ValueError(f"a path begins with a slash, as in '/topics', not {path!r}")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.control_url + path, data=data, method=method)
        try:
            with _OPENER.open(request, timeout=60) as response:
                text = response.read().decode()
                is_json = response.headers.get_content_type() == "application/json"
        except urllib.error.HTTPError as error:
            raise ControlError(error.code, json.loads(error.read())["error"]) from None
        except urllib.error.URLError as error:
            raise ConnectionError(f"{method} {path}: {self!r} does not answer ({error.reason}); {self._life()}") from error
        return json.loads(text) if is_json else text

    def _life(self) -> str:
        code = self._process.poll()
        return "its process runs" if code is None else f"its process has ended with {code}"

    def description(self) -> str:
        """What the control port takes and answers: its OpenAPI file."""
        return cast(str, self.ask("GET", "/openapi.yaml"))

    # Looking

    def status(self) -> Status:
        """The cluster at a glance."""
        return Status.told(self.ask("GET", "/"))

    def brokers(self) -> list[Broker]:
        return self.status().brokers

    def topic(self, name: str) -> Topic:
        return Topic.told(self.ask("GET", f"/topics/{_part(name)}"))

    def topics(self) -> list[Topic]:
        return [Topic.told(each) for each in self.ask("GET", "/topics")]

    def records(self, topic: str) -> list[Record]:
        """What a reader of committed records finds in a topic, by partition and offset."""
        return [Record.told(each) for each in self.ask("GET", f"/topics/{_part(topic)}/records?limit=1000000")]

    def wait_for_records(self, topic: str, count: int, timeout: float = 30) -> list[Record]:
        return self._wait(lambda: self.records(topic), count, timeout, f"records in {topic}")

    def requests(self, api: Optional[str] = None, *, node: Optional[int] = None, client_id: Optional[str] = None) -> list[LoggedRequest]:
        """The last requests, oldest first."""
        asked = {"api": api, "node": node, "client_id": client_id, "limit": 10_000}
        query = urllib.parse.urlencode({name: value for name, value in asked.items() if value is not None})
        return [of(LoggedRequest, each) for each in self.ask("GET", f"/requests?{query}")]

    def wait_for_requests(self, api: str, count: int, timeout: float = 30) -> list[LoggedRequest]:
        return self._wait(lambda: self.requests(api), count, timeout, f"requests of {api}")

    def request(self, number: int) -> LoggedRequest:
        """A request with all its fields and those of its answer."""
        return of(LoggedRequest, self.ask("GET", f"/requests/{number}"))

    def picture(self, number: int) -> str:
        """A request and its answer, drawn value by value."""
        return cast(str, self.ask("GET", f"/requests/{number}/picture"))

    def count(self, api: str) -> int:
        return cast(int, self.ask("GET", f"/requests/count?api={_part(api)}")["count"])

    def coverage(self) -> dict[str, Any]:
        """Which APIs, versions and error codes were met."""
        return cast("dict[str, Any]", self.ask("GET", "/coverage"))

    def coverage_text(self) -> str:
        """The same as a table."""
        return cast(str, self.ask("GET", "/coverage.txt"))

    # Faults

    def add_faults(
        self,
        api: Optional[str],
        *steps: Effect,
        node: Optional[int] = None,
        group: Optional[str] = None,
        partition: Optional[tuple[str, int]] = None,
        client_id: Optional[str] = None,
        rtt_ms: int = 0,
        times: Optional[int] = 1,
    ) -> int:
        """What becomes of the next requests: each step is an effect, for `times` requests (None: all that come).

        An effect is `"disconnect"`, `{"error": "NOT_LEADER_OR_FOLLOWER"}`, `{"delay_ms": 50}` or another that `FaultStep` in
        testkit/openapi.yaml names. `partition` is a topic and a number: `("orders", 0)`.
        """
        plan: dict[str, Any] = {"api": api, "node": node, "group": group, "client_id": client_id}
        plan["steps"] = [{"do": step, "rtt_ms": rtt_ms, "times": times} for step in steps]
        if partition is not None:
            plan["partition"] = _in_topic(partition)
        return cast(int, self.ask("POST", "/faults", plan)["id"])

    def faults(self) -> list[FaultState]:
        return [of(FaultState, each) for each in self.ask("GET", "/faults")]

    def clear_faults(self) -> None:
        self.ask("DELETE", "/faults")

    def assert_faults_used(self) -> None:
        """Fails if a fault that was to happen did not."""
        unused = [state for state in self.faults() if (state.used == 0 if state.left is None else state.left > 0)]
        assert not unused, f"these faults were not used up: {unused}"

    def set_link(self, broker: int, *, client_id: Optional[str] = None, **conditions: Any) -> None:
        """latency_ms, jitter_ms, bytes_per_second, split_bytes, stalls_to_broker, stalls_to_client."""
        query = f"?client_id={_part(client_id)}" if client_id else ""
        self.ask("PUT", f"/brokers/{broker}/link{query}", conditions)

    def heal_link(self, broker: int, *, client_id: Optional[str] = None) -> None:
        """For all clients, or for that one alone."""
        query = f"?client_id={_part(client_id)}" if client_id else ""
        self.ask("DELETE", f"/brokers/{broker}/link{query}")

    def reset_connections(self, broker: int) -> None:
        self.ask("POST", f"/brokers/{broker}/link/reset")

    def link(self, broker: int, *, client_id: Optional[str] = None) -> dict[str, Any]:
        """What the link between clients and a broker does to bytes."""
        query = f"?client_id={_part(client_id)}" if client_id else ""
        return cast("dict[str, Any]", self.ask("GET", f"/brokers/{broker}/link{query}"))

    def half_open(self, broker: int) -> None:
        """Lets a broker forget all its connections without a word."""
        self.ask("POST", f"/brokers/{broker}/link/half-open")

    def fault(self, id: int) -> FaultState:
        return of(FaultState, self.ask("GET", f"/faults/{id}"))

    def remove_fault(self, id: int) -> None:
        self.ask("DELETE", f"/faults/{id}")

    # Topology and time

    def add_broker(self) -> int:
        """Adds a broker to the running cluster, and says which."""
        return cast(int, self.ask("POST", "/brokers")["id"])

    def remove_broker(self, broker: int) -> None:
        """Takes a broker out of the cluster; a restart brings it back."""
        self.ask("DELETE", f"/brokers/{broker}")

    def crash(self, broker: int) -> None:
        self.ask("POST", f"/brokers/{broker}/crash")

    def stop(self, broker: int) -> None:
        """Takes a broker down in order: others lead what it led before it goes."""
        self.ask("POST", f"/brokers/{broker}/stop")

    def restart(self, broker: int) -> None:
        self.ask("POST", f"/brokers/{broker}/restart")

    def pause(self, broker: int) -> None:
        self.ask("POST", f"/brokers/{broker}/pause")

    def resume(self, broker: int) -> None:
        self.ask("POST", f"/brokers/{broker}/resume")

    def hide(self, broker: int) -> None:
        """Leaves a broker out of what Metadata names."""
        self.ask("POST", f"/brokers/{broker}/hide")

    def show(self, broker: int) -> None:
        self.ask("POST", f"/brokers/{broker}/show")

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication_factor: Optional[int] = None,
        config: Optional[Mapping[str, Setting]] = None,
    ) -> Topic:
        """Makes a topic; `config` are topic options by Kafka's keys."""
        given = {key: text(value) for key, value in pairs("config", config)}
        body = {"name": name, "partitions": partitions, "replication_factor": replication_factor, "config": given}
        return Topic.told(self.ask("POST", "/topics", body))

    def recreate_topic(self, name: str) -> None:
        self.ask("POST", f"/topics/{_part(name)}/recreate")

    def delete_topic(self, name: str) -> None:
        self.ask("DELETE", f"/topics/{_part(name)}")

    def corrupt(self, topic: str, partition: int, offset: int) -> None:
        """Flips a bit in the stored batch that holds an offset."""
        self.ask("POST", f"/topics/{_part(topic)}/corrupt", {"partition": partition, "offset": offset})

    def compact(self, topic: str) -> None:
        """Compacts a topic now, as if all its segments were full."""
        self.ask("POST", f"/topics/{_part(topic)}/compact")

    def apply_retention(self) -> None:
        """Deletes now what topics keep no longer."""
        self.ask("POST", "/retention")

    def move_leader(self, topic: str, partition: int, broker: Optional[int], *, keeps_epoch: bool = False) -> None:
        """Lets a broker lead a partition, or nobody; with `keeps_epoch` without a new leader epoch."""
        body = {"topic": topic, "partition": partition, "node": broker, "keeps_epoch": keeps_epoch}
        self.ask("POST", "/topology/leader", body)

    def bump_leader_epoch(self, topic: str, partition: int) -> None:
        self.ask("POST", "/topology/leader-epoch", {"topic": topic, "partition": partition})

    def push_leader_answer(self, topic: str, partition: int, broker: int, leader_epoch: int) -> None:
        """Lets the next Metadata answer tell this leader of a partition, whatever is true."""
        body = {"topic": topic, "partition": partition, "node": broker, "leader_epoch": leader_epoch}
        self.ask("POST", "/topology/leader-answer", body)

    def elect_unclean(self, topic: str, partition: int) -> None:
        """Lets any replica that is up lead a partition."""
        self.ask("POST", "/topology/unclean-election", {"topic": topic, "partition": partition})

    def hold_follower(self, topic: str, partition: int, broker: int) -> None:
        """Lets a follower fetch no longer."""
        self.ask("POST", "/topology/follower/hold", {"topic": topic, "partition": partition, "node": broker})

    def release_follower(self, topic: str, partition: int, broker: int) -> None:
        self.ask("POST", "/topology/follower/release", {"topic": topic, "partition": partition, "node": broker})

    def advance_follower(self, topic: str, partition: int, broker: int, offset: int) -> None:
        """Lets a follower that is held fetch up to an offset."""
        body = {"topic": topic, "partition": partition, "node": broker, "offset": offset}
        self.ask("POST", "/topology/follower/advance", body)

    def set_follower_start(self, topic: str, partition: int, broker: int, offset: int) -> None:
        """Lets a follower's log begin at an offset."""
        body = {"topic": topic, "partition": partition, "node": broker, "offset": offset}
        self.ask("POST", "/topology/follower/start", body)

    def move_controller(self, broker: int) -> None:
        self.ask("POST", "/topology/controller", {"node": broker})

    def hold_markers(self) -> None:
        """From here on transactions that end stay prepared."""
        self.ask("POST", "/markers/hold")

    def release_markers(self) -> None:
        self.ask("POST", "/markers/release")

    def set_api_versions(self, api: str, min: int, max: int) -> None:
        """Lets an API have only these versions."""
        self.ask("PUT", f"/apis/{_part(api)}", {"min": min, "max": max})

    def move_coordinator(self, id: str, broker: int) -> None:
        self.ask("POST", "/topology/coordinator", {"id": id, "node": broker})

    def advance(self, ms: int) -> int:
        """Moves the brokers' clock on, and says what it shows then, in milliseconds since 1970."""
        return cast(int, self.ask("POST", "/time/advance", {"ms": ms})["time_ms"])

    def reset(self) -> None:
        """Begins anew at the same addresses: cheaper than another cluster."""
        self.ask("POST", "/reset")

    def _wait(self, look: Callable[[], list[Found]], count: int, timeout: float, what: str) -> list[Found]:
        until = time.monotonic() + timeout
        while len(found := _or_none(look)) < count:
            if time.monotonic() > until:
                raise TimeoutError(f"waited {timeout} s for {count} {what}, there are {len(found)}: {found}")
            time.sleep(0.01)
        return found


def _or_none(look: Callable[[], list[Found]]) -> list[Found]:
    """What is not there yet is none: topics appear by being used."""
    try:
        return look()
    except ControlError as error:
        if error.status == 404:
            return []
        raise


def _in_topic(partition: tuple[str, int]) -> dict[str, Any]:
    """A pair of a topic and a number as the port takes it."""
    if isinstance(partition, str) or len(partition) != 2:
        raise TypeError(f"a partition is a topic and a number, as in ('orders', 0), not {partition!r}")
    topic, number = partition
    return {"topic": topic, "partition": number}


def _part(text: str) -> str:
    return urllib.parse.quote(text, safe="")
