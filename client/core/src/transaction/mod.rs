//! A transaction's course, and what brokers' codes mean in each step of it.

mod course;
mod verdict;

pub use course::{Course, CourseError, Edition, Phase};
pub use verdict::{Decision, Step, Verdict, judge};
