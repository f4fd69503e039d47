// A Kafka cluster for tests: starts the binary millstream-broker, and steers it by its control port.

import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const NAME = "millstream-broker";
const VARIABLE = "MILLSTREAM_BROKER";

/** The control port refused something; the message says why. */
export class ControlError extends Error {
  constructor(status, reason) {
    super(`${status}: ${reason}`);
    this.name = "ControlError";
    this.status = status;
  }
}

/** The binary's path: what MILLSTREAM_BROKER names, else the one in PATH, else the one beside this package. */
export function findBinary(env = process.env) {
  const named = env[VARIABLE];
  if (named) {
    if (!isProgram(named)) throw new Error(`${VARIABLE} names ${named}, which is no program`);
    return named;
  }
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const beside = fileURLToPath(new URL(".", import.meta.url));
  const found = [...folders, beside].map((folder) => join(folder, NAME)).find(isProgram);
  if (found) return found;
  throw new Error(
    `there is no ${NAME}: set ${VARIABLE} to its path, or put it into PATH ` +
      "(cargo install --locked --path testkit --no-default-features --features server,tls)",
  );
}
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Refuses what nobody would read, with what there is. */
function refuseUnknown(given, known, what) {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`${what} has no option \`${unknown}\`; it has ${known.join(", ")}`);
}
/** A text is one name, not a list of letters. */
const names = (one) => (typeof one === "string" ? [one] : one);

const TOPIC_OPTIONS = ["partitions", "replicationFactor", "config"];
const OPTIONS = ["brokers", "topics", "config", "users", "sasl", "seed", "args", "binary"];

/** A topic as the binary takes it: how many partitions it has, or all that it may have. */
function topicOf([name, options]) {
  if (typeof options !== "object" || options === null) return `${name}:${options}`;
  refuseUnknown(options, TOPIC_OPTIONS, `the topic ${name}`);
  const { partitions = 1, replicationFactor, config = {} } = options;
  const shape = [name, partitions, replicationFactor].filter((each) => each !== undefined).join(":");
  return [shape, ...Object.entries(config).map(([key, value]) => `${key}=${value}`)].join(",");
}
/** Options of a cluster as flags of the binary. */
function flagsOf({ brokers = 1, topics = {}, config = {}, users = {}, sasl = [], seed, args = [] }) {
  if (!Array.isArray(args)) throw new TypeError(`args is a list of flags, as in ["--as-version", "2.8"], not ${JSON.stringify(args)}`);
  const isList = typeof topics === "string" || Array.isArray(topics);
  const flags = ["--json", "--with-parent", "--control-port=0", `--brokers=${brokers}`];
  flags.push(...(isList ? names(topics) : Object.entries(topics).map(topicOf)).map((topic) => `--topic=${topic}`));
  flags.push(...Object.entries(config).map(([key, value]) => `--set=${key}=${value}`));
  flags.push(...Object.entries(users).map(([name, password]) => `--user=${name}=${password}`));
  flags.push(...names(sasl).map((mechanism) => `--sasl=${mechanism}`));
  if (seed !== undefined) flags.push(`--seed=${seed}`);
  return [...flags, ...args];
}

/** A cluster in a process of its own. It ends with `close`, or with this process. */
export class Cluster {
  #process;
  #ended;

  /** Starts one, and waits until it is ready. */
  static async start(options = {}) {
    refuseUnknown(options, OPTIONS, "Cluster.start");
    const child = spawn(options.binary ?? findBinary(), flagsOf(options), { stdio: "pipe" });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
    const refused = (error) => new Error(`the binary ${child.spawnfile} cannot be started: ${error.message}`, { cause: error });
    const ended = new Promise((resolve, reject) => child.once("close", resolve).once("error", (error) => reject(refused(error))));
    const line = new Promise((resolve) => createInterface(child.stdout).once("line", resolve));
    const ready = await Promise.race([line, ended.then(() => undefined)]);
    try {
      return new Cluster(child, ended, JSON.parse(ready)).#forgettable();
    } catch {
      child.stdin.end();
      const code = await ended;
      throw new Error(said.trim() || `${child.spawnfile} ended with ${code} and no ready line: ${ready}`);
    }
  }

  /** Use `Cluster.start`. */
  constructor(child, ended, ready) {
    this.#process = child;
    this.#ended = ended;
    this.bootstrapServers = ready.bootstrap;
    this.controlUrl = ready.control;
    this.listeners = ready.listeners;
  }

  get #handles() {
    const { stdin, stdout, stderr } = this.#process;
    return [this.#process, stdin, stdout, stderr];
  }
  /** A test that failed before its `close` would wait for a broker that waits for it. */
  #forgettable() {
    for (const handle of this.#handles) handle.unref();
    return this;
  }

  /** Ends it; doing so twice is no mistake. */
  async close() {
    for (const handle of this.#handles) handle.ref();
    this.#process.stdin.end();
    await this.#ended;
  }
  async [Symbol.asyncDispose ?? Symbol.for("asyncDispose")]() {
    await this.close();
  }

  /** Asks the control port for anything that testkit/openapi.yaml names. */
  async ask(method, path, body) {
    if (!path.startsWith("/")) throw new TypeError(`a path begins with a slash, as in "/topics", not ${JSON.stringify(path)}`);
    const response = await fetch(this.controlUrl + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: { connection: "close" },
    }).catch((error) => {
      const why = error.cause?.message ?? error.message;
      throw new Error(`${method} ${path}: the cluster at ${this.controlUrl} does not answer (${why}); ${this.#life()}`, { cause: error });
    });
    const text = await response.text();
    if (!response.ok) throw new ControlError(response.status, JSON.parse(text).error);
    return response.headers.get("content-type") === "application/json" ? JSON.parse(text) : text;
  }

  #life() {
    const ended = this.#process.exitCode ?? this.#process.signalCode;
    return ended === null ? "its process runs" : `its process has ended with ${ended}`;
  }

  /** What the control port takes and answers: its OpenAPI file. */
  description() {
    return this.ask("GET", "/openapi.yaml");
  }

  // Looking

  /** The cluster at a glance. */
  status() {
    return this.ask("GET", "/");
  }
  async brokers() {
    return (await this.status()).brokers;
  }
  topics() {
    return this.ask("GET", "/topics");
  }
  topic(name) {
    return this.ask("GET", `/topics/${part(name)}`);
  }
  /** What a reader of committed records finds in a topic, by partition and offset; keys and values are Buffers or null. */
  async records(topic) {
    const told = await this.ask("GET", `/topics/${part(topic)}/records?limit=1000000`);
    return told.map(({ partition, offset, timestamp, key_base64: key, value_base64: value }) => ({
      partition,
      offset,
      timestamp,
      key: bytes(key),
      value: bytes(value),
    }));
  }
  waitForRecords(topic, count, timeoutMs = 30_000) {
    return waited(() => this.records(topic), count, timeoutMs, `records in ${topic}`);
  }
  /** The last requests, oldest first. */
  async requests(of = {}) {
    refuseUnknown(of, ["api", "node", "clientId"], "requests");
    const { api, node, clientId } = of;
    const query = new URLSearchParams({ limit: "10000" });
    if (api !== undefined) query.set("api", api);
    if (node !== undefined) query.set("node", node);
    if (clientId !== undefined) query.set("client_id", clientId);
    return this.ask("GET", `/requests?${query}`);
  }
  waitForRequests(api, count, timeoutMs = 30_000) {
    return waited(() => this.requests({ api }), count, timeoutMs, `requests of ${api}`);
  }
  /** A request with all its fields and those of its answer. */
  request(number) {
    return this.ask("GET", `/requests/${number}`);
  }
  /** A request and its answer, drawn value by value. */
  picture(number) {
    return this.ask("GET", `/requests/${number}/picture`);
  }
  async count(api) {
    return (await this.ask("GET", `/requests/count?api=${part(api)}`)).count;
  }
  coverage() {
    return this.ask("GET", "/coverage");
  }
  /** The same as a table. */
  coverageText() {
    return this.ask("GET", "/coverage.txt");
  }

  // Faults

  /**
   * What becomes of the next requests: each step is an effect, for `times` requests (null: all that come). An effect is "disconnect",
   * { error: "NOT_LEADER_OR_FOLLOWER" }, { delay_ms: 50 } or another that `FaultStep` in testkit/openapi.yaml names. `partition` is a
   * topic and a number: ["orders", 0].
   */
  async addFaults(api, steps, options = {}) {
    refuseUnknown(options, ["node", "group", "partition", "clientId", "rttMs", "times"], "addFaults");
    if (!Array.isArray(steps)) throw new TypeError(`steps are a list of effects, as in ["disconnect"], not ${JSON.stringify(steps)}`);
    const { node, group, partition: place, clientId, rttMs = 0, times = 1 } = options;
    const partition = place === undefined ? undefined : inTopic(place);
    const plan = { api, node, group, partition, client_id: clientId };
    plan.steps = steps.map((step) => ({ do: step, rtt_ms: rttMs, times }));
    return (await this.ask("POST", "/faults", plan)).id;
  }
  faults() {
    return this.ask("GET", "/faults");
  }
  clearFaults() {
    return this.ask("DELETE", "/faults");
  }
  /** Fails if a fault that was to happen did not. */
  async assertFaultsUsed() {
    const isUnused = ({ used, left }) => (left === null ? used === 0 : left > 0);
    const unused = (await this.faults()).filter(isUnused);
    if (unused.length > 0) throw new Error(`these faults were not used up: ${JSON.stringify(unused)}`);
  }
  /** latency_ms, jitter_ms, bytes_per_second, split_bytes, stalls_to_broker, stalls_to_client. */
  async setLink(broker, conditions, of = {}) {
    refuseUnknown(of, ["clientId"], "setLink");
    const { clientId } = of;
    const query = clientId === undefined ? "" : `?client_id=${part(clientId)}`;
    return this.ask("PUT", `/brokers/${broker}/link${query}`, conditions);
  }
  /** For all clients, or for that one alone. */
  async healLink(broker, of = {}) {
    refuseUnknown(of, ["clientId"], "healLink");
    const { clientId } = of;
    const query = clientId === undefined ? "" : `?client_id=${part(clientId)}`;
    return this.ask("DELETE", `/brokers/${broker}/link${query}`);
  }
  resetConnections(broker) {
    return this.ask("POST", `/brokers/${broker}/link/reset`);
  }

  /** What the link between clients and a broker does to bytes. */
  async link(broker, of = {}) {
    refuseUnknown(of, ["clientId"], "link");
    const { clientId } = of;
    const query = clientId === undefined ? "" : `?client_id=${part(clientId)}`;
    return this.ask("GET", `/brokers/${broker}/link${query}`);
  }
  /** Lets a broker forget all its connections without a word. */
  halfOpen(broker) {
    return this.ask("POST", `/brokers/${broker}/link/half-open`);
  }
  fault(id) {
    return this.ask("GET", `/faults/${id}`);
  }
  removeFault(id) {
    return this.ask("DELETE", `/faults/${id}`);
  }

  // Topology and time

  /** Adds a broker to the running cluster, and says which. */
  async addBroker() {
    return (await this.ask("POST", "/brokers")).id;
  }
  /** Takes a broker out of the cluster; a restart brings it back. */
  removeBroker(broker) {
    return this.ask("DELETE", `/brokers/${broker}`);
  }
  crash(broker) {
    return this.ask("POST", `/brokers/${broker}/crash`);
  }
  /** Takes a broker down in order: others lead what it led before it goes. */
  stop(broker) {
    return this.ask("POST", `/brokers/${broker}/stop`);
  }
  restart(broker) {
    return this.ask("POST", `/brokers/${broker}/restart`);
  }
  pause(broker) {
    return this.ask("POST", `/brokers/${broker}/pause`);
  }
  resume(broker) {
    return this.ask("POST", `/brokers/${broker}/resume`);
  }
  /** Leaves a broker out of what Metadata names. */
  hide(broker) {
    return this.ask("POST", `/brokers/${broker}/hide`);
  }
  show(broker) {
    return this.ask("POST", `/brokers/${broker}/show`);
  }
  /** Makes a topic; options are `replicationFactor` and `config`, topic options by Kafka's keys. */
  async createTopic(name, partitions = 1, options = {}) {
    refuseUnknown(options, ["replicationFactor", "config"], "createTopic");
    const config = Object.fromEntries(Object.entries(options.config ?? {}).map(([key, value]) => [key, String(value)]));
    return this.ask("POST", "/topics", { name, partitions, replication_factor: options.replicationFactor, config });
  }
  recreateTopic(name) {
    return this.ask("POST", `/topics/${part(name)}/recreate`);
  }
  deleteTopic(name) {
    return this.ask("DELETE", `/topics/${part(name)}`);
  }
  /** Flips a bit in the stored batch that holds an offset. */
  corrupt(topic, partition, offset) {
    return this.ask("POST", `/topics/${part(topic)}/corrupt`, { partition, offset });
  }
  /** Compacts a topic now, as if all its segments were full. */
  compact(topic) {
    return this.ask("POST", `/topics/${part(topic)}/compact`);
  }
  /** Deletes now what topics keep no longer. */
  applyRetention() {
    return this.ask("POST", "/retention");
  }
  /** Lets a broker lead a partition, or nobody; with `keepsEpoch` without a new leader epoch. */
  async moveLeader(topic, partition, broker, options = {}) {
    refuseUnknown(options, ["keepsEpoch"], "moveLeader");
    const { keepsEpoch = false } = options;
    return this.ask("POST", "/topology/leader", { topic, partition, node: broker, keeps_epoch: keepsEpoch });
  }
  bumpLeaderEpoch(topic, partition) {
    return this.ask("POST", "/topology/leader-epoch", { topic, partition });
  }
  /** Lets the next Metadata answer tell this leader of a partition, whatever is true. */
  pushLeaderAnswer(topic, partition, broker, leaderEpoch) {
    return this.ask("POST", "/topology/leader-answer", { topic, partition, node: broker, leader_epoch: leaderEpoch });
  }
  /** Lets any replica that is up lead a partition. */
  electUnclean(topic, partition) {
    return this.ask("POST", "/topology/unclean-election", { topic, partition });
  }
  /** Lets a follower fetch no longer. */
  holdFollower(topic, partition, broker) {
    return this.ask("POST", "/topology/follower/hold", { topic, partition, node: broker });
  }
  releaseFollower(topic, partition, broker) {
    return this.ask("POST", "/topology/follower/release", { topic, partition, node: broker });
  }
  /** Lets a follower that is held fetch up to an offset. */
  advanceFollower(topic, partition, broker, offset) {
    return this.ask("POST", "/topology/follower/advance", { topic, partition, node: broker, offset });
  }
  /** Lets a follower's log begin at an offset. */
  setFollowerStart(topic, partition, broker, offset) {
    return this.ask("POST", "/topology/follower/start", { topic, partition, node: broker, offset });
  }
  moveController(broker) {
    return this.ask("POST", "/topology/controller", { node: broker });
  }
  /** From here on transactions that end stay prepared. */
  holdMarkers() {
    return this.ask("POST", "/markers/hold");
  }
  releaseMarkers() {
    return this.ask("POST", "/markers/release");
  }
  /** Lets an API have only these versions. */
  setApiVersions(api, min, max) {
    return this.ask("PUT", `/apis/${part(api)}`, { min, max });
  }
  moveCoordinator(id, broker) {
    return this.ask("POST", "/topology/coordinator", { id, node: broker });
  }
  /** Moves the brokers' clock on, and says what it shows then, in milliseconds since 1970. */
  async advance(ms) {
    return (await this.ask("POST", "/time/advance", { ms })).time_ms;
  }
  /** Begins anew at the same addresses: cheaper than another cluster. */
  reset() {
    return this.ask("POST", "/reset");
  }
}

const part = encodeURIComponent;
/** A pair of a topic and a number as the port takes it. */
function inTopic(place) {
  if (Array.isArray(place) && place.length === 2) return { topic: place[0], partition: place[1] };
  throw new TypeError(`a partition is a topic and a number, as in ["orders", 0], not ${JSON.stringify(place)}`);
}
const bytes = (base64) => (base64 === null ? null : Buffer.from(base64, "base64"));

/** What is not there yet is none: topics appear by being used. */
const noneIfMissing = (error) => {
  if (error instanceof ControlError && error.status === 404) return [];
  throw error;
};
async function waited(look, count, timeoutMs, what) {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const found = await look().catch(noneIfMissing);
    if (found.length >= count) return found;
    if (Date.now() > until) throw new Error(`waited ${timeoutMs} ms for ${count} ${what}, there are ${found.length}`);
    await sleep(10);
  }
}
