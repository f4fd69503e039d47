//! The doors of a broker, which differ in what a client has to do first.

#[cfg(feature = "tls")]
use crate::tls;
use millstream_protocol::frame;
use millstream_protocol::messages::SaslHandshakeRequest;
use millstream_testkit::{SecurityProtocol, TestCluster};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Where the corpus comes in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Door {
    Plain,
    /// Where clients have to prove themselves, and did not begin to.
    BeforeSasl,
    /// After a mechanism is agreed upon: in place of its tokens, which are requests.
    DuringSasl,
    /// The same by the older way, where tokens are frames of their own.
    DuringOldSasl,
    #[cfg(feature = "tls")]
    Tls,
}
impl Door {
    pub(crate) const ALL: &[Self] = &[
        Self::Plain,
        Self::BeforeSasl,
        Self::DuringSasl,
        Self::DuringOldSasl,
        #[cfg(feature = "tls")]
        Self::Tls,
    ];
    fn protocol(self) -> SecurityProtocol {
        match self {
            Self::Plain => SecurityProtocol::Plaintext,
            Self::BeforeSasl | Self::DuringSasl | Self::DuringOldSasl => SecurityProtocol::SaslPlaintext,
            #[cfg(feature = "tls")]
            Self::Tls => SecurityProtocol::Ssl,
        }
    }
    /// Whether a row comes in here. An encrypted connection takes a tenth of a second where nothing is optimised, and what is behind it is the
    /// same: of the rows that are framed, each tenth.
    pub(crate) fn is_for(self, at: usize, name: &str) -> bool {
        self.protocol() != SecurityProtocol::Ssl || at.is_multiple_of(10) || name.starts_with("frame/")
    }
    /// What comes before the corpus.
    fn greeting(self) -> Vec<u8> {
        let version = match self {
            Self::DuringSasl => 1,
            Self::DuringOldSasl => 0,
            _ => return Vec::new(),
        };
        let request = SaslHandshakeRequest::default().with_mechanism("PLAIN".into());
        frame::encode_request(version, 1, None, &request).expect("it can be written").to_bytes().to_vec()
    }
}

/// A connection of whose halves one's own can be closed.
pub(crate) trait Stream: Read + Write {
    fn close_own_half(&mut self);
}
impl Stream for TcpStream {
    fn close_own_half(&mut self) {
        match self.shutdown(Shutdown::Write) {
            // The broker has hung up already.
            Err(error) if error.kind() == ErrorKind::NotConnected => {}
            done => done.expect("a connection has two halves"),
        }
    }
}

/// A cluster with a listener for each door.
pub(crate) struct House {
    cluster: TestCluster,
    #[cfg(feature = "tls")]
    tls: std::sync::Arc<rustls::ClientConfig>,
}
impl House {
    pub(crate) fn open() -> Self {
        let builder =
            TestCluster::builder().topic("t", 1).topic("compacted", 1).config("log.cleanup.policy", "compact");
        let builder = builder.config("connection.failed.authentication.delay.ms", "0");
        let builder = builder.sasl(&["PLAIN", "SCRAM-SHA-256"]).user("alice", "alice-secret");
        let builder = Door::ALL.iter().fold(builder, |builder, door| {
            let is_first = !matches!(door, Door::DuringSasl | Door::DuringOldSasl);
            if is_first { builder.listener(door.protocol().name(), door.protocol()) } else { builder }
        });
        let cluster = builder.try_start().expect("loopback has free ports");
        Self {
            #[cfg(feature = "tls")]
            tls: tls::trusting(cluster.tls().ca_pem()),
            cluster,
        }
    }
    fn connect(&self, door: Door) -> Box<dyn Stream> {
        let stream = TcpStream::connect(self.cluster.bootstrap_servers_of(door.protocol().name())).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(180))).expect("a timeout can be set");
        match door {
            #[cfg(feature = "tls")]
            Door::Tls => Box::new(tls::over(&self.tls, stream)),
            _ => Box::new(stream),
        }
    }
    /// Sends bytes; an answer or the end of the connection is to come, and not nothing.
    pub(crate) fn survive(&self, door: Door, frame: &[u8], what: &str) {
        let mut stream = self.connect(door);
        let sent = stream.write_all(&[&door.greeting(), frame].concat());
        assert!(sent.is_ok(), "{what}, {door:?}: {sent:?}");
        // What is read as a request that waits has no answer: the other half of the connection is closed, so that the broker lets it go.
        stream.close_own_half();
        match stream.read_to_end(&mut Vec::new()) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => {}
            Err(error) => panic!("{what}, {door:?}: the broker neither answers nor hangs up: {error}"),
        }
    }
    /// Asks for the versions, as anyone may.
    pub(crate) fn assert_serves(&self, door: Door) {
        let mut stream = self.connect(door);
        stream.write_all(&[0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff]).expect("it takes the request");
        let mut head = [0; 8];
        stream.read_exact(&mut head).expect("it answers");
        assert_eq!(head[4..], [0, 0, 0, 7], "{door:?}");
    }
}
