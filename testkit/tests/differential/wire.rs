//! A connection on which each question has an answer, or an end.

use bytes::Bytes;
use millstream_protocol::frame::{self, FrameBuffer};
use millstream_protocol::messages::Request;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection that is made anew when it ended.
pub(crate) struct Wire {
    address: String,
    open: Option<(TcpStream, FrameBuffer)>,
    sent: i32,
}
impl Wire {
    pub(crate) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), open: None, sent: 0 }
    }
    /// Asks; none when the broker hangs up instead of answering.
    pub(crate) fn ask<R: Request>(&mut self, version: i16, request: &R) -> Option<R::Response> {
        self.sent += 1;
        let frame =
            frame::encode_request(version, self.sent, Some("differential"), request).expect("it can be written");
        let payload = self.exchange(&frame.to_bytes());
        if payload.is_none() {
            self.open = None;
        }
        let (_, response) = frame::decode_response::<R>(version, payload?)
            .unwrap_or_else(|error| panic!("{} {version} from {}: {error}", R::KEY, self.address));
        Some(response)
    }
    fn exchange(&mut self, frame: &[u8]) -> Option<Bytes> {
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
