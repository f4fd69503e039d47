//! What the guard lets through is read, and within the memory that it promised.

use super::sample::{Chance, Manner, body};
use super::{Subject, seed, subjects};
use crate::frame::{self, Limits};
use crate::guard;
use crate::memory::peak_of;
use bytes::Bytes;

/// Whether the guard takes it; then the decoder must, too. Either way within the limit.
fn check(subject: &Subject, sample: &Bytes) -> bool {
    let limits = Limits::DEFAULT;
    let Subject { api, version, direction, shape } = *subject;
    let accepted = guard::check(shape, version, sample.clone(), &limits).is_ok();
    let (peak, read) = peak_of(|| frame::decode_body(api, version, direction, sample.clone()));
    let limit = 8 * sample.len() + (64 << 10);
    assert!(peak <= limit, "{peak} bytes for {} of {api} {direction:?} {version}", sample.len());
    assert_eq!(accepted, read.is_ok(), "{api} {direction:?} {version}: {:?}", read.err());
    accepted
}

#[test]
fn what_the_guard_accepts_is_read_within_its_limit() {
    let mut chance = Chance::new(seed());
    let mut taken_and_refused = [0_u32; 2];
    for subject in subjects() {
        // Around the limit, and far beyond it.
        for (elements, unknown_tags) in [(1000, 0), (3000, 0), (1000, 60), (10, 160), (300, 3000)] {
            let manner = Manner::Tiny { elements, unknown_tags };
            let sample = body(subject.shape, subject.version, manner, &mut chance);
            taken_and_refused[usize::from(!check(&subject, &sample))] += 1;
        }
    }
    println!("taken, refused: {taken_and_refused:?}");
    assert!(taken_and_refused.into_iter().all(|count| count > 100), "too much or too little of all");
}

#[test]
fn varied_messages_are_all_taken() {
    let mut chance = Chance::new(seed());
    for subject in subjects() {
        for unknown_tags in [false, true] {
            let sample = body(subject.shape, subject.version, Manner::Varied { unknown_tags }, &mut chance);
            assert!(check(&subject, &sample), "{subject:?}: {sample:02x?}");
        }
    }
}
