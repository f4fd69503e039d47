//! Answers that clients have not read: what all connections hold of them is bounded, as any number of clients may each ask for a large one and
//! read nothing.
//!
//! A connection has one answer at a time, as Kafka mutes a connection until its answer is out. When all hold as much as they may, the next
//! request waits until some of it is read. Whoever reads nothing meanwhile, or hardly anything, is not waited for: its connection ends. While no
//! request waits, everybody may take as long as they like.

use crate::broker::Outcome;
use bytes::Buf;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

/// Answers up to this size are not counted: a connection costs as much without one.
const SMALL: usize = 16 << 10;
/// For how long others wait for each part of somebody's answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many parts an answer has: whoever reads less than one of them while others lose their patience could hold it for hours.
const PARTS: usize = 16;

/// The bytes that all connections hold, and how many these may be.
#[derive(Debug)]
pub(super) struct Unread {
    held: watch::Sender<Held>,
    bound: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Held {
    bytes: usize,
    /// Connections whose next request waits.
    waiting: usize,
}
impl Unread {
    pub(super) fn new(bound: usize) -> Self {
        Self { held: watch::Sender::new(Held::default()), bound }
    }
    /// Holds an answer from here on, if it is large.
    pub(super) fn hold(self: &Arc<Self>, outcome: &Outcome) -> Option<Answer> {
        let bytes = match outcome {
            Outcome::Frame(frame) | Outcome::Last(frame, _) => frame.len(),
            Outcome::Raw(bytes) => bytes.len(),
            Outcome::Silence | Outcome::Close(_) => 0,
        };
        (bytes > SMALL).then(|| self.take(bytes))
    }
    /// Waits until another answer may be made.
    pub(super) async fn wait_for_room(&self) {
        if self.is_full(&self.held.borrow()) {
            let _waiting = Waiting::begin(self);
            self.until(|held| !self.is_full(held)).await;
        }
    }
    /// Ends when others have waited for so long that who reads nothing is not waited for any more.
    async fn lose_patience(&self) {
        loop {
            self.until(|held| self.is_waited_for(held)).await;
            if tokio::time::timeout(PATIENCE, self.until(|held| !self.is_waited_for(held))).await.is_err() {
                return;
            }
        }
    }
    async fn until(&self, is_so: impl Fn(&Held) -> bool + Send) {
        // The sender is here: it cannot be gone.
        let _ = self.held.subscribe().wait_for(move |held| is_so(held)).await;
    }
    fn is_full(&self, held: &Held) -> bool {
        held.bytes >= self.bound
    }
    fn is_waited_for(&self, held: &Held) -> bool {
        self.is_full(held) && held.waiting > 0
    }
    fn take(self: &Arc<Self>, bytes: usize) -> Answer {
        self.change(|held| held.bytes += bytes);
        Answer { all: Arc::clone(self), bytes }
    }
    /// Wakes whoever waits for room, or for others to wait for room, when that is so or is so no more.
    fn change(&self, change: impl Fn(&mut Held)) {
        self.held.send_if_modified(|held| {
            let look = |held: &Held| (self.is_full(held), self.is_waited_for(held));
            let before = look(held);
            change(held);
            before != look(held)
        });
    }
}

/// A request that waits for room until this is dropped.
struct Waiting<'a>(&'a Unread);
impl<'a> Waiting<'a> {
    fn begin(all: &'a Unread) -> Self {
        all.change(|held| held.waiting += 1);
        Self(all)
    }
}
impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.change(|held| held.waiting -= 1);
    }
}

/// A large answer, held until this is dropped.
#[derive(Debug)]
pub(super) struct Answer {
    all: Arc<Unread>,
    bytes: usize,
}
impl Answer {
    /// Writes what is left of it; an error when others have waited for too long for one of its parts.
    pub(super) async fn write(&self, stream: &mut (impl AsyncWrite + Unpin), mut left: impl Buf) -> io::Result<()> {
        while left.has_remaining() {
            self.hurried(write_part(stream, &mut left, self.part())).await?;
        }
        self.hurried(stream.flush()).await
    }
    fn part(&self) -> usize {
        self.bytes.div_ceil(PARTS)
    }
    async fn hurried<T>(&self, step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        tokio::select! {
            biased;
            done = step => done,
            () = self.all.lose_patience() => Err(self.too_slow()),
        }
    }
    fn too_slow(&self) -> io::Error {
        let (held, bound, bytes, part) = (self.all.held.borrow().bytes, self.all.bound, self.bytes, self.part());
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!(
                "its client has read less than {part} of an answer of {bytes} bytes for {PATIENCE:?}, while all connections hold {held} bytes \
                 of answers that are not read and may hold {bound} (millstream.max.unread.bytes)"
            ),
        )
    }
}
impl Drop for Answer {
    fn drop(&mut self) {
        self.all.change(|held| held.bytes -= self.bytes);
    }
}
async fn write_part(stream: &mut (impl AsyncWrite + Unpin), left: &mut impl Buf, part: usize) -> io::Result<()> {
    let goal = left.remaining().saturating_sub(part);
    while left.remaining() > goal {
        if stream.write_buf(left).await? == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};
    use tokio::time::{Instant, timeout};

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_until_answers_are_read() {
        let all = Arc::new(Unread::new(100));
        let (one, two) = (all.take(60), all.take(60));
        assert!(timeout(PATIENCE, all.wait_for_room()).await.is_err());
        drop(one);
        all.wait_for_room().await;
        drop(two);
        assert_eq!((all.held.borrow().bytes, all.held.borrow().waiting), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_is_left_alone_until_others_have_waited_for_it() {
        let all = Arc::new(Unread::new(100));
        let slow = all.take(60);
        let never = || pending::<io::Result<()>>();
        assert!(timeout(100 * PATIENCE, slow.hurried(never())).await.is_err(), "there is room");
        // That there was no room was enough, even if nobody asked for any: who read a large answer slowly, and alone, was cut off.
        let _other = all.take(60);
        assert!(timeout(100 * PATIENCE, slow.hurried(never())).await.is_err(), "nobody waits");
        let begun = Instant::now();
        let _waiting = Waiting::begin(&all);
        let refused = slow.hurried(never()).await.expect_err("others wait").to_string();
        assert_eq!(begun.elapsed(), PATIENCE);
        assert!(refused.contains("an answer of 60 bytes for 1s") && refused.contains("hold 120 bytes"), "{refused}");
    }

    /// Reads so much at a time, a little before others lose their patience.
    async fn sip(mut stream: DuplexStream, bytes: usize) {
        let mut sip = vec![0; bytes];
        while stream.read_exact(&mut sip).await.is_ok() {
            tokio::time::sleep(PATIENCE * 9 / 10).await;
        }
    }
    /// Every byte was taken for a sign of life: with a few connections that read one a second, nobody was answered any more.
    #[tokio::test(start_paused = true)]
    async fn who_reads_hardly_anything_is_not_waited_for() {
        let all = Arc::new(Unread::new(1600));
        let _waiting = Waiting::begin(&all);
        for (bytes, is_fast_enough) in [(1, false), (100, true)] {
            let answer = all.take(1600);
            let (mut near, far) = duplex(10);
            let (written, ()) = tokio::join!(
                async {
                    let written = answer.write(&mut near, &[7; 1600][..]).await;
                    drop(near);
                    written.map_err(|error| error.to_string())
                },
                sip(far, bytes)
            );
            assert_eq!(written.is_ok(), is_fast_enough, "{bytes} bytes at a time: {written:?}");
        }
    }
}
