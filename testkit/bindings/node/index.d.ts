export type Effect =
  | "pass"
  | "disconnect"
  | "silence"
  | "corrupt_records"
  | { error: string | number }
  | { delay_ms: number }
  | { apply_then: "disconnect" | "silence" | { delay_ms: number } }
  | { malform: string };

/** Options by Kafka's keys. */
export type Config = Record<string, string | number | boolean>;
export interface NewTopicOptions { replicationFactor?: number; config?: Config }
export interface TopicOptions extends NewTopicOptions { partitions?: number }

export interface ClusterOptions {
  brokers?: number;
  /** Names, or names with their partitions, or with all that a topic may have. */
  topics?: Record<string, number | TopicOptions> | string[] | string;
  /** Broker options. */
  config?: Config;
  users?: Record<string, string>;
  /** Mechanisms, as SCRAM-SHA-256. */
  sasl?: string[] | string;
  seed?: number;
  /** Any other flags of the binary, as its --help tells them. */
  args?: string[];
  binary?: string;
}
export interface Broker {
  id: number;
  state: "running" | "paused" | "fenced" | "crashed" | "stopped";
  is_up: boolean;
  is_hidden: boolean;
  is_paused: boolean;
}
export interface Partition {
  partition: number;
  leader: number | null;
  leader_epoch: number;
  replicas: number[];
  isr: number[];
  /** Eligible leader replicas (KIP-966). */
  elr: number[];
  start_offset: number;
  high_watermark: number;
  end_offset: number;
}
export interface Topic {
  name: string;
  id: string;
  /** What it was given; the rest is as brokers have it. */
  config: Record<string, string>;
  partitions: Partition[];
}
/** The cluster at a glance. */
export interface Status { bootstrap: string; cluster_id: string; time_ms: number; controller: number | null; brokers: Broker[] }
export interface CommittedRecord {
  partition: number;
  offset: number;
  timestamp: number;
  key: Buffer | null;
  value: Buffer | null;
}
export interface LoggedRequest {
  number: number;
  at_ms: number;
  answered_at_ms: number | null;
  node: number;
  connection: number;
  client_id: string;
  api: string;
  version: number;
  correlation_id: number;
  outcome: "answered" | "malformed" | "unanswered" | "closed" | "open";
  fault: string | null;
  /** Why the connection was closed instead of an answer. */
  reason?: string;
  request?: object;
  response?: object;
}
export interface FaultState { id: number; text: string; used: number; left: number | null }
export interface FaultOptions {
  node?: number;
  group?: string;
  /** A topic and a number. */
  partition?: [string, number];
  clientId?: string;
  rttMs?: number;
  times?: number | null;
}
export interface LinkConditions {
  latency_ms?: number;
  jitter_ms?: number;
  bytes_per_second?: number | null;
  split_bytes?: number | null;
  stalls_to_broker?: boolean;
  stalls_to_client?: boolean;
}

export class ControlError extends Error {
  constructor(status: number, reason: string);
  readonly status: number;
}
export function findBinary(env?: Record<string, string | undefined>): string;

export class Cluster {
  static start(options?: ClusterOptions): Promise<Cluster>;
  readonly bootstrapServers: string;
  readonly controlUrl: string;
  readonly listeners: { [name: string]: string };
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  ask(method: string, path: string, body?: unknown): Promise<any>;
  description(): Promise<string>;
  status(): Promise<Status>;
  brokers(): Promise<Broker[]>;
  topics(): Promise<Topic[]>;
  topic(name: string): Promise<Topic>;
  records(topic: string): Promise<CommittedRecord[]>;
  waitForRecords(topic: string, count: number, timeoutMs?: number): Promise<CommittedRecord[]>;
  requests(of?: { api?: string; node?: number; clientId?: string }): Promise<LoggedRequest[]>;
  waitForRequests(api: string, count: number, timeoutMs?: number): Promise<LoggedRequest[]>;
  request(number: number): Promise<LoggedRequest>;
  picture(number: number): Promise<string>;
  count(api: string): Promise<number>;
  coverage(): Promise<any>;
  coverageText(): Promise<string>;
  addFaults(api: string | null, steps: Effect[], options?: FaultOptions): Promise<number>;
  faults(): Promise<FaultState[]>;
  clearFaults(): Promise<void>;
  assertFaultsUsed(): Promise<void>;
  setLink(broker: number, conditions: LinkConditions, of?: { clientId?: string }): Promise<LinkConditions>;
  healLink(broker: number, of?: { clientId?: string }): Promise<void>;
  resetConnections(broker: number): Promise<void>;
  link(broker: number, of?: { clientId?: string }): Promise<LinkConditions>;
  halfOpen(broker: number): Promise<void>;
  fault(id: number): Promise<FaultState>;
  removeFault(id: number): Promise<void>;
  addBroker(): Promise<number>;
  removeBroker(broker: number): Promise<void>;
  crash(broker: number): Promise<void>;
  stop(broker: number): Promise<void>;
  restart(broker: number): Promise<void>;
  pause(broker: number): Promise<void>;
  resume(broker: number): Promise<void>;
  hide(broker: number): Promise<void>;
  show(broker: number): Promise<void>;
  createTopic(name: string, partitions?: number, options?: NewTopicOptions): Promise<Topic>;
  recreateTopic(name: string): Promise<void>;
  deleteTopic(name: string): Promise<void>;
  corrupt(topic: string, partition: number, offset: number): Promise<void>;
  compact(topic: string): Promise<void>;
  applyRetention(): Promise<void>;
  moveLeader(topic: string, partition: number, broker: number | null, options?: { keepsEpoch?: boolean }): Promise<void>;
  bumpLeaderEpoch(topic: string, partition: number): Promise<void>;
  pushLeaderAnswer(topic: string, partition: number, broker: number, leaderEpoch: number): Promise<void>;
  electUnclean(topic: string, partition: number): Promise<void>;
  holdFollower(topic: string, partition: number, broker: number): Promise<void>;
  releaseFollower(topic: string, partition: number, broker: number): Promise<void>;
  advanceFollower(topic: string, partition: number, broker: number, offset: number): Promise<void>;
  setFollowerStart(topic: string, partition: number, broker: number, offset: number): Promise<void>;
  moveController(broker: number): Promise<void>;
  holdMarkers(): Promise<void>;
  releaseMarkers(): Promise<void>;
  setApiVersions(api: string, min: number, max: number): Promise<void>;
  moveCoordinator(id: string, broker: number): Promise<void>;
  advance(ms: number): Promise<number>;
  reset(): Promise<void>;
}
