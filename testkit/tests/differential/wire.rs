//! A connection on which each question has an answer, or an end.

use bytes::Bytes;
use millstream_protocol::frame::{self, FrameBuffer};
use millstream_protocol::messages::{Request, SaslAuthenticateRequest, SaslHandshakeRequest, StrBytes};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long whoever does not hold an answer back has to give it.
const PATIENCE: Duration = Duration::from_secs(180);

/// What came within the time given.
pub(crate) enum Heard<A> {
    Answer(A),
    Ended,
    Nothing,
}

/// Who a connection says it is: name and password, by PLAIN.
pub(crate) type Login = (&'static str, &'static str);

/// A connection that is made anew when it ended.
pub(crate) struct Wire {
    address: String,
    login: Option<Login>,
    open: Option<(TcpStream, FrameBuffer)>,
    sent: i32,
    is_over: bool,
}
impl Wire {
    pub(crate) fn new(address: &str, login: Option<Login>) -> Self {
        Self { address: address.to_owned(), login, open: None, sent: 0, is_over: false }
    }
    /// Whether the broker has hung up since the last question.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }
    /// Asks; none when the broker hangs up instead of answering.
    pub(crate) fn ask<R: Request>(&mut self, version: i16, request: &R) -> Option<R::Response> {
        self.send(version, request);
        self.read_answer::<R>(version)
    }
    /// Asks, and leaves the answer for [`Self::receive`].
    pub(crate) fn send<R: Request>(&mut self, version: i16, request: &R) {
        if let (None, Some(login)) = (&self.open, self.login) {
            self.log_in(login);
        }
        self.send_as_it_is(version, request);
    }
    /// The answer to the oldest question that has had none.
    pub(crate) fn receive<R: Request>(&mut self, version: i16, within: Duration) -> Heard<R::Response> {
        match self.next_frame(within) {
            Heard::Answer(payload) => {
                let (_, response) = frame::decode_response::<R>(version, payload)
                    .unwrap_or_else(|error| panic!("{} {version} from {}: {error}", R::KEY, self.address));
                Heard::Answer(response)
            }
            Heard::Ended => Heard::Ended,
            Heard::Nothing => Heard::Nothing,
        }
    }
    /// Sends a frame without a header, and waits for what comes back.
    pub(crate) fn ask_bare(&mut self, token: &[u8]) -> Option<Bytes> {
        let length = u32::try_from(token.len()).expect("a short token");
        self.write(&[&length.to_be_bytes(), token].concat());
        match self.next_frame(PATIENCE) {
            Heard::Answer(payload) => Some(payload),
            Heard::Ended => None,
            Heard::Nothing => panic!("{} neither answers a token nor hangs up", self.address),
        }
    }
    /// Hangs up.
    pub(crate) fn end(&mut self) {
        self.open = None;
    }
    fn log_in(&mut self, (name, password): Login) {
        let handshake = SaslHandshakeRequest::default().with_mechanism(StrBytes::from_static_str("PLAIN"));
        self.send_as_it_is(1, &handshake);
        self.read_answer::<SaslHandshakeRequest>(1).expect("it takes PLAIN");
        let token = Bytes::from(format!("\0{name}\0{password}"));
        self.send_as_it_is(2, &SaslAuthenticateRequest::default().with_auth_bytes(token));
        let said = self.read_answer::<SaslAuthenticateRequest>(2);
        assert_eq!(said.map(|said| said.error_code), Some(0), "{name} logs in at {}", self.address);
    }
    fn send_as_it_is<R: Request>(&mut self, version: i16, request: &R) {
        self.sent += 1;
        let frame =
            frame::encode_request(version, self.sent, Some("differential"), request).expect("it can be written");
        self.write(&frame.to_bytes());
    }
    fn write(&mut self, frame: &[u8]) {
        let address = &self.address;
        let (stream, _) = self
            .open
            .get_or_insert_with(|| (TcpStream::connect(address).expect("it listens"), FrameBuffer::new(64 << 20)));
        // Who has hung up is found out by whoever listens.
        let _ = stream.write_all(frame);
    }
    fn read_answer<R: Request>(&mut self, version: i16) -> Option<R::Response> {
        match self.receive::<R>(version, PATIENCE) {
            Heard::Answer(response) => Some(response),
            Heard::Ended => None,
            Heard::Nothing => panic!("{} neither answers {} {version} nor hangs up", self.address, R::KEY),
        }
    }
    fn next_frame(&mut self, within: Duration) -> Heard<Bytes> {
        let heard = match &mut self.open {
            Some((stream, buffer)) => next_frame(stream, buffer, within),
            None => Heard::Ended,
        };
        self.is_over = matches!(heard, Heard::Ended);
        if self.is_over {
            self.open = None;
        }
        heard
    }
}
fn next_frame(stream: &mut TcpStream, buffer: &mut FrameBuffer, within: Duration) -> Heard<Bytes> {
    stream.set_read_timeout(Some(within)).expect("a timeout can be set");
    loop {
        if let Some(payload) = buffer.next_frame().expect("frames") {
            return Heard::Answer(payload);
        }
        let mut chunk = [0; 16 << 10];
        match stream.read(&mut chunk) {
            Ok(0) => return Heard::Ended,
            Ok(count) => buffer.extend(&chunk[..count]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => return Heard::Nothing,
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => return Heard::Ended,
                _ => panic!("a connection cannot be read from: {error}"),
            },
        }
    }
}
