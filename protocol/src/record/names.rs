//! Records whose headers have names that are not UTF-8: rewritten with U+FFFD in the place of what is not. So Kafka reads them.

use super::cursor::Slice;
use super::varint::{Writer, size, size_length, size_nullable, zigzag};
use super::view::{self, HeadersView, Parts};
use crate::buffers::Buffer;
use bytes::Bytes;

/// What stands for bytes that are not UTF-8.
const REPLACEMENT: &str = "\u{fffd}";

/// The same records with readable names. None where they would take more than `most` bytes; they are counted first, and memory is taken once.
#[cold]
pub(super) fn readable(payload: &[u8], count: usize, most: usize) -> Option<Bytes> {
    let size = records(payload, count).try_fold(0_usize, |sum, parts| sum.checked_add(size_of(&parts)))?;
    if size > most {
        return None;
    }
    let mut buffer = Buffer::with_capacity(size);
    let mut out = Writer::new(buffer.spare_of(size));
    for parts in records(payload, count) {
        put(&parts, &mut out);
    }
    buffer.advance(size);
    Some(buffer.freeze())
}

fn records(payload: &[u8], count: usize) -> impl Iterator<Item = Parts<'_>> {
    let mut at = 0;
    let next = move |_| {
        let (parts, end) = Parts::read(payload, at)?;
        at = end;
        Some(parts)
    };
    (0..count).map_while(next)
}

fn headers(view: HeadersView<'_>) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    let mut rest = Slice::new(view.encoded);
    std::iter::from_fn(move || view::header(&mut rest))
}

fn size_of(parts: &Parts<'_>) -> usize {
    let body = body_size(parts);
    size_length(body) + body
}

fn body_size(parts: &Parts<'_>) -> usize {
    let deltas = size(zigzag(parts.timestamp_delta)) + size(zigzag(i64::from(parts.offset_delta)));
    let headers = headers(parts.headers).map(|(name, value)| {
        let name = name_size(name);
        size_length(name) + name + size_nullable(value)
    });
    let data = size_nullable(parts.key) + size_nullable(parts.value);
    1 + deltas + data + size_length(parts.headers.count) + headers.sum::<usize>()
}

fn name_size(name: &[u8]) -> usize {
    let replaced = |invalid: &[u8]| if invalid.is_empty() { 0 } else { REPLACEMENT.len() };
    name.utf8_chunks().map(|chunk| chunk.valid().len() + replaced(chunk.invalid())).sum()
}

fn put(parts: &Parts<'_>, out: &mut Writer<'_>) {
    out.length(body_size(parts));
    out.byte(0);
    out.any(zigzag(parts.timestamp_delta));
    out.any(zigzag(i64::from(parts.offset_delta)));
    out.nullable(parts.key);
    out.nullable(parts.value);
    out.length(parts.headers.count);
    for (name, value) in headers(parts.headers) {
        put_name(name, out);
        out.nullable(value);
    }
}

fn put_name(name: &[u8], out: &mut Writer<'_>) {
    out.length(name_size(name));
    for chunk in name.utf8_chunks() {
        out.slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.slice(REPLACEMENT.as_bytes());
        }
    }
}
