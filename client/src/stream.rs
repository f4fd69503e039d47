//! A consumer as a stream of records.

use crate::runtime::BoxFuture;
use crate::{Consumer, ConsumerRecord, Error, Records};
use futures_core::Stream;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::Mutex;

/// Owned records, one by one, in partition order. Without a [`Consumer::committer`], auto-commit counts a record as
/// finished when a later poll of the stream is made for the records after it; with one, when it is said to be.
pub struct RecordStream {
    /// Locked by a poll that is under way, and by nothing else; a future of its own needs it for as long as it lives.
    consumer: Arc<Mutex<Consumer>>,
    polling: Option<BoxFuture<Result<Records, Error>>>,
    ahead: VecDeque<ConsumerRecord>,
}

impl RecordStream {
    pub(crate) fn new(consumer: Consumer) -> Self {
        Self { consumer: Arc::new(Mutex::new(consumer)), polling: None, ahead: VecDeque::new() }
    }
    /// The consumer back. Records read ahead are fetched again.
    ///
    /// # Panics
    ///
    /// Never: nobody else has the consumer once the poll that was under way is dropped.
    #[must_use]
    pub fn into_consumer(mut self) -> Consumer {
        self.polling = None;
        let mut consumer = Arc::into_inner(self.consumer).expect("the stream's future was dropped above").into_inner();
        consumer.take_back(self.ahead);
        consumer
    }
}
impl Stream for RecordStream {
    type Item = Result<ConsumerRecord, Error>;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(record) = self.ahead.pop_front() {
                return Poll::Ready(Some(Ok(record)));
            }
            let consumer = Arc::clone(&self.consumer);
            let polling =
                self.polling.get_or_insert_with(|| Box::pin(async move { consumer.lock_owned().await.poll().await }));
            let polled = ready!(polling.as_mut().poll(cx));
            self.polling = None;
            match polled {
                Ok(records) => self.ahead = records.iter().map(|record| record.to_owned()).collect(),
                Err(error) if error.is_fatal() && error.kind() == crate::ErrorKind::Closed => return Poll::Ready(None),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}
impl fmt::Debug for RecordStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordStream").field("ahead", &self.ahead.len()).finish_non_exhaustive()
    }
}
