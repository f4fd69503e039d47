//! What the sticky assignors add to a member's subscription. Kafka has no schema files for it, and no version stands
//! before it: who reads it goes by the length.

use super::{DecodeError, Embedded, embedded_schema};
use crate::guard::shape::{Field, Kind, Shape, Span, field, from, span};
use crate::messages::StrBytes;
use crate::messages::field::{wire_body, wire_struct};
use bytes::Bytes;

static STICKY: Shape = Shape {
    name: "StickyUserData",
    versions: span(0, 1),
    flexible: Span::NONE,
    fields: &[
        field("previousAssignment", from(0), Kind::Array(&Kind::Struct(STICKY_TOPIC))),
        field("generation", from(1), Kind::Int32),
    ],
};
const STICKY_TOPIC: &[Field] =
    &[field("topic", from(0), Kind::String), field("partitions", from(0), Kind::Array(&Kind::Int32))];

static COOPERATIVE_STICKY: Shape = Shape {
    name: "CooperativeStickyUserData",
    versions: span(0, 0),
    flexible: Span::NONE,
    fields: &[field("generation", from(0), Kind::Int32)],
};

wire_struct! {
    /// What `StickyAssignor` adds: version 0 up to Kafka 2.2, version 1 since (KIP-341).
    struct StickyUserData {
        /// The partitions that the member had.
        previous_assignment: Vec<StickyUserDataTopic> = Vec::new(), 0.., Refused;
        /// The generation in which it got them, from version 1 on; −1 for none.
        generation: i32 = -1, 1.., Ignored;
    }
}
wire_struct! {
    /// A topic's partitions.
    struct StickyUserDataTopic {
        /// The topic.
        topic: StrBytes = StrBytes::new(), 0.., Refused;
        /// Its partitions.
        partitions: Vec<i32> = Vec::new(), 0.., Refused;
    }
}
wire_body!(data StickyUserData, 0..=1, flexible from 32767);
embedded_schema!(StickyUserData, STICKY, Nothing, Refused);

wire_struct! {
    /// What `CooperativeStickyAssignor` adds: the partitions stand in the subscription itself.
    struct CooperativeStickyUserData {
        /// The generation in which the member got its partitions; −1 for none.
        generation: i32 = -1, 0.., Refused;
    }
}
wire_body!(data CooperativeStickyUserData, 0..=0, flexible from 32767);
embedded_schema!(CooperativeStickyUserData, COOPERATIVE_STICKY, Nothing, Refused);

impl StickyUserData {
    /// Reads user data of either version, as Kafka does: as version 1, and if that fails as version 0. Returns the
    /// version, too.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use millstream_protocol::embedded::{Embedded, StickyUserData};
    /// let written = StickyUserData { generation: 7, ..StickyUserData::default() }.encode(1)?;
    /// assert_eq!(StickyUserData::decode_any(&written)?.1.generation, 7);
    /// assert_eq!(StickyUserData::decode_any(&Bytes::from_static(&[0; 4]))?, (0, StickyUserData::default()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the bytes are neither.
    pub fn decode_any(bytes: &Bytes) -> Result<(i16, Self), DecodeError> {
        let read = |version| Self::decode_body(version, bytes.clone()).map(|read| (version, read));
        read(1).or_else(|newer| read(0).map_err(|_| newer))
    }
}
