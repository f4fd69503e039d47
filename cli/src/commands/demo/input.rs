//! What the demo writes, and the sums that must come out.

use crate::commands::demo_app::INPUT;
use crate::failure::Failure;
use millstream::client::{Client, ProducerRecord};
use std::collections::BTreeMap;

/// How many keys there are.
const KEYS: u64 = 100;

/// The sum of each key's numbers, computed from the input alone.
#[derive(Debug, Default)]
pub(super) struct Totals(BTreeMap<String, i64>);

impl Totals {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
    /// What is wrong with these sums, a sentence each.
    pub(super) fn differences(&self, sums: &BTreeMap<String, i64>) -> Vec<String> {
        let wrong = self.0.iter().filter(|(key, total)| sums.get(*key) != Some(total)).map(|(key, total)| {
            let got = sums.get(key).map_or_else(|| "nothing".to_owned(), i64::to_string);
            format!("{key}: {got} instead of {total}")
        });
        let invented =
            sums.keys().filter(|key| !self.0.contains_key(*key)).map(|key| format!("{key}: not in the input"));
        wrong.chain(invented).collect()
    }
}

/// Writes `records` records and gives the sums.
pub(super) async fn feed(client: &Client, records: u64) -> Result<Totals, Failure> {
    let producer = client.producer().build().await?;
    let keys: Vec<String> = (0..KEYS).map(|key| format!("key-{key:02}")).collect();
    let mut totals = Totals::default();
    for number in 0..records {
        let (key, value) = record(number);
        let Some(key) = keys.get(key) else { continue };
        drop(producer.enqueue(ProducerRecord::to(INPUT).key(key).value(&value.to_be_bytes())).await?);
        match totals.0.get_mut(key) {
            Some(total) => *total += value,
            None => drop(totals.0.insert(key.clone(), value)),
        }
    }
    producer.flush().await?;
    producer.close(super::PATIENCE).await?;
    Ok(totals)
}

/// The key's index and the value of a record: the same in every run.
fn record(number: u64) -> (usize, i64) {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let value = i64::from(u8::try_from((mixed >> 40) & 0x7F).unwrap_or(0)) + 1;
    (usize::try_from((mixed >> 8) % KEYS).unwrap_or(0), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_a_wrong_and_an_invented_sum_are_told() {
        let totals = Totals([("a".to_owned(), 1), ("b".to_owned(), 2), ("c".to_owned(), 3)].into());
        let sums = [("a".to_owned(), 1), ("b".to_owned(), 20), ("d".to_owned(), 4)].into();
        assert_eq!(totals.differences(&sums), ["b: 20 instead of 2", "c: nothing instead of 3", "d: not in the input"]);
    }
}
