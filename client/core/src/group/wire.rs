//! The classic field types that the embedded blobs are made of. Reads never trust a count or a length.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use millstream_protocol::{TopicName, TopicPartition};

/// Bytes of another member that are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// They end in the middle of a field.
    #[error("the bytes end early: {wanted} more wanted, {left} left")]
    Short {
        /// How many were wanted.
        wanted: usize,
        /// How many were left.
        left: usize,
    },
    /// A count or length is negative where it may not be, or more than the bytes can hold.
    #[error("a length of {0} cannot be")]
    Length(i64),
    /// Text is not UTF-8.
    #[error("a name is not UTF-8")]
    Text,
}

pub(crate) struct Reader(Bytes);

impl Reader {
    pub(crate) fn new(bytes: &Bytes) -> Self {
        Self(bytes.clone())
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(crate) fn version(&mut self) -> Result<i16, WireError> {
        let version = self.int16()?;
        if version < 0 { Err(WireError::Length(version.into())) } else { Ok(version) }
    }
    pub(crate) fn int16(&mut self) -> Result<i16, WireError> {
        self.has(2)?;
        Ok(self.0.get_i16())
    }
    pub(crate) fn int32(&mut self) -> Result<i32, WireError> {
        self.has(4)?;
        Ok(self.0.get_i32())
    }
    pub(crate) fn nullable_bytes(&mut self) -> Result<Option<Bytes>, WireError> {
        match self.int32()? {
            -1 => Ok(None),
            length => self.take(length.into()).map(Some),
        }
    }
    pub(crate) fn nullable_string(&mut self) -> Result<Option<String>, WireError> {
        match self.int16()? {
            -1 => Ok(None),
            length => self.text(length).map(Some),
        }
    }
    pub(crate) fn topic(&mut self) -> Result<TopicName, WireError> {
        let length = self.int16()?;
        self.text(length).map(TopicName::from)
    }
    pub(crate) fn array<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let count = self.int32()?;
        // Every item has at least two bytes.
        let items = usize::try_from(count).ok().filter(|items| *items <= self.0.len() / 2);
        let items = items.ok_or(WireError::Length(count.into()))?;
        (0..items).map(|_| item(self)).collect()
    }
    pub(crate) fn partitions(&mut self) -> Result<Vec<TopicPartition>, WireError> {
        let topics = self.array(|input| Ok((input.topic()?, input.array(Self::int32)?)))?;
        let flat = topics.into_iter().flat_map(|(topic, partitions)| {
            partitions.into_iter().map(move |partition| TopicPartition::new(topic.clone(), partition))
        });
        Ok(flat.collect())
    }

    fn text(&mut self, length: i16) -> Result<String, WireError> {
        String::from_utf8(self.take(length.into())?.into()).map_err(|_| WireError::Text)
    }
    fn take(&mut self, length: i64) -> Result<Bytes, WireError> {
        let wanted = usize::try_from(length).map_err(|_| WireError::Length(length))?;
        self.has(wanted)?;
        Ok(self.0.split_to(wanted))
    }
    fn has(&self, wanted: usize) -> Result<(), WireError> {
        let left = self.0.len();
        if left < wanted { Err(WireError::Short { wanted, left }) } else { Ok(()) }
    }
}

pub(crate) struct Writer(BytesMut);

impl Writer {
    pub(crate) fn versioned(version: i16) -> Self {
        let mut out = BytesMut::with_capacity(256);
        out.put_i16(version);
        Self(out)
    }
    pub(crate) fn finish(self) -> Bytes {
        self.0.freeze()
    }
    pub(crate) fn int32(&mut self, value: i32) {
        self.0.put_i32(value);
    }
    pub(crate) fn array<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.length(items.len());
        for each in items {
            item(self, each);
        }
    }
    /// Text beyond the 32 KiB that a name may have is cut: brokers refuse such names, so none gets here.
    pub(crate) fn string(&mut self, text: &str) {
        let length = i16::try_from(text.len()).unwrap_or(i16::MAX);
        self.0.put_i16(length);
        self.0.put_slice(text.as_bytes().get(..usize::from(length.unsigned_abs())).unwrap_or_default());
    }
    pub(crate) fn nullable_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.0.put_i16(-1),
        }
    }
    pub(crate) fn nullable_bytes(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => {
                self.length(bytes.len());
                self.0.put_slice(bytes);
            }
            None => self.0.put_i32(-1),
        }
    }
    /// Grouped by topic; topics and partitions in the order of their first mention.
    pub(crate) fn partitions(&mut self, partitions: &[TopicPartition]) {
        let mut topics: Vec<(&TopicName, Vec<i32>)> = Vec::new();
        let mut places = millstream_protocol::hash::HashMap::default();
        for each in partitions {
            let place = *places.entry(&each.topic).or_insert_with(|| {
                topics.push((&each.topic, Vec::new()));
                topics.len() - 1
            });
            topics[place].1.push(each.partition.get());
        }
        self.array(&topics, |out, (topic, partitions)| {
            out.string(topic.as_str());
            out.array(partitions, |out, partition| out.int32(*partition));
        });
    }

    fn length(&mut self, length: usize) {
        self.0.put_i32(i32::try_from(length).unwrap_or(i32::MAX));
    }
}
