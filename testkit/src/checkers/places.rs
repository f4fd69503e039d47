//! K-3 and K-4: one value has one place, and one place has one value.

use super::facts::Facts;
use super::{Checker, Violation};
use std::collections::BTreeMap;

pub(super) fn check(facts: &Facts, found: &mut Vec<Violation>) {
    let mut first = BTreeMap::new();
    for (partition, places) in &facts.places {
        for (offset, values) in places {
            if values.len() > 1 {
                let text = format!("{partition}@{offset} has had the values {values:?}");
                found.push(Violation::new(Checker::K4, "inconsistent-offsets", text));
            }
            for value in values {
                if let Some((other, at)) = first.insert(*value, (partition, *offset)) {
                    let text = format!("value {value} lies at {other}@{at} and at {partition}@{offset}");
                    found.push(Violation::new(Checker::K3, "duplicate", text));
                }
            }
        }
    }
}
