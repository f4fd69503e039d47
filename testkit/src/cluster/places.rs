//! Where brokers listen, and where clients are told that they do.

#[cfg(feature = "client")]
use super::node::memory_address;
use super::{TestClusterBuilder, listening};
use crate::broker::{Endpoint, Node, NodeState};
use millstream_protocol::NodeId;
use millstream_protocol::messages::StrBytes;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

const NO_BROKERS: &str = "a cluster has at least one broker";

/// Where all brokers are.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) brokers: usize,
    /// What they bind.
    pub(super) host: IpAddr,
    /// The first broker's; 0: any that are free.
    pub(super) port: u16,
    pub(super) advertised: Option<Advertised>,
}

/// What clients are told instead.
#[derive(Debug, Clone)]
pub(super) struct Advertised {
    host: String,
    /// The first broker's; the port that it listens on if there is none.
    port: Option<u16>,
}

impl TestClusterBuilder {
    /// The address that the brokers bind. Default: 127.0.0.1. Any other than loopback lets other machines in; with 0.0.0.0 clients must be
    /// [told](Self::advertise) a name. Kafka's `listeners`.
    pub fn host(mut self, host: IpAddr) -> Self {
        self.places.host = host;
        self
    }
    /// Where clients are told to connect, when that is not where the brokers listen, as behind a proxy or in a container: a host, and the port
    /// of the first broker's first listener, from which the others' follow as [their own](Self::port) do; without one they are the brokers'
    /// own. Kafka's `advertised.listeners`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use millstream_testkit::TestCluster;
    ///
    /// let cluster = TestCluster::builder().brokers(2).advertise("kafka.test", Some(9092)).start().await;
    /// assert_eq!(cluster.bootstrap_servers(), "kafka.test:9092,kafka.test:9093");
    /// # }
    /// ```
    pub fn advertise(mut self, host: &str, port: Option<u16>) -> Self {
        self.places.advertised = Some(Advertised { host: host.to_owned(), port });
        self
    }
}

impl Places {
    /// One broker on loopback.
    pub(super) fn new() -> Self {
        Self { brokers: 1, host: Ipv4Addr::LOCALHOST.into(), port: 0, advertised: None }
    }
    /// For each broker a socket for each listener: the first ones of all brokers in a row, then the second ones.
    pub(super) fn listen(&self, listeners: usize) -> Result<Vec<Vec<TcpListener>>, String> {
        if self.brokers == 0 {
            return Err(NO_BROKERS.to_owned());
        }
        let of_broker = |broker| (0..listeners).map(|at| self.listen_at(at * self.brokers + broker)).collect();
        (0..self.brokers).map(of_broker).collect()
    }
    fn listen_at(&self, index: usize) -> Result<TcpListener, String> {
        let place = SocketAddr::new(self.host, nth_port(self.port, index)?);
        TcpListener::bind(place).map_err(|error| format!("{place} cannot be listened on: {}", listening::why(&error)))
    }
    /// Where the brokers are when they are in memory.
    #[cfg(feature = "client")]
    pub(super) fn in_memory(&self, first: NodeId, listeners: usize) -> Result<Vec<Vec<SocketAddr>>, String> {
        if self.brokers == 0 {
            return Err(NO_BROKERS.to_owned());
        }
        let ids = (first.get()..).map(NodeId::new).take(self.brokers);
        ids.map(|id| self.in_memory_at(id, listeners)).collect()
    }
    /// Where one broker is.
    #[cfg(feature = "client")]
    #[expect(clippy::unused_self, reason = "without clients it cannot be anywhere, and says so by the same name")]
    pub(super) fn in_memory_at(&self, id: NodeId, listeners: usize) -> Result<Vec<SocketAddr>, String> {
        let each = (0..listeners).map(|listener| memory_address(id, listener));
        each.collect::<Result<_, std::io::Error>>().map_err(|error| error.to_string())
    }
    #[cfg(not(feature = "client"))]
    pub(super) fn in_memory(&self, first: NodeId, listeners: usize) -> Result<Vec<Vec<SocketAddr>>, String> {
        self.in_memory_at(first, listeners).map(|addresses| vec![addresses])
    }
    #[cfg(not(feature = "client"))]
    #[expect(clippy::unused_self, reason = "with clients it has something to do")]
    pub(super) fn in_memory_at(&self, _id: NodeId, _listeners: usize) -> Result<Vec<SocketAddr>, String> {
        Err("millstream-testkit was built without its feature `client`, which clusters in memory need".to_owned())
    }
    /// Where one more broker listens, which comes after so many others.
    pub(super) fn listen_after(&self, others: usize, listeners: usize) -> Result<Vec<TcpListener>, String> {
        (0..listeners).map(|at| self.listen_at(others * listeners + at)).collect()
    }
    /// What clients are told of it.
    pub(super) fn told_after(&self, others: usize, addresses: &[SocketAddr]) -> Result<Vec<Endpoint>, String> {
        let each = addresses.iter().enumerate();
        each.map(|(at, address)| self.told_at(others * addresses.len() + at, *address)).collect()
    }
    /// What clients are told of each.
    pub(super) fn told(&self, addresses: &[Vec<SocketAddr>]) -> Result<Vec<Vec<Endpoint>>, String> {
        let of_broker = |(broker, of_broker): (usize, &Vec<SocketAddr>)| {
            let each = of_broker.iter().enumerate();
            each.map(|(at, address)| self.told_at(at * addresses.len() + broker, *address)).collect()
        };
        addresses.iter().enumerate().map(of_broker).collect()
    }
    /// The first listeners of all brokers come in a row, then the second ones.
    fn told_at(&self, index: usize, address: SocketAddr) -> Result<Endpoint, String> {
        let (host, port) = match &self.advertised {
            Some(Advertised { host, port: Some(first) }) => (host.clone(), nth_port(*first, index)?),
            Some(Advertised { host, port: None }) => (host.clone(), address.port()),
            None if address.ip().is_unspecified() => {
                return Err(format!(
                    "clients cannot connect to {}: say which host they are told instead (--advertise HOST, `advertise` of the builder)",
                    address.ip()
                ));
            }
            None => (address.ip().to_string(), address.port()),
        };
        Ok(Endpoint { host: StrBytes::from_string(host), port })
    }
}

/// The port of the `index`-th listener.
fn nth_port(first: u16, index: usize) -> Result<u16, String> {
    let port = match first {
        0 => Some(0),
        first => u16::try_from(index).ok().and_then(|index| first.checked_add(index)),
    };
    port.ok_or_else(|| {
        format!(
            "there is no port {first} + {index} for the {}th listener: begin lower, or with 0 for any that are free",
            index + 1
        )
    })
}
pub(super) fn addresses(sockets: &[Vec<TcpListener>]) -> Result<Vec<Vec<SocketAddr>>, String> {
    let of_broker = |sockets: &Vec<TcpListener>| sockets.iter().map(TcpListener::local_addr).collect();
    sockets.iter().map(of_broker).collect::<Result<_, _>>().map_err(|error: std::io::Error| error.to_string())
}
/// The addresses of all brokers at one listener.
pub(super) fn bootstrap(nodes: &[Node], listener: usize) -> String {
    let at = nodes.iter().filter_map(|node| node.endpoints.get(listener));
    at.map(ToString::to_string).collect::<Vec<_>>().join(",")
}
/// The brokers as they are told of each other, the first by this id.
pub(super) fn describe(first: NodeId, endpoints: Vec<Vec<Endpoint>>, racks: &[String]) -> Vec<Node> {
    let mut racks = racks.iter().cycle();
    let node = |(id, endpoints): (i32, Vec<Endpoint>)| Node {
        id: NodeId::new(id),
        endpoints,
        state: NodeState::Running,
        rack: racks.next().map(|rack| StrBytes::from_string(rack.clone())),
    };
    (first.get()..).zip(endpoints).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(places: &Places, addresses: &[&[&str]]) -> Result<Vec<String>, String> {
        let parse = |address: &&str| address.parse::<SocketAddr>().expect("an address");
        let addresses: Vec<Vec<SocketAddr>> =
            addresses.iter().map(|of_broker| of_broker.iter().map(parse).collect()).collect();
        let told = places.told(&addresses)?;
        Ok(told.iter().flatten().map(ToString::to_string).collect())
    }

    #[test]
    fn clients_are_told_where_brokers_listen_unless_another_place_is_named() {
        let mut places = Places { brokers: 2, ..Places::new() };
        let two: &[&[&str]] = &[&["127.0.0.1:9092", "127.0.0.1:9094"], &["127.0.0.1:9093", "127.0.0.1:9095"]];
        let themselves = ["127.0.0.1:9092", "127.0.0.1:9094", "127.0.0.1:9093", "127.0.0.1:9095"];
        assert_eq!(told(&places, two).expect("places"), themselves);
        assert_eq!(told(&places, &[&["[::1]:9092"]]).expect("places"), ["[::1]:9092"]);
        places.advertised = Some(Advertised { host: "kafka".to_owned(), port: None });
        assert_eq!(told(&places, two).expect("places"), ["kafka:9092", "kafka:9094", "kafka:9093", "kafka:9095"]);
        places.advertised = Some(Advertised { host: "kafka".to_owned(), port: Some(100) });
        assert_eq!(told(&places, two).expect("places"), ["kafka:100", "kafka:102", "kafka:101", "kafka:103"]);
    }
    #[test]
    fn nobody_is_told_to_connect_to_every_address() {
        let reason = told(&Places::new(), &[&["0.0.0.0:9092"]]).expect_err("it is no place to connect to");
        assert_eq!(
            reason,
            "clients cannot connect to 0.0.0.0: say which host they are told instead (--advertise HOST, `advertise` of the builder)"
        );
    }
}
