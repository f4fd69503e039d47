//! The flags, each with what may be said. What they mean together is `sense`'s.

use super::values;
use crate::broker::Release;
use crate::{SecurityProtocol, TestTopic};
use clap::Args;
use std::net::{IpAddr, Ipv4Addr};
#[cfg(feature = "tls")]
use std::path::PathBuf;

/// Each flag by itself.
#[derive(Debug, Clone, Args)]
pub(super) struct Flags {
    /// How many brokers
    #[arg(long, help_heading = CLUSTER, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) brokers: u16,
    /// The brokers' racks, as in a,b,c; from the first again when there are more brokers
    #[arg(long, help_heading = CLUSTER, value_name = "RACK", value_delimiter = ',')]
    pub(super) racks: Vec<String>,
    /// A topic that is there from the start, as in orders, orders:12, orders:12:3 or orders:12,cleanup.policy=compact; may be repeated.
    /// Without PARTITIONS it has one, without REPLICAS as many as default.replication.factor says
    #[arg(long = "topic", help_heading = CLUSTER, value_name = "NAME[:PARTITIONS[:REPLICAS]][,KEY=VALUE…]", value_parser = values::topic)]
    pub(super) topics: Vec<TestTopic>,
    /// A broker option by Kafka's key, as in num.partitions=3; may be repeated. Topics inherit by the broker's keys: log.retention.ms
    #[arg(long = "set", help_heading = CLUSTER, value_name = "KEY=VALUE", value_parser = values::setting)]
    pub(super) settings: Vec<(String, String)>,
    /// Speaks as this Kafka release, as in 2.8: its APIs, versions and features. Default: the newest
    #[arg(long = "as-version", help_heading = CLUSTER, value_name = "RELEASE", value_parser = values::release)]
    pub(super) release: Option<Release>,
    /// Where ids, names and jitter come from, a number: with the same seed they are the same
    #[arg(long, help_heading = CLUSTER)]
    pub(super) seed: Option<u64>,

    /// The first broker's port; the next ones take the ports after it. 0: any that are free
    #[arg(long, help_heading = PLACE, default_value_t = 0)]
    pub(super) port: u16,
    /// The address to listen on, as in 127.0.0.1 or ::1; any but loopback lets other machines in, and 0.0.0.0 needs --advertise
    #[arg(long, help_heading = PLACE, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_parser = values::host)]
    pub(super) host: IpAddr,
    /// Where clients are told to connect, if not where the brokers listen: behind a proxy, in a container. PORT is the first broker's
    #[arg(long, help_heading = PLACE, value_name = "HOST[:PORT]", value_parser = values::place)]
    pub(super) advertise: Option<(String, Option<u16>)>,
    /// A listener of every broker: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, by a name of its own if it has one, as in CLIENTS=SASL_SSL; may
    /// be repeated. The second ones' ports follow the first ones'. Default: one, as --sasl and --tls say
    #[arg(long = "listener", help_heading = PLACE, value_name = "[NAME=]PROTOCOL", value_parser = values::listener)]
    pub(super) listeners: Vec<(String, SecurityProtocol)>,

    /// Clients authenticate by one of these mechanisms: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER
    #[arg(long, help_heading = SECURITY, value_name = "MECHANISM", value_delimiter = ',', value_parser = values::mechanism)]
    pub(super) sasl: Vec<&'static str>,
    /// A user of PLAIN and SCRAM, as in alice=secret; may be repeated
    #[arg(long = "user", help_heading = SECURITY, value_name = "NAME=PASSWORD", value_parser = values::user)]
    pub(super) users: Vec<(String, String)>,
    /// Connections are encrypted. This folder gets what clients need: ca.pem, and client.pem and client.key for one with a certificate
    #[cfg(feature = "tls")]
    #[arg(long, help_heading = SECURITY, value_name = "FOLDER")]
    pub(super) tls: Option<PathBuf>,
    /// Rules say who may do what (Kafka's ACLs): without one, nobody but super users may do anything
    #[arg(long, help_heading = SECURITY)]
    pub(super) acls: bool,
    /// Who may do everything, as in User:admin; may be repeated. Who has not authenticated is User:ANONYMOUS
    #[arg(long = "super-user", help_heading = SECURITY, value_name = "TYPE:NAME", value_parser = values::principal)]
    pub(super) super_users: Vec<String>,

    /// Opens a control port (HTTP and JSON) for faults, topology, time, requests and logs; 0: any that is free
    #[arg(long, help_heading = PROCESS, value_name = "PORT")]
    pub(super) control_port: Option<u16>,
    /// Prints the ready line as JSON: {"bootstrap":"HOST:PORT","control":"URL","listeners":{"NAME":"HOST:PORT"}}
    #[arg(long, help_heading = PROCESS)]
    pub(super) json: bool,
    /// Ends when standard input closes, too: with the process that started it
    #[arg(long, help_heading = PROCESS)]
    pub(super) with_parent: bool,
}
impl Flags {
    /// The folder of the certificates.
    #[cfg(feature = "tls")]
    pub(super) fn certificates(&self) -> Option<&std::path::Path> {
        self.tls.as_deref()
    }
    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "with TLS it has something to do")]
    pub(super) const fn certificates(&self) -> Option<&std::path::Path> {
        None
    }
    /// What was set by Kafka's key; the last counts.
    pub(super) fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().rev().find(|(set, _)| set == key).map(|(_, value)| value.as_str())
    }
}

const CLUSTER: &str = "The cluster";
const PLACE: &str = "Where it is";
const SECURITY: &str = "Who may come";
const PROCESS: &str = "The process";

pub(super) const ABOUT: &str = "Serves an embedded Kafka cluster on loopback until SIGINT or SIGTERM";
pub(super) const LONG_ABOUT: &str = "\
Serves an embedded Kafka cluster on loopback until SIGINT or SIGTERM: for tests, in any language. Any Kafka client can use it.

It starts in milliseconds and keeps everything in memory. When it is ready, one line is printed to standard output:

  bootstrap=HOST:PORT[,HOST:PORT…] [control=URL] [listener.NAME=HOST:PORT…]

with the addresses for clients, that of the control port if there is one, and those of each listener after the first. Before that \
line nothing can connect; if it cannot start, there is no line but a reason on standard error.

Options are Kafka's, with Kafka's defaults: topics appear by being used, unless told not to with --set auto.create.topics.enable=false. \
But groups do not wait long (group.initial.rebalance.delay.ms=10), and topics have three replicas where there are three brokers \
(default.replication.factor); DescribeConfigs tells all that is in force.

With --control-port, the cluster can be made to fail in the ways that a real one fails, and tells what it was asked: by HTTP and \
JSON, as GET /openapi.yaml of that port says.";
/// PROGRAM is what this is called.
pub(super) const EXAMPLES: &str = "\
Examples:
  Three brokers, a topic, and a control port:
    PROGRAM --brokers 3 --topic orders:12 --control-port 0
  What clients use behind TLS and passwords; they trust certs/ca.pem:
    PROGRAM --sasl SCRAM-SHA-256 --user alice=secret --tls certs
  For a test that starts it: ready line as JSON, and it ends with the test:
    PROGRAM --json --with-parent
  The next produce request at any broker fails, all that was asked is shown, an hour passes:
    curl -d '{\"api\":\"Produce\",\"steps\":[{\"do\":{\"error\":\"NOT_LEADER_OR_FOLLOWER\"}}]}' $CONTROL/faults
    curl \"$CONTROL/requests?api=Produce\"
    curl -d '{\"ms\":3600000}' $CONTROL/time/advance

Exit codes: 0 after a signal or its parent's end, 1 when it could not start, 2 when the flags are wrong.";
