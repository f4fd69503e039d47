//! Failures are given to their handlers here, and the answers become what is done.

use super::frame::{Frame, Refused, Stop};
use crate::ProcessorError;
use crate::failure::{
    DeserializationFailure, OnDeserializationFailure, OnProcessingFailure, OnProductionFailure, Origin,
    ProcessingFailure, ProductionFailure, TaskError, dead_letter_headers,
};
use millstream_protocol::TopicName;
use millstream_state::SerdeError;
use millstream_state::serde::Part;

impl Frame {
    /// A node's user code failed.
    pub(super) fn processing_failed(&mut self, node: usize, error: ProcessorError) {
        let failure = ProcessingFailure {
            origin: self.origin(),
            task: self.task,
            node: self.node_name(node).to_owned(),
            timestamp: self.timestamp(),
            attempts: self.attempts + 1,
            error,
        };
        let answer = self.handlers.processing.handle(&failure);
        let ProcessingFailure { origin, error, .. } = failure;
        let letter = DeadLetter { origin, kind: "ProcessingFailure", error };
        match answer {
            OnProcessingFailure::Continue => self.go_on(letter),
            answer if self.has_overflowed => self.fail(
                Some(node),
                letter,
                &format!("{answer:?} cannot be done: the record's output was too large to be undone"),
            ),
            OnProcessingFailure::Fail => self.fail(Some(node), letter, "processing failed"),
            OnProcessingFailure::Skip => self.drop_outputs(Stop::Skip),
            OnProcessingFailure::Retry(after) => self.drop_outputs(Stop::Retry(after)),
            OnProcessingFailure::DeadLetter(topic) => self.bury(letter, TopicName::from(topic)),
        }
    }
    /// The collector did not take these.
    pub(super) fn refused(&mut self, node: Option<usize>, refused: Vec<Refused>) {
        for Refused { topic, error } in refused {
            if self.stop.is_none() {
                self.production_failed(node, &topic, None, error);
            }
        }
    }
    /// A record has no bytes, or was not taken.
    pub(super) fn production_failed(
        &mut self,
        node: Option<usize>,
        topic: &TopicName,
        part: Option<Part>,
        error: ProcessorError,
    ) {
        let failure = ProductionFailure {
            origin: self.origin(),
            task: self.task,
            node: node.map_or_else(String::new, |node| self.node_name(node).to_owned()),
            topic: topic.as_str().to_owned(),
            part,
            is_retriable: false,
            error,
        };
        let answer = self.handlers.production.handle(&failure);
        let ProductionFailure { origin, error, .. } = failure;
        let letter = DeadLetter { origin, kind: "ProductionFailure", error };
        match answer {
            OnProductionFailure::Continue => self.go_on(letter),
            OnProductionFailure::Fail | OnProductionFailure::Retry(_) => {
                self.fail(node, letter, &format!("a record for topic `{topic}` could not be written"));
            }
            OnProductionFailure::DeadLetter(topic) => {
                self.send_letter(&letter, &TopicName::from(topic));
                self.count_dropped();
            }
        }
    }
    /// Input bytes are no key or value.
    pub(super) fn deserialization_failed(&mut self, node: usize, origin: Origin, part: Part, error: SerdeError) {
        let failure = DeserializationFailure { origin, node: self.node_name(node).to_owned(), part, error };
        let answer = self.handlers.deserialization.handle(&failure);
        let DeserializationFailure { origin, node: name, error, .. } = failure;
        let read = format!(
            "read the {part} of {} at offset {} in source `{name}`; correct its serde, or let the handler of deserialization \
             failures skip such records or send them elsewhere (deserialization.exception.handler)",
            origin.topic_partition, origin.offset
        );
        let letter = DeadLetter { origin: Some(origin), kind: "DeserializationFailure", error: error.into() };
        match answer {
            OnDeserializationFailure::Fail => self.fail(Some(node), letter, &read),
            OnDeserializationFailure::Continue => self.go_on(letter),
            OnDeserializationFailure::DeadLetter(topic) => {
                self.send_letter(&letter, &TopicName::from(topic));
                self.count_dropped();
            }
        }
    }
    /// Stops the task: nobody may decide otherwise.
    pub(super) fn fail_hard(&mut self, node: Option<usize>, doing: String, error: ProcessorError) {
        let node = node.map(|node| self.node_name(node));
        self.stop = Some(Stop::Fail(TaskError::new(self.task, node, doing, error)));
    }

    fn go_on(&mut self, letter: DeadLetter) {
        self.count_dropped();
        if let Some(topic) = self.handlers.dead_letter_queue.clone() {
            self.send_letter(&letter, &topic);
        }
    }
    fn fail(&mut self, node: Option<usize>, letter: DeadLetter, doing: &str) {
        if let Some(topic) = self.handlers.dead_letter_queue.clone() {
            self.outputs.clear();
            self.send_letter(&letter, &topic);
            // A letter that is refused as well changes nothing: the task stops.
            let _ = self.send();
        }
        self.fail_hard(node, doing.to_owned(), letter.error);
    }
    /// What the record has written is dropped first, so that the letter is all that is sent.
    fn bury(&mut self, letter: DeadLetter, topic: TopicName) {
        self.outputs.clear();
        self.send_letter(&letter, &topic);
        self.stop = Some(Stop::Skip);
    }
    fn drop_outputs(&mut self, stop: Stop) {
        self.outputs.clear();
        self.stop = Some(stop);
    }
    /// A punctuation has no bytes to send.
    fn send_letter(&mut self, letter: &DeadLetter, topic: &TopicName) {
        if let Some(origin) = &letter.origin {
            let headers = dead_letter_headers(origin, letter.kind, &*letter.error);
            self.write_raw(topic, origin, &headers);
        }
    }
}

struct DeadLetter {
    origin: Option<Origin>,
    kind: &'static str,
    error: ProcessorError,
}
