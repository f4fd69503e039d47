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
as() {
    user=$1 tool=$2
    shift 2
    "$launcher" tool "$tool" --bootstrap-server "$bootstrap" --command-config "$folder/$user.properties" "$@" 2>/dev/null | grep -v '^\s*$'
}
sorted() {
    sed 's/^[[:space:]]*//' | sort
}
as admin topics --create --topic orders --partitions 1 --replication-factor 1
echo "== rules"
as admin acls --add --allow-principal User:alice --operation Read --operation Describe --topic orders | sorted
as admin acls --add --deny-principal User:alice --operation Write --topic ord --resource-pattern-type prefixed | sorted
as admin acls --add --allow-principal User:alice --operation All --group 'team-' --resource-pattern-type prefixed | sorted
echo "== found"
as admin acls --list | sorted
as admin acls --list --topic orders --resource-pattern-type match | sorted
as admin acls --list --principal User:alice --group team-a --resource-pattern-type match | sorted
echo "== denied"
as alice acls --list >/dev/null || echo "alice may not list"
as alice topics --describe --topic orders | sed 's/TopicId: [^[:space:]]*/TopicId: -/; s/Elr:.*//; s/Configs:.*//'
echo "== records"
echo "never" | "$launcher" tool console-producer --bootstrap-server "$bootstrap" --producer.config "$folder/alice.properties" --topic orders 2>&1 | grep -o 'TopicAuthorizationException' | head -1
echo "written" | "$launcher" tool console-producer --bootstrap-server "$bootstrap" --producer.config "$folder/admin.properties" --topic orders 2>&1 | grep -v '^>*$'
"$launcher" tool console-consumer --bootstrap-server "$bootstrap" --consumer.config "$folder/alice.properties" --topic orders --group team-a --from-beginning --max-messages 1 --timeout-ms 20000 2>/dev/null
echo "== removed"
as admin acls --remove --force --topic orders --resource-pattern-type match | sorted
as admin acls --list | sorted
echo "== credentials"
as admin configs --alter --entity-type users --entity-name dave --add-config 'SCRAM-SHA-256=[iterations=8192,password=secret]' | sorted
as admin configs --describe --entity-type users --entity-name dave | sorted
as admin configs --alter --entity-type users --entity-name dave --delete-config 'SCRAM-SHA-256' | sorted
echo "end"
