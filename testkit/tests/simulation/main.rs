//! The simulator itself: it tells the same from the same seed, and its checkers find what they are there to find.

mod checkers;
mod codec;
mod cycles;
mod determinism;
mod leaders;
mod planted;
