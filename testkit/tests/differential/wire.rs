//! A connection on which each question has an answer, or an end.

use bytes::Bytes;
use millstream_protocol::frame::{self, FrameBuffer};
use millstream_protocol::messages::{Request, SaslAuthenticateRequest, SaslHandshakeRequest, StrBytes};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

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
        if let (None, Some(login)) = (&self.open, self.login) {
            self.log_in(login);
        }
        self.ask_as_it_is(version, request)
    }
    fn log_in(&mut self, (name, password): Login) {
        let handshake = SaslHandshakeRequest::default().with_mechanism(StrBytes::from_static_str("PLAIN"));
        self.ask_as_it_is(1, &handshake).expect("it takes PLAIN");
        let token = Bytes::from(format!("\0{name}\0{password}"));
        let said = self.ask_as_it_is(2, &SaslAuthenticateRequest::default().with_auth_bytes(token));
        assert_eq!(said.map(|said| said.error_code), Some(0), "{name} logs in at {}", self.address);
    }
    fn ask_as_it_is<R: Request>(&mut self, version: i16, request: &R) -> Option<R::Response> {
        self.sent += 1;
        let frame =
            frame::encode_request(version, self.sent, Some("differential"), request).expect("it can be written");
        let payload = self.exchange(&frame.to_bytes());
        let (_, response) = frame::decode_response::<R>(version, payload?)
            .unwrap_or_else(|error| panic!("{} {version} from {}: {error}", R::KEY, self.address));
        Some(response)
    }
    /// Sends a frame without a header, and waits for what comes back.
    pub(crate) fn ask_bare(&mut self, token: &[u8]) -> Option<Bytes> {
        let length = u32::try_from(token.len()).expect("a short token");
        self.exchange(&[&length.to_be_bytes(), token].concat())
    }
    fn exchange(&mut self, frame: &[u8]) -> Option<Bytes> {
        let payload = self.try_exchange(frame);
        self.is_over = payload.is_none();
        if self.is_over {
            self.open = None;
        }
        payload
    }
    fn try_exchange(&mut self, frame: &[u8]) -> Option<Bytes> {
        let address = &self.address;
        let (stream, buffer) = self.open.get_or_insert_with(|| {
            let stream = TcpStream::connect(address).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
            (stream, FrameBuffer::new(64 << 20))
        });
        stream.write_all(frame).ok()?;
        loop {
            if let Some(payload) = buffer.next_frame().expect("frames") {
                return Some(payload);
            }
            let mut chunk = [0; 16 << 10];
            match stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(count) => buffer.extend(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{address} neither answers nor hangs up: {error}"),
            }
        }
    }
}
