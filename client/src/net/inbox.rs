//! What waits for a link's connection, in the order in which it was asked for.

use super::{RequestError, Row};
use bytes::Bytes;
use millstream_client_core::connection::Outgoing;
use millstream_protocol::frame::{EncodeError, Frame, Limits};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How many requests may wait for one connection.
pub(super) const QUEUE: usize = 1024;

pub(super) type Encode = Box<dyn FnOnce(i16, i32, &str) -> Result<Frame, EncodeError> + Send>;
pub(super) type Answer = Result<Answered, RequestError>;

/// An answer that is yet to be read.
pub(super) struct Answered {
    pub(super) version: i16,
    pub(super) payload: Bytes,
    pub(super) limits: Limits,
}

pub(super) enum Command {
    Send { outgoing: Outgoing, encode: Encode, asker: Asker },
    Throttle(Duration),
}
impl Command {
    /// The command, if it is still to be done: nobody may wait for it any more, and what would overtake others is refused.
    fn unless_moot(self) -> Option<Self> {
        match self {
            Self::Send { asker, .. } if asker.answer.is_closed() => None,
            Self::Send { asker, .. } if asker.row.as_ref().is_some_and(Row::is_broken_up) => {
                asker.answer(Err(RequestError::Overtaking));
                None
            }
            command => Some(command),
        }
    }
}

/// Who waits for an answer.
pub(super) struct Asker {
    pub(super) answer: oneshot::Sender<Answer>,
    pub(super) row: Option<Row>,
}
impl Asker {
    pub(super) fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
    /// There is no connection any more, or never was one. Those behind it in its row are to go with it.
    pub(super) fn fail(self, error: RequestError) {
        self.row.iter().for_each(Row::break_up);
        self.answer(Err(error));
    }
}

/// The link's end of the queue.
pub(super) struct Inbox {
    commands: mpsc::Receiver<Command>,
    /// Looked at already, and waiting for a connection; at most [`QUEUE`].
    kept: VecDeque<Command>,
}

impl Inbox {
    pub(super) const fn new(commands: mpsc::Receiver<Command>) -> Self {
        Self { commands, kept: VecDeque::new() }
    }
    /// The next that is still to be done; none when the handle is gone.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Command>> {
        loop {
            let next = match self.kept.pop_front() {
                Some(kept) => kept,
                None => match ready!(self.commands.poll_recv(cx)) {
                    Some(command) => command,
                    None => return Poll::Ready(None),
                },
            };
            if let Some(command) = next.unless_moot() {
                return Poll::Ready(Some(command));
            }
        }
    }
    /// Waits until there is something to do, which stays here. False when the handle is gone.
    pub(super) async fn fill(&mut self) -> bool {
        let next = poll_fn(|cx| self.poll_next(cx)).await;
        let is_open = next.is_some();
        next.into_iter().for_each(|command| self.kept.push_front(command));
        is_open
    }
    /// Looks at what comes while there is no connection, so that nobody waits for one only to hear that it is overtaking.
    pub(super) fn poll_sift(&mut self, cx: &mut Context<'_>) {
        while self.kept.len() < QUEUE
            && let Poll::Ready(Some(command)) = self.commands.poll_recv(cx)
        {
            self.kept.extend(command.unless_moot());
        }
    }
    /// Answers all that would overtake what has just failed.
    pub(super) fn sift(&mut self) {
        self.kept = self.kept.drain(..).filter_map(Command::unless_moot).collect();
        while self.kept.len() < QUEUE
            && let Ok(command) = self.commands.try_recv()
        {
            self.kept.extend(command.unless_moot());
        }
    }
    /// Everything fails that is here.
    pub(super) fn fail_all(&mut self, error: &RequestError) {
        for command in self.drain() {
            if let Command::Send { asker, .. } = command {
                asker.fail(error.clone());
            }
        }
    }

    fn drain(&mut self) -> impl Iterator<Item = Command> + '_ {
        let arrived = std::iter::from_fn(|| self.commands.try_recv().ok());
        self.kept.drain(..).chain(arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_protocol::ApiKey;
    use std::task::Waker;

    fn command(row: Option<&Row>) -> (Command, oneshot::Receiver<Answer>) {
        let (answer, answered) = oneshot::channel();
        let outgoing = Outgoing::new(ApiKey::PRODUCE, Duration::from_secs(5));
        let encode: Encode = Box::new(|_, _, _| unreachable!("nothing is sent here"));
        (Command::Send { outgoing, encode, asker: Asker { answer, row: row.cloned() } }, answered)
    }

    // It waited for a connection, only to hear that it would not be sent over it: with a broker that is gone that took all the time that
    // setting one up may take, and its partition's next leader was asked only then.
    #[test]
    fn what_would_overtake_is_refused_without_a_connection() {
        let (commands, receiver) = mpsc::channel(QUEUE);
        let mut inbox = Inbox::new(receiver);
        let row = Row::default();
        let (waiting, mut refused) = command(Some(&row));
        let (other, mut kept) = command(None);
        for each in [waiting, other] {
            assert!(commands.try_send(each).is_ok());
        }
        row.break_up();
        inbox.sift();
        assert!(matches!(refused.try_recv(), Ok(Err(RequestError::Overtaking))));
        let (late, mut refused) = command(Some(&row));
        assert!(commands.try_send(late).is_ok());
        let cx = &mut Context::from_waker(Waker::noop());
        inbox.poll_sift(cx);
        assert!(matches!(refused.try_recv(), Ok(Err(RequestError::Overtaking))), "it came while the link paused");
        assert!(kept.try_recv().is_err(), "it has nothing to do with it");
        assert!(matches!(inbox.poll_next(cx), Poll::Ready(Some(Command::Send { .. }))));
        assert!(inbox.poll_next(cx).is_pending());
    }

    #[test]
    fn what_is_kept_while_there_is_no_connection_has_a_bound() {
        is_bounded(|inbox| inbox.poll_sift(&mut Context::from_waker(Waker::noop())));
        // Each connection that broke as soon as it was there took as much again.
        is_bounded(Inbox::sift);
    }
    fn is_bounded(sift: impl Fn(&mut Inbox)) {
        let (commands, receiver) = mpsc::channel(QUEUE);
        let mut inbox = Inbox::new(receiver);
        let mut waiting = Vec::new();
        for round in [QUEUE, QUEUE, 0] {
            let taken = std::iter::from_fn(|| {
                let (next, answer) = command(None);
                commands.try_send(next).is_ok().then_some(answer)
            });
            let before = waiting.len();
            waiting.extend(taken);
            assert_eq!(waiting.len() - before, round);
            sift(&mut inbox);
        }
        inbox.fail_all(&RequestError::Closed);
        assert!(waiting.iter_mut().all(|each| matches!(each.try_recv(), Ok(Err(RequestError::Closed)))));
    }
}
