/* librdkafka's mock cluster as a process of its own: mock BROKERS TOPIC:PARTITIONS... Prints bootstrap=..., ends when standard input does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rdkafka.h"
#include "rdkafka_mock.h"

int main(int c, char **v) {
    char err[512];
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), err, sizeof err);
    if (!rk) { fprintf(stderr, "%s\n", err); return 2; }
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(rk, c > 1 ? atoi(v[1]) : 1);
    if (!cluster) { fprintf(stderr, "the mock cluster does not start\n"); return 2; }
    for (int i = 2; i < c; i++) {
        char *colon = strchr(v[i], ':');
        if (colon) *colon = 0;
        rd_kafka_mock_topic_create(cluster, v[i], colon ? atoi(colon + 1) : 1, 1);
    }
    printf("bootstrap=%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (getchar() != EOF) {}
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(rk);
    return 0;
}
