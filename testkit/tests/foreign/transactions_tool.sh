#!/bin/sh
# Kafka's transactions tool against a cluster on which the transaction x is open on t-0 and a record of its producer hangs on u-0: prints what it
# prints, times made the same. Usage: transactions_tool.sh BOOTSTRAP LAUNCHER
session() {
    cat <<'END'
transactions list
transactions list --transactional-id-pattern x|y
transactions list --transactional-id-pattern y
transactions list --duration-filter 0
transactions list --duration-filter 100000000
transactions describe --transactional-id x
transactions describe --transactional-id nothere
transactions describe-producers --topic t --partition 0
transactions describe-producers --topic u --partition 0 --broker-id 1
transactions find-hanging --broker-id 1
transactions find-hanging --topic u
transactions find-hanging --topic t --partition 0
transactions abort --topic u --partition 0 --start-offset 7
transactions abort --topic u --partition 0 --start-offset 0
transactions describe-producers --topic u --partition 0
transactions find-hanging --broker-id 1
transactions forceTerminateTransaction --transactionalId x
transactions describe --transactional-id x
transactions list
transactions describe-producers --topic t --partition 0
transactions forceTerminateTransaction --transactionalId nothere
get-offsets --topic t
get-offsets --topic u
END
}
# A time of now has 13 digits; what comes after it, or after that of a record (1000), may be how long ago it was.
session | "$2" tools "$1" 2>&1 | grep -v '^	at ' | sed -E \
    -e 's/[[:space:]]+/ /g' \
    -e 's/\b[0-9]{13}\b [0-9]+\b/TIME AGO/' \
    -e 's/\b[0-9]{13}\b/TIME/g' \
    -e 's/ 1000 [0-9]{4,}/ 1000 AGO/' \
    -e 's/\[?20[0-9]{2}-[0-9-]+[ T][0-9:,.]+\]?/TIME/g'
