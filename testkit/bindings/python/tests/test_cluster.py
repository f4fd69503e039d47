"""The wrapper itself. What talks Kafka here is a socket; real clients are judges elsewhere."""

import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

import pytest

import millstream_broker
from millstream_broker import BinaryNotFound, Cluster, ControlError, StartError


def metadata(address: str) -> bytes:
    """Asks a broker for Metadata 1 of all topics; the answer without its size."""
    host, port = address.rsplit(":", 1)
    body = struct.pack(">hhih4si", 3, 1, 7, 4, b"test", -1)
    with socket.create_connection((host, int(port)), timeout=180) as stream:
        stream.sendall(struct.pack(">i", len(body)) + body)
        size = struct.unpack(">i", stream.recv(4, socket.MSG_WAITALL))[0]
        return stream.recv(size, socket.MSG_WAITALL)


def test_a_cluster_has_what_it_was_started_with(kafka_cluster: Cluster) -> None:
    kafka_cluster.create_topic("orders", partitions=3)
    assert [len(topic.partitions) for topic in kafka_cluster.topics()] == [3]
    assert b"orders" in metadata(kafka_cluster.bootstrap_servers)
    logged = kafka_cluster.wait_for_requests("Metadata", 1)[0]
    assert (logged.client_id, logged.version, logged.outcome) == ("test", 1, "answered")
    assert kafka_cluster.request(logged.number).request == {"topics": None}
    assert "MetadataRequest, version 1" in kafka_cluster.picture(logged.number)
    assert kafka_cluster.count("Metadata") == 1
    assert kafka_cluster.records("orders") == []
    assert kafka_cluster.bootstrap_servers in repr(kafka_cluster)


@pytest.mark.kafka_cluster(brokers=3, topics={"t": 2}, config={"num.partitions": "4"}, seed=7)
def test_options_come_from_the_marker(kafka_cluster: Cluster) -> None:
    assert [broker.id for broker in kafka_cluster.brokers()] == [1, 2, 3]
    assert len(kafka_cluster.topic("t").partitions) == 2
    kafka_cluster.crash(2)
    assert (kafka_cluster.brokers()[1].state, kafka_cluster.brokers()[1].is_up) == ("crashed", False)
    assert kafka_cluster.topic("t").partitions[0].elr == []
    kafka_cluster.restart(2)
    kafka_cluster.stop(2)
    assert (kafka_cluster.brokers()[1].state, kafka_cluster.brokers()[1].is_up) == ("stopped", False)
    kafka_cluster.restart(2)
    kafka_cluster.move_leader("t", 0, 3)
    assert kafka_cluster.topic("t").partitions[0].leader == 3


def test_the_link_of_one_client_is_healed_without_those_of_the_others(kafka_cluster: Cluster) -> None:
    def latencies() -> list[int]:
        return [kafka_cluster.link(1, client_id=client)["latency_ms"] for client in ("a", "b")]

    kafka_cluster.set_link(1, client_id="a", latency_ms=1)
    kafka_cluster.set_link(1, client_id="b", latency_ms=2)
    kafka_cluster.heal_link(1, client_id="a")
    assert latencies() == [0, 2]
    kafka_cluster.heal_link(1)
    assert latencies() == [0, 0]


def test_who_waits_for_records_waits_for_their_topic_too(kafka_cluster: Cluster) -> None:
    """It was refused at once: what made the topic by using it had only just begun."""
    with pytest.raises(TimeoutError, match="for 1 records in orders, there are 0"):
        kafka_cluster.wait_for_records("orders", 1, timeout=0.05)


def test_who_asks_a_cluster_that_was_closed_reads_that_it_has_ended() -> None:
    with Cluster() as cluster:
        pass
    with pytest.raises(ConnectionError, match=r"GET /: <millstream_broker.Cluster at .*> does not answer .*; its process has ended with 0"):
        cluster.status()


@pytest.mark.kafka_cluster(topics="orders", config={"auto.create.topics.enable": False, "num.partitions": 4})
def test_a_text_is_one_topic_and_booleans_are_kafkas(kafka_cluster: Cluster) -> None:
    assert [topic.name for topic in kafka_cluster.topics()] == ["orders"]
    with Cluster(topics=["a", "b"], sasl="PLAIN", users={"alice": "secret"}) as cluster:
        assert [topic.name for topic in cluster.topics()] == ["a", "b"]


@pytest.mark.kafka_cluster(
    brokers=3,
    topics={"a": {"partitions": 2, "replication_factor": 2, "config": {"cleanup.policy": "compact,delete", "preallocate": True}}, "b": 1},
)
def test_topics_have_replicas_and_options_of_their_own(kafka_cluster: Cluster) -> None:
    compacted = {"cleanup.policy": "compact,delete", "preallocate": "true"}
    made = kafka_cluster.create_topic("c", 2, replication_factor=2, config={"cleanup.policy": "compact,delete", "preallocate": True})
    for topic in (kafka_cluster.topic("a"), made):
        assert ([len(each.replicas) for each in topic.partitions], topic.config) == ([2, 2], compacted)
    assert (len(kafka_cluster.topic("b").partitions[0].replicas), kafka_cluster.topic("b").config) == (3, {})


def test_a_cluster_tells_of_itself(kafka_cluster: Cluster) -> None:
    status = kafka_cluster.status()
    assert (status.bootstrap, status.controller, len(status.brokers)) == (kafka_cluster.bootstrap_servers, 1, 1)
    metadata(status.bootstrap)
    assert "Metadata" in kafka_cluster.coverage_text()


def test_options_of_the_wrong_kind_are_refused_with_an_example(kafka_cluster: Cluster) -> None:
    with pytest.raises(TypeError, match="arguments is a list of flags"):
        Cluster(arguments="--acls")
    with pytest.raises(TypeError, match="users is a dict"):
        Cluster(users=["alice=secret"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no option 'replicas'; it has partitions, replication_factor, config"):
        Cluster(topics={"orders": {"replicas": 3}})
    with pytest.raises(StartError, match="invalid value '-1' for '--seed"):
        Cluster(seed=-1)
    with pytest.raises(ValueError, match="begins with a slash, as in '/topics'"):
        kafka_cluster.ask("GET", "topics")
    with pytest.raises(TypeError, match=re.escape("as in ('orders', 0)")):
        kafka_cluster.add_faults("Produce", "disconnect", partition="orders")  # type: ignore[arg-type]


def test_a_marker_with_options_that_have_no_names_is_refused(tmp_path: pathlib.Path) -> None:
    test = "import pytest\n@pytest.mark.kafka_cluster(3)\ndef test_it(kafka_cluster): pass\n"
    (tmp_path / "test_marker.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "millstream_broker.fixtures", str(tmp_path)]
    output = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert output.returncode == 1 and "as in kafka_cluster(brokers=3), not (3,)" in output.stdout, output.stdout


def test_time_moves_on_and_is_told(kafka_cluster: Cluster) -> None:
    first = kafka_cluster.advance(0)
    assert 3_600_000 <= kafka_cluster.advance(3_600_000) - first < 7_200_000


def test_a_proxy_of_the_environment_is_not_asked() -> None:
    script = "import millstream_broker; print(millstream_broker.Cluster().topics())"
    env = {**os.environ, "http_proxy": "http://127.0.0.1:1"}
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1800, env=env)
    assert output.stdout == "[]\n", output.stderr


def test_every_operation_of_the_port_is_a_method_of_that_name(kafka_cluster: Cluster) -> None:
    said = kafka_cluster.ask("GET", "/openapi.yaml")
    ids = re.findall(r"^ +operationId: (\w+)$", said, re.MULTILINE)
    names = [re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), each) for each in ids]
    assert len(names) > 40 and [name for name in names if not hasattr(Cluster, name)] == []
    assert kafka_cluster.description() == said


@pytest.mark.kafka_cluster(brokers=3, topics={"t": 1})
def test_brokers_followers_and_answers_are_steered(kafka_cluster: Cluster) -> None:
    assert kafka_cluster.add_broker() == 4
    kafka_cluster.move_leader("t", 0, 1)
    epoch = kafka_cluster.topic("t").partitions[0].leader_epoch
    kafka_cluster.move_leader("t", 0, 2, keeps_epoch=True)
    assert kafka_cluster.topic("t").partitions[0].leader_epoch == epoch
    kafka_cluster.move_leader("t", 0, 1, keeps_epoch=True)
    kafka_cluster.remove_broker(4)
    assert [broker.id for broker in kafka_cluster.brokers()] == [1, 2, 3]
    for follower in (2, 3):
        kafka_cluster.hold_follower("t", 0, follower)
        kafka_cluster.advance_follower("t", 0, follower, 0)
        kafka_cluster.set_follower_start("t", 0, follower, 0)
        kafka_cluster.release_follower("t", 0, follower)
    before = kafka_cluster.topic("t").partitions[0]
    kafka_cluster.bump_leader_epoch("t", 0)
    after = kafka_cluster.topic("t").partitions[0]
    assert (after.leader_epoch, after.isr) == (before.leader_epoch + 1, before.isr)
    kafka_cluster.push_leader_answer("t", 0, 77_777, 7)
    first, *_ = kafka_cluster.bootstrap_servers.split(",")
    assert struct.pack(">i", 77_777) in metadata(first)
    assert struct.pack(">i", 77_777) not in metadata(first)
    kafka_cluster.move_controller(3)
    kafka_cluster.hide(2)
    assert kafka_cluster.brokers()[1].is_hidden
    kafka_cluster.show(2)
    kafka_cluster.elect_unclean("t", 0)
    kafka_cluster.hold_markers()
    kafka_cluster.release_markers()
    kafka_cluster.compact("t")
    kafka_cluster.apply_retention()
    kafka_cluster.set_api_versions("Metadata", 0, 5)
    with pytest.raises(ControlError, match="no batch of t-0 holds offset 0"):
        kafka_cluster.corrupt("t", 0, 0)
    kafka_cluster.delete_topic("t")
    assert kafka_cluster.topics() == []
    assert kafka_cluster.link(1)["latency_ms"] == 0
    kafka_cluster.half_open(1)
    fault = kafka_cluster.add_faults("Fetch", "pass")
    assert kafka_cluster.fault(fault).left == 1
    kafka_cluster.remove_fault(fault)


def test_faults_happen_and_are_counted(kafka_cluster: Cluster) -> None:
    kafka_cluster.add_faults("Metadata", "disconnect")
    with pytest.raises(AssertionError, match="were not used up"):
        kafka_cluster.assert_faults_used()
    with pytest.raises((ConnectionError, struct.error)):
        metadata(kafka_cluster.bootstrap_servers)
    kafka_cluster.assert_faults_used()
    assert metadata(kafka_cluster.bootstrap_servers)


def test_a_reset_cluster_is_as_new(shared_kafka_cluster: Cluster) -> None:
    shared_kafka_cluster.create_topic("t")
    shared_kafka_cluster.reset()
    assert shared_kafka_cluster.topics() == []


def test_what_is_refused_says_why(kafka_cluster: Cluster) -> None:
    with pytest.raises(ControlError, match="404: there is no broker 9"):
        kafka_cluster.crash(9)
    with pytest.raises(StartError, match="no broker option `no.such.key`"):
        Cluster(config={"no.such.key": "1"})
    with pytest.raises(StartError, match="add --acls"):
        Cluster(arguments=["--super-user", "User:admin"])
    with pytest.raises(StartError, match="no ready line"):
        Cluster(binary=shutil.which("echo"))


def test_the_binary_is_found_by_variable_or_named_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert millstream_broker.find_binary()
    monkeypatch.setenv("MILLSTREAM_BROKER", "/nowhere")
    with pytest.raises(BinaryNotFound, match="MILLSTREAM_BROKER names /nowhere"):
        millstream_broker.find_binary()
    with pytest.raises(BinaryNotFound, match="binary names /nowhere/at/all, which is no program"):
        Cluster(binary="/nowhere/at/all")
    monkeypatch.delenv("MILLSTREAM_BROKER")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BinaryNotFound, match="put it into PATH"):
        millstream_broker.find_binary()


def test_the_binary_is_found_where_it_is(tmp_path: pathlib.Path) -> None:
    """The variable's before the one in PATH before the one beside the package, which is copied here for that, into a process of its own."""
    package = shutil.copytree(pathlib.Path(millstream_broker.__file__).parent, tmp_path / "src" / "millstream_broker")
    (tmp_path / "bin").mkdir()
    named, in_path, beside = (folder / "millstream-broker" for folder in (tmp_path, tmp_path / "bin", package))
    for place in (named, in_path, beside):
        place.symlink_to(pathlib.Path(millstream_broker.find_binary()).resolve())

    def started(**places: str) -> str:
        """Which one is found, by a process that starts a cluster of it, too."""
        program = "import millstream_broker as m\nwith m.Cluster() as c: print(m.find_binary(), len(c.brokers()))"
        env = {"PATH": "/nowhere", "PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1", **places}
        run = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr
        return run.stdout.strip()

    assert started() == f"{beside} 1"
    assert started(PATH=str(in_path.parent)) == f"{in_path} 1"
    assert started(PATH=str(in_path.parent), MILLSTREAM_BROKER=str(named)) == f"{named} 1"


def test_it_ends_with_the_process_that_started_it() -> None:
    script = "import millstream_broker, os; c = millstream_broker.Cluster(); print(c.bootstrap_servers, flush=True); os._exit(1)"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1800, env=os.environ)
    host, port = output.stdout.strip().rsplit(":", 1)
    for _ in range(3600):
        try:
            socket.create_connection((host, int(port)), timeout=60).close()
        except ConnectionRefusedError:
            return
        except OSError:
            pass  # On its way out: neither open nor closed.
        time.sleep(0.05)
    pytest.fail("it outlived its parent")
