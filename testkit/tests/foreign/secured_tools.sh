# Kafka's tools as a user of SASL, for a comparison of what they print. Usage: secured_tools.sh BOOTSTRAP LAUNCHER FOLDER
set -u
bootstrap=$1
launcher=$2
folder=$3
for user in alice admin; do
    cat >"$folder/$user.properties" <<END
security.protocol=SASL_PLAINTEXT
sasl.mechanism=SCRAM-SHA-256
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="$user" password="$user-secret";
END
done
session() {
    sed "s#ADMIN#--command-config $folder/admin.properties#; s#ALICE#--command-config $folder/alice.properties#" <<'END'
topics ADMIN --create --topic orders --partitions 1 --replication-factor 1
acls ADMIN --add --allow-principal User:alice --operation Read --operation Describe --topic orders
acls ADMIN --add --deny-principal User:alice --operation Write --topic ord --resource-pattern-type prefixed
acls ADMIN --add --allow-principal User:alice --operation All --group team- --resource-pattern-type prefixed
acls ADMIN --list
acls ADMIN --list --topic orders --resource-pattern-type match
acls ADMIN --list --principal User:alice --group team-a --resource-pattern-type match
acls ALICE --list
topics ALICE --describe --topic orders
input never\n
console-producer ALICE --topic orders
input written\n
console-producer ADMIN --topic orders
console-consumer ALICE --topic orders --group team-a --from-beginning --max-messages 1 --timeout-ms 180000
acls ADMIN --remove --force --topic orders --resource-pattern-type match
acls ADMIN --list
configs ADMIN --alter --entity-type users --entity-name dave --add-config SCRAM-SHA-256=[iterations=8192,password=secret]
configs ADMIN --describe --entity-type users --entity-name dave
configs ADMIN --alter --entity-type users --entity-name dave --delete-config SCRAM-SHA-256
END
}
# Rules come in no order: each tool's lines are sorted. What a log says, and how often, is no matter but for the error itself.
session | "$launcher" tools "$bootstrap" 2>&1 | sed -E \
    -e 's/.*(Topic|Cluster)AuthorizationException.*/\1AuthorizationException/' \
    -e '/^\[|^	at |^>*$/d' \
    -e "s#$folder/##" \
    -e 's/^[[:space:]]*//' \
    -e 's/TopicId: [^[:space:]]*/TopicId: -/; s/Elr:.*//; s/Configs:.*//' \
    | awk '/^--- /{tool++} NF {print tool "\t" !/^--- / "\t" $0}' | sort -u -k1,1n -k2,2n -k3 | cut -f3-
echo "end"
