//! One record in, some out.

use super::logic::Logic;
use super::{Setup, Text, TextRecord, shown, streams, text};
use bytes::{BufMut, Bytes, BytesMut};
use millstream_processor_core::dsl::Repartitioned;
use millstream_processor_core::{Partitions, Produced, SameKey, Topic};
use millstream_protocol::TopicName;
use millstream_state::serde::{I64, Utf8, nullable};
use millstream_state::{DefaultSerde, Serde, SerdeContext, SerdeError};
use std::time::Duration;

type Inner = <Text as DefaultSerde>::Serde;

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "stateless-filter-filternot" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .filter(|_, value| value.as_deref().is_some_and(|value| value.starts_with('a')))
                .filter_not(|key, _| key.as_deref() == Some("skip"))
                .to("out");
        }),
        "stateless-map-changes-key-keeps-timestamp-and-headers" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .map(|key, value| (value.map(|value| value.to_uppercase()), key))
                .to("out");
        }),
        "stateless-mapvalues-with-key" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .map_values_with_key(|key, value| {
                    let length = |text: &str| i32::try_from(text.encode_utf16().count()).expect("short");
                    value.map(|value| key.as_deref().map_or(0, length) * 100 + length(&value))
                })
                .to("out");
        }),
        "stateless-flatmap-order-and-empty" => streams(|builder, _| {
            builder.stream::<Text, Text>("in").flat_map(parts).to("out");
        }),
        "stateless-merge-two-topics" => streams(|builder, _| {
            let (one, two) = (builder.stream::<Text, Text>("in1"), builder.stream::<Text, Text>("in2"));
            one.merge(&two).to("out");
        }),
        "stateless-peek-and-foreach-order" => streams(|builder, trace| {
            let (peeked, done) = (trace.clone(), trace.clone());
            let stream = builder
                .stream::<Text, Text>("in")
                .peek(move |key, value| peeked.note(format!("peek {}={}", shown(key), shown(value))));
            stream.for_each(move |key, value| done.note(format!("foreach {}={}", shown(&key), shown(&value))));
            stream.to("out");
        }),
        "stateless-multi-topic-source" => streams(|builder, _| {
            builder.stream::<Text, Text>(["in1", "in2"]).to("out");
        }),
        "stateless-repartition-explicit" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .select_key(|_, value| value.clone())
                .repartition_with(Repartitioned::named("by-value"))
                .map_values(|value| text(format!("{}!", shown(&value))))
                .to("out");
        }),
        "stateless-dynamic-topic-name" => dynamic_topic(),
        "stateless-to-topic-then-read-back" => streams(|builder, _| {
            let add = |more| move |value: Text| text(format!("{}{more}", shown(&value)));
            builder.stream::<Text, Text>("in").map_values(add("1")).to("mid");
            builder.stream::<Text, Text>("mid").map_values(add("2")).to("out");
        }),
        "stateless-processvalues-keeps-partitioning" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .process_values(|| {
                    Logic::<TextRecord, SameKey<Text>>::new(|record, ctx| {
                        let value = format!("{}/{}", shown(&record.value), ctx.stream_time().as_millis());
                        ctx.emit_value(text(value.clone()));
                        ctx.emit_value_at(text(value), record.timestamp + Duration::from_millis(1));
                        Ok(())
                    })
                })
                .group_by_key()
                .count_with("c")
                .to_stream()
                .map_values(|count| count.map(|count| count.to_string()))
                .to("out");
        }),
        "stateless-headers-copied-for-fixed-key-processor" => streams(|builder, _| {
            let stream = builder.stream::<Text, Text>("in");
            stream.to("out1");
            let seen = stream.process_values(|| {
                Logic::<TextRecord, SameKey<Text>>::new(|record, ctx| {
                    ctx.headers_mut().add("seen", "yes");
                    ctx.emit_value(record.value);
                    Ok(())
                })
            });
            seen.to("out2");
            stream.to("out3");
        }),
        "stateless-headers-replaced-with-copy" => streams(|builder, _| {
            let stream = builder.stream::<Text, Text>("in");
            let counted = stream.process_values(|| {
                Logic::<TextRecord, SameKey<Text>>::new(|record, ctx| {
                    let length = record.value.as_deref().unwrap_or_default().encode_utf16().count();
                    ctx.headers_mut().remove("drop");
                    ctx.headers_mut().add("n", length.to_string());
                    ctx.emit_value(record.value);
                    Ok(())
                })
            });
            counted.to("out1");
            stream.to("out2");
        }),
        "stateless-serdes-long-int-double-list" => streams(|builder, _| {
            let stream = builder.stream::<i64, i32>("in");
            stream.map(|key, value| (value, key.wrapping_mul(2))).to("out-l");
            stream.map_values(|value| f64::from(value) / 4.0).to("out-d");
            let lists = Topic::with("out-list", I64, ListOfInts);
            stream.map_values(|value| vec![Some(value), Some(value.wrapping_add(1)), None]).to(&lists);
        }),
        "stateless-default-serdes-from-config" => streams(|builder, _| {
            builder
                .stream::<Text, Text>("in")
                .map_values(|value| text(format!("{}!", shown(&value))))
                .group_by_key()
                .count_with("n")
                .to_stream()
                .map_values(|count| count.map(|count| count.to_string()))
                .to("out");
        }),
        "stateless-multicast-partitioner" => streams(|builder, _| {
            let chosen = Produced::<Text, Text>::to_topic("out").partitioner(|record, _| match shown(&record.value) {
                "drop" => Partitions::Drop,
                "default" => Partitions::Default,
                _ => Partitions::Many(vec![0.into()]),
            });
            builder.stream::<Text, Text>("in").to(chosen);
        }),
        _ => return None,
    })
}

fn parts(key: Text, value: Text) -> Vec<(Text, Text)> {
    let value = value.unwrap_or_default();
    let parts = value.split(',').filter(|_| !value.is_empty()).enumerate();
    parts.map(|(index, part)| (text(format!("{}{index}", shown(&key))), text(part))).collect()
}
fn dynamic_topic() -> Setup {
    streams(|builder, trace| {
        let (trace, like) = (trace.clone(), Topic::with("like", nullable(Utf8), Inner::default()));
        let chosen = Produced::to_chosen_topic(&like, move |record: &TextRecord, metadata| {
            let metadata = metadata.expect("there is an input record");
            let header = record.headers.iter().next().map_or("-".to_owned(), |header| header.name.to_owned());
            let (partition, offset, time) = (metadata.partition, metadata.offset, record.timestamp.as_millis());
            trace.note(format!("{}/{partition}/{offset}/{time}/{header}", metadata.topic));
            TopicName::from(format!("out-{}", record.key.as_deref().unwrap_or("none")))
        });
        builder.stream::<Text, Text>("in").to(chosen);
    })
}

/// Kafka's `ListSerde` of ints: nulls apart, then a length and the others.
struct ListOfInts;
impl Serde<Vec<Option<i32>>> for ListOfInts {
    fn serialize(
        &self,
        value: &Vec<Option<i32>>,
        _ctx: &mut SerdeContext<'_>,
        out: &mut BytesMut,
    ) -> Result<(), SerdeError> {
        let length = |length: usize| i32::try_from(length).map_err(|error| SerdeError::caused_by("too long", error));
        let nulls = value.iter().zip(0..).filter(|(each, _)| each.is_none());
        out.put_u8(0);
        out.put_i32(length(nulls.clone().count())?);
        nulls.for_each(|(_, index)| out.put_i32(index));
        out.put_i32(length(value.len())?);
        value.iter().flatten().for_each(|each| out.put_i32(*each));
        Ok(())
    }
    fn deserialize(&self, _bytes: &Bytes, _ctx: &SerdeContext<'_>) -> Result<Vec<Option<i32>>, SerdeError> {
        Err(SerdeError::new("the case only writes lists"))
    }
}
