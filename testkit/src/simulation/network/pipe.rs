//! One way of a connection: bytes under way, in their order, and bytes that have arrived.

use bytes::Bytes;
use std::collections::VecDeque;
use std::task::{Context, Waker};
use std::time::Duration;

/// How much may be under way or unread before a writer waits.
const WINDOW: usize = 256 << 10;

/// What travels.
#[derive(Debug)]
pub(crate) enum Piece {
    Bytes(Bytes),
    End,
}

#[derive(Debug, Default)]
pub(crate) struct Pipe {
    /// With the time of its arrival.
    under_way: VecDeque<(Duration, Piece)>,
    arrived: VecDeque<Bytes>,
    held: usize,
    ended: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    /// How much it takes now.
    pub(crate) fn room(&self) -> usize {
        WINDOW.saturating_sub(self.held)
    }
    /// Sends a piece on its way, behind all others; says whether it is the first.
    pub(crate) fn push(&mut self, at: Duration, piece: Piece) -> bool {
        if let Piece::Bytes(bytes) = &piece {
            self.held += bytes.len();
        }
        let last = self.under_way.back().map_or(at, |(last, _)| *last);
        self.under_way.push_back((at.max(last), piece));
        self.under_way.len() == 1
    }
    /// When the next piece arrives.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.under_way.front().map(|(at, _)| *at)
    }
    /// Takes the next piece out, if it is there by now, to be handled at the other end.
    pub(crate) fn pop(&mut self, now: Duration) -> Option<Piece> {
        let (_, piece) = self.under_way.pop_front_if(|(at, _)| *at <= now)?;
        if let Piece::Bytes(bytes) = &piece {
            self.release(bytes.len());
        }
        Some(piece)
    }
    /// Lets the next piece arrive, if it is there by now, to be read; says how many bytes it has.
    pub(crate) fn arrive(&mut self, now: Duration) -> usize {
        let Some((_, piece)) = self.under_way.pop_front_if(|(at, _)| *at <= now) else { return 0 };
        self.wake_reader();
        match piece {
            Piece::Bytes(bytes) => {
                let len = bytes.len();
                self.arrived.push_back(bytes);
                len
            }
            Piece::End => {
                self.ended = true;
                0
            }
        }
    }
    /// Bytes that have arrived, at most `most`; none if there are none yet; empty at the end.
    pub(crate) fn read(&mut self, most: usize) -> Option<Bytes> {
        let Some(front) = self.arrived.front_mut() else { return self.ended.then(Bytes::new) };
        let bytes = front.split_to(most.min(front.len()));
        if front.is_empty() {
            self.arrived.pop_front();
        }
        self.release(bytes.len());
        Some(bytes)
    }
    pub(crate) fn wait_to_read(&mut self, cx: &Context<'_>) {
        self.reader = Some(cx.waker().clone());
    }
    pub(crate) fn wait_to_write(&mut self, cx: &Context<'_>) {
        self.writer = Some(cx.waker().clone());
    }
    /// Nothing more comes, and what is under way is lost.
    pub(crate) fn break_off(&mut self) {
        self.under_way.clear();
        self.arrived.clear();
        self.wake_reader();
        self.wake_writer();
    }
    fn release(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
        self.wake_writer();
    }
    fn wake_reader(&mut self) {
        self.reader.take().into_iter().for_each(Waker::wake);
    }
    fn wake_writer(&mut self) {
        self.writer.take().into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_arrive_in_their_order_and_not_before_their_time() {
        let (mut pipe, ms) = (Pipe::default(), Duration::from_millis);
        assert!(pipe.push(ms(5), Piece::Bytes(Bytes::from_static(b"ab"))));
        assert!(!pipe.push(ms(3), Piece::Bytes(Bytes::from_static(b"c"))), "it waits behind the first");
        pipe.push(ms(3), Piece::End);
        assert_eq!(pipe.arrive(ms(4)), 0);
        assert_eq!(pipe.read(9), None);
        assert_eq!([(); 3].map(|()| pipe.arrive(ms(5))), [2, 1, 0]);
        assert_eq!(pipe.read(1).as_deref(), Some(&b"a"[..]));
        assert_eq!(pipe.read(9).as_deref(), Some(&b"b"[..]));
        assert_eq!(pipe.read(9).as_deref(), Some(&b"c"[..]));
        assert_eq!(pipe.read(9).as_deref(), Some(&b""[..]), "the end");
        assert_eq!(pipe.room(), WINDOW);
    }
}
