//! Kafka's messages, meddled with by chance: whatever comes, the decoders end with a value or an error, in bounded
//! memory. The seed is printed; `MILLSTREAM_SEED` sets it.

use crate::memory;
use bytes::Bytes;
use millstream_protocol::{ApiKey, api, frame};
use millstream_vectors::{bytes, int16, rows};

/// A message that is read takes this many times its bytes at most, and 64 KiB.
const MULTIPLE: usize = 8;
const ROUNDS: u64 = 12;

/// xorshift64*: enough for this, and the same everywhere.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or(0)
    }
    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}

/// Numbers that decoders stumble over, as they stand on the wire.
const NASTY: [&[u8]; 10] = [
    &[0x7f, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0xff],
    &[0x80, 0x00, 0x00, 0x00],
    &[0x00, 0x0f, 0x42, 0x40],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0x07],
    &[0xff, 0xff],
    &[0x7f, 0xff],
    &[0x00],
    &[0x01],
];

pub(crate) fn meddle(body: &mut Vec<u8>, chance: &mut Chance) {
    for _ in 0..=chance.below(2) {
        let at = chance.below(body.len());
        match chance.below(5) {
            0 if !body.is_empty() => body[at] = chance.byte(),
            1 => body.truncate(at),
            2 => {
                drop(body.splice(at..at, std::iter::repeat_n(chance.byte(), 1 << chance.below(12)).collect::<Vec<_>>()))
            }
            3 => {
                let nasty = NASTY[chance.below(NASTY.len())];
                let end = body.len().min(at + nasty.len());
                body.splice(at..end, nasty.iter().copied());
            }
            _ => drop(body.drain(at..body.len().min(at + chance.below(9)))),
        }
    }
}

pub(crate) fn seed() -> u64 {
    let given = std::env::var("MILLSTREAM_SEED").ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or(0x6d69_6c6c_7374_7265);
    println!("MILLSTREAM_SEED={seed}");
    seed
}

/// One message of each corpus row's API and version, in its direction.
struct Kind {
    api: ApiKey,
    version: i16,
    is_request: bool,
}

impl Kind {
    fn of(row: &serde_json::Value, is_request: bool) -> Self {
        Self { api: ApiKey::new(int16(row, "api")), version: int16(row, "version"), is_request }
    }
    /// Whether the body is read; checks the memory that it takes.
    fn decode(&self, body: &[u8]) -> bool {
        let (api, version) = (self.api, self.version);
        let header = match self.is_request {
            true => 0,
            false => 4 + usize::from(api::response_header_version(api, version) == 1),
        };
        let payload = Bytes::from([&[0; 5][..header], body].concat());
        let (peak, is_read) = memory::peak_of(|| match self.is_request {
            true => frame::decode_any_request(api, version, payload).is_ok(),
            false => frame::decode_any_response(api, version, payload).is_ok(),
        });
        let budget = MULTIPLE * body.len() + (64 << 10);
        assert!(peak <= budget, "{peak} bytes for {} of {api} {version}: {body:02x?}", body.len());
        is_read
    }
}

#[test]
fn meddled_messages_end_with_a_value_or_an_error() {
    let mut chance = Chance::new(seed());
    let mut refused_and_read = [0_u32; 2];
    for (corpus, is_request) in [("messages-requests", true), ("messages-responses", false)] {
        for row in rows(corpus) {
            let (kind, original) = (Kind::of(&row, is_request), bytes(&row, "hex"));
            for _ in 0..ROUNDS {
                let mut body = original.clone();
                meddle(&mut body, &mut chance);
                refused_and_read[usize::from(kind.decode(&body))] += 1;
            }
        }
    }
    println!("refused, read: {refused_and_read:?}");
    let all: u32 = refused_and_read.iter().sum();
    assert!(refused_and_read.into_iter().all(|count| count > all / 10), "meddled too much or too little");
}

#[test]
fn arrays_of_the_smallest_elements_take_bounded_memory() {
    let mut read = 0;
    for (corpus, is_request) in [("messages-requests", true), ("messages-responses", false)] {
        for row in rows(corpus).filter(|row| row["kind"] == "default") {
            let kind = Kind::of(&row, is_request);
            for before in 0..40 {
                // 2000 elements, as a compact count and as a plain one, all of the same byte.
                for (count, byte) in [(&[0xd1, 0x0f][..], 0), (&[0xd1, 0x0f], 1), (&[0, 0, 0x07, 0xd0], 0)] {
                    let body = [&vec![0; before][..], count, &vec![byte; 12_000]].concat();
                    read += u32::from(kind.decode(&body[..before + count.len() + 2000]));
                    read += u32::from(kind.decode(&body));
                }
            }
        }
    }
    println!("{read} messages read");
    assert!(read > 0);
}
