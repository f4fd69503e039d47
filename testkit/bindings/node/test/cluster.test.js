// The wrapper itself. What talks Kafka here is a socket; real clients are judges elsewhere.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Cluster, ControlError, findBinary } from "../index.js";

/** Asks a broker for Metadata 1 of all topics; the answer without its size, or an error when it hangs up. */
function metadata(address) {
  const [host, port] = address.split(":");
  const request = Buffer.from("000000120003000100000007000474657374ffffffff", "hex");
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect(Number(port), host, () => socket.write(request));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
        socket.destroy();
        resolve(received.subarray(4));
      }
    });
    socket.on("error", reject).on("end", () => reject(new Error("hung up")));
  });
}
async function withCluster(options, act) {
  const cluster = await Cluster.start(options);
  try {
    await act(cluster);
  } finally {
    await cluster.close();
  }
}

test("a cluster has what it was started with", () =>
  withCluster({ brokers: 2, topics: { orders: 3 }, seed: 7 }, async (cluster) => {
    assert.deepEqual((await cluster.brokers()).map(({ id }) => id), [1, 2]);
    assert.equal((await cluster.topic("orders")).partitions.length, 3);
    const [first] = cluster.bootstrapServers.split(",");
    assert.ok((await metadata(first)).includes("orders"));
    const [logged] = await cluster.waitForRequests("Metadata", 1);
    assert.deepEqual([logged.client_id, logged.version, logged.outcome], ["test", 1, "answered"]);
    assert.deepEqual((await cluster.request(logged.number)).request, { topics: null });
    assert.match(await cluster.picture(logged.number), /MetadataRequest, version 1/);
    assert.equal(await cluster.count("Metadata"), 1);
    assert.deepEqual(await cluster.records("orders"), []);
  }));

test("faults happen and are counted", () =>
  withCluster({}, async (cluster) => {
    await cluster.addFaults("Metadata", ["disconnect"]);
    await assert.rejects(cluster.assertFaultsUsed(), /were not used up/);
    await assert.rejects(metadata(cluster.bootstrapServers));
    await cluster.assertFaultsUsed();
    assert.ok(await metadata(cluster.bootstrapServers));
  }));

test("brokers go and come, leaders move, and a reset makes all as new", () =>
  withCluster({ brokers: 3 }, async (cluster) => {
    await cluster.createTopic("t", 2);
    await cluster.crash(2);
    assert.deepEqual((({ state, is_up }) => [state, is_up])((await cluster.brokers())[1]), ["crashed", false]);
    assert.deepEqual((await cluster.topic("t")).partitions[0].elr, []);
    await cluster.restart(2);
    await cluster.stop(2);
    assert.deepEqual((({ state, is_up }) => [state, is_up])((await cluster.brokers())[1]), ["stopped", false]);
    await cluster.restart(2);
    await cluster.moveLeader("t", 0, 3);
    assert.equal((await cluster.topic("t")).partitions[0].leader, 3);
    await cluster.reset();
    assert.deepEqual(await cluster.topics(), []);
  }));

test("a text is one topic, and booleans are Kafka's", () =>
  withCluster({ topics: "orders", config: { "auto.create.topics.enable": false } }, async (cluster) => {
    assert.deepEqual((await cluster.topics()).map(({ name }) => name), ["orders"]);
    await withCluster({ topics: ["a", "b"], sasl: "PLAIN", users: { alice: "secret" } }, async (other) => {
      assert.deepEqual((await other.topics()).map(({ name }) => name), ["a", "b"]);
    });
  }));

test("options that nobody would read are refused with what there is", () =>
  withCluster({}, async (cluster) => {
    await assert.rejects(Cluster.start({ broker: 3 }), /has no option `broker`; it has brokers, topics/);
    await assert.rejects(Cluster.start({ args: "--acls" }), /args is a list of flags/);
    await assert.rejects(Cluster.start({ topics: { a: { replicas: 3 } } }), /has no option `replicas`; it has partitions, replicationFactor/);
    await assert.rejects(cluster.addFaults("Produce", ["disconnect"], { client_id: "a" }), /it has node, group, partition, clientId/);
    await assert.rejects(cluster.addFaults("Produce", ["disconnect"], { partition: "orders" }), /as in \["orders", 0\]/);
    await assert.rejects(cluster.addFaults("Produce", "disconnect"), /steps are a list of effects, as in \["disconnect"\]/);
    await assert.rejects(cluster.ask("GET", "topics"), /begins with a slash, as in "\/topics"/);
    await assert.rejects(Cluster.start({ seed: -1 }), /invalid value '-1' for '--seed/);
    await assert.rejects(cluster.requests({ api: "Produce", nodes: 1 }), /`nodes`/);
    await assert.rejects(cluster.moveLeader("t", 0, 1, { keepEpoch: true }), /`keepEpoch`; it has keepsEpoch/);
    await assert.rejects(cluster.link(1, { client: "a" }), /`client`; it has clientId/);
    await assert.rejects(cluster.setLink(1, {}, { client: "a" }), /`client`; it has clientId/);
  }));

test("the link of one client is healed without those of the others", () =>
  withCluster({}, async (cluster) => {
    const latencies = async () =>
      (await Promise.all(["a", "b"].map((clientId) => cluster.link(1, { clientId })))).map((link) => link.latency_ms);
    await cluster.setLink(1, { latency_ms: 1 }, { clientId: "a" });
    await cluster.setLink(1, { latency_ms: 2 }, { clientId: "b" });
    await cluster.healLink(1, { clientId: "a" });
    assert.deepEqual(await latencies(), [0, 2]);
    await cluster.healLink(1);
    assert.deepEqual(await latencies(), [0, 0]);
  }));

// It was refused at once: what made the topic by using it had only just begun.
test("who waits for records waits for their topic, too", () =>
  withCluster({}, async (cluster) => {
    await assert.rejects(cluster.waitForRecords("orders", 1, 50), /waited 50 ms for 1 records in orders, there are 0/);
  }));

// `node --test` never ended when a test failed before its `close`.
test("a program that did not close its cluster ends all the same, and the cluster with it", async () => {
  const index = JSON.stringify(new URL("../index.js", import.meta.url));
  const program = `import { Cluster } from ${index}; const cluster = await Cluster.start(); await cluster.brokers(); console.log(cluster.controlUrl);`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", timeout: 180_000 });
  assert.equal(status, 0);
  const isThere = () => fetch(stdout.trim()).then(() => true, () => false);
  for (let tries = 0; (await isThere()) && tries < 18_000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(await isThere(), false);
});

// It said "fetch failed".
test("who asks a cluster that was closed reads that it has ended", async () => {
  const cluster = await Cluster.start();
  await cluster.close();
  await assert.rejects(cluster.status(), /^Error: GET \/: the cluster at http.* does not answer \(.*\); its process has ended with 0$/);
});

test("time moves on and is told", () =>
  withCluster({}, async (cluster) => {
    const moved = (await cluster.advance(3_600_000)) - Date.now();
    assert.ok(moved > 3_500_000 && moved < 7_200_000, `${moved}`);
  }));

test("every operation of the port is a method of that name, and has a type", () =>
  withCluster({}, async (cluster) => {
    const ids = [...(await cluster.description()).matchAll(/^ +operationId: (\w+)$/gm)].map(([, id]) => id);
    assert.ok(ids.length > 40);
    assert.deepEqual(ids.filter((id) => typeof cluster[id] !== "function"), []);
    const types = readFileSync(new URL("../index.d.ts", import.meta.url), "utf8");
    assert.deepEqual(ids.filter((id) => !types.includes(`  ${id}(`)), []);
  }));

test("topics have replicas and options of their own", () => {
  const config = { "cleanup.policy": "compact,delete", preallocate: true };
  const topics = { a: { partitions: 2, replicationFactor: 2, config }, b: 1 };
  return withCluster({ brokers: 3, topics }, async (cluster) => {
    const made = await cluster.createTopic("c", 2, { replicationFactor: 2, config });
    for (const topic of [await cluster.topic("a"), made]) {
      assert.deepEqual(topic.partitions.map(({ replicas }) => replicas.length), [2, 2]);
      assert.deepEqual(topic.config, { "cleanup.policy": "compact,delete", preallocate: "true" });
    }
    const { partitions, config: given } = await cluster.topic("b");
    assert.deepEqual([partitions[0].replicas.length, given], [3, {}]);
  });
});

test("a cluster tells of itself, and ends with its block", async () => {
  const cluster = await Cluster.start();
  assert.equal((await cluster.status()).bootstrap, cluster.bootstrapServers);
  await metadata(cluster.bootstrapServers);
  assert.match(await cluster.coverageText(), /Metadata/);
  await cluster[Symbol.asyncDispose ?? Symbol.for("asyncDispose")]();
  await assert.rejects(metadata(cluster.bootstrapServers));
});

test("brokers join and leave, followers and answers are steered", () =>
  withCluster({ brokers: 3, topics: { t: 1 } }, async (cluster) => {
    assert.equal(await cluster.addBroker(), 4);
    await cluster.moveLeader("t", 0, 1);
    const { leader_epoch: epoch } = (await cluster.topic("t")).partitions[0];
    await cluster.moveLeader("t", 0, 2, { keepsEpoch: true });
    assert.equal((await cluster.topic("t")).partitions[0].leader_epoch, epoch);
    await cluster.removeBroker(4);
    assert.deepEqual((await cluster.brokers()).map(({ id }) => id), [1, 2, 3]);
    await cluster.holdFollower("t", 0, 3);
    await cluster.advanceFollower("t", 0, 3, 0);
    await cluster.setFollowerStart("t", 0, 3, 0);
    await cluster.releaseFollower("t", 0, 3);
    await cluster.bumpLeaderEpoch("t", 0);
    await cluster.pushLeaderAnswer("t", 0, 77_777, 7);
    const [first] = cluster.bootstrapServers.split(",");
    const lie = Buffer.from([0, 0x01, 0x2f, 0xd1]);
    assert.ok((await metadata(first)).includes(lie));
    assert.ok(!(await metadata(first)).includes(lie));
    await cluster.hide(2);
    await cluster.show(2);
    await cluster.moveController(3);
    await cluster.electUnclean("t", 0);
    await cluster.holdMarkers();
    await cluster.releaseMarkers();
    await cluster.compact("t");
    await cluster.applyRetention();
    await cluster.setApiVersions("Metadata", 0, 5);
    await assert.rejects(cluster.corrupt("t", 0, 0), /no batch of t-0 holds offset 0/);
    await cluster.deleteTopic("t");
    assert.equal((await cluster.link(1)).latency_ms, 0);
    await cluster.halfOpen(1);
    const fault = await cluster.addFaults("Fetch", ["pass"]);
    assert.equal((await cluster.fault(fault)).left, 1);
    await cluster.removeFault(fault);
  }));

test("what is refused says why", async () => {
  await withCluster({}, async (cluster) => {
    await assert.rejects(cluster.crash(9), (error) => error instanceof ControlError && error.message === "404: there is no broker 9; there are 1");
  });
  await assert.rejects(Cluster.start({ config: { "no.such.key": "1" } }), /no broker option `no.such.key`/);
  await assert.rejects(Cluster.start({ args: ["--super-user", "User:admin"] }), /add --acls/);
  await assert.rejects(Cluster.start({ binary: "/bin/echo" }), /no ready line/);
});

test("the binary is found by variable, or named as missing", async () => {
  assert.ok(findBinary());
  assert.throws(() => findBinary({ MILLSTREAM_BROKER: "/nowhere" }), /MILLSTREAM_BROKER names \/nowhere/);
  assert.throws(() => findBinary({ PATH: "/nowhere" }), /put it into PATH/);
  await assert.rejects(Cluster.start({ binary: "/nowhere" }), /\/nowhere cannot be started/);
});

// The variable's before the one in PATH before the one beside the package, which is copied here for that.
test("the binary is found where it is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "millstream-broker-"));
  try {
    const [named, inPath, beside] = ["", "bin", "package"].map((name) => join(folder, name, "millstream-broker"));
    for (const name of ["bin", "package"]) mkdirSync(join(folder, name));
    for (const place of [named, inPath, beside]) symlinkSync(realpathSync(findBinary()), place);
    for (const name of ["index.js", "package.json"]) copyFileSync(new URL(`../${name}`, import.meta.url), join(folder, "package", name));
    // A process of its own starts a cluster of what is found, too.
    const program =
      `import { Cluster, findBinary } from ${JSON.stringify(pathToFileURL(join(folder, "package", "index.js")).href)};` +
      "const cluster = await Cluster.start();" +
      "console.log(findBinary(), (await cluster.brokers()).length);" +
      "await cluster.close();";
    const started = (env) => {
      const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], { env: { PATH: "/nowhere", ...env }, timeout: 60000 });
      assert.equal(run.status, 0, `${run.stderr}`);
      return `${run.stdout}`.trim();
    };
    assert.equal(started({}), `${beside} 1`);
    assert.equal(started({ PATH: join(folder, "bin") }), `${inPath} 1`);
    assert.equal(started({ PATH: join(folder, "bin"), MILLSTREAM_BROKER: named }), `${named} 1`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("it ends with the process that started it", async () => {
  const script = `import { Cluster } from ${JSON.stringify(new URL("../index.js", import.meta.url).href)};
    console.log((await Cluster.start()).bootstrapServers); process.exit(1);`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const address = stdout.trim();
  for (let tries = 0; tries < 3_600; tries += 1) {
    const isThere = await metadata(address).then(() => true, () => false);
    if (!isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail("it outlived its parent");
});
