#!/bin/sh
# kcat against a cluster: metadata, records in every codec, a group, offsets by time. Usage: kcat.sh BOOTSTRAP
set -eu
bootstrap=$1
for codec in none gzip snappy lz4; do
    printf 'k1:%s\nk2:%s\n' "$codec" "$codec" | kcat -b "$bootstrap" -t kcat -P -K: -z "$codec"
done
seq 1 1000 | kcat -b "$bootstrap" -t kcat -P -X enable.idempotence=true
kcat -b "$bootstrap" -L | grep -q 'topic "kcat" with 1 partitions'
test "$(kcat -b "$bootstrap" -t kcat -C -e -q | wc -l)" = 1008
test "$(kcat -b "$bootstrap" -t kcat -C -e -q -o -3 | tr '\n' ' ')" = '998 999 1000 '
test "$(kcat -b "$bootstrap" -t kcat -C -e -q -c 1 -o 1000)" = 993
test "$(kcat -b "$bootstrap" -G kcat-group -X auto.offset.reset=earliest -e -q kcat 2>/dev/null | wc -l)" = 1008
# What the group has read is not read again.
echo last | kcat -b "$bootstrap" -t kcat -P
test "$(kcat -b "$bootstrap" -G kcat-group -e -q kcat 2>/dev/null)" = last
kcat -b "$bootstrap" -Q -t kcat:0:0 | grep -q 'offset 0'
echo ok
