// The types alone: `tsc` reads this, and nobody runs it.

import { Cluster, ControlError, type CommittedRecord, findBinary, type LoggedRequest, type Topic } from "../index.js";

export async function use(): Promise<string[]> {
  await using cluster: Cluster = await Cluster.start({
    brokers: 3,
    topics: { orders: 12, bills: { partitions: 2, replicationFactor: 3, config: { "cleanup.policy": "compact" } } },
    config: { "auto.create.topics.enable": false },
    binary: findBinary(),
  });
  const topic: Topic = await cluster.createTopic("more", 1, { config: { "retention.ms": 60_000 } });
  await cluster.addFaults("Produce", [{ error: "NOT_LEADER_OR_FOLLOWER" }, "disconnect"], { node: 1, partition: [topic.name, 0] });
  const [record]: CommittedRecord[] = await cluster.waitForRecords("orders", 1);
  const [logged]: LoggedRequest[] = await cluster.requests({ api: "Produce", clientId: "app" });
  // @ts-expect-error: an effect that there is not
  await cluster.addFaults("Produce", ["explode"]);
  // @ts-expect-error: an option that there is not
  await Cluster.start({ broker: 3 });
  if (new ControlError(404, "there is no broker 9").status !== 404 || logged?.outcome === "open") return [];
  return [record?.value?.toString() ?? "", cluster.bootstrapServers, ...Object.values(cluster.listeners)];
}
