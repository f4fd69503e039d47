//! Where partitions end.

use crate::{Client, Error, IsolationLevel, OffsetSpec};
use millstream_protocol::{Offset, TopicPartition};
use std::collections::HashMap;

/// The ends of partitions: the last stable offsets when committed records are read, else the high watermarks.
///
/// # Errors
///
/// When a partition does not exist, or its leader does not answer in time.
///
/// # Cancel safety
///
/// Dropped early, it leaves nothing behind.
pub async fn end_offsets(
    client: &Client,
    partitions: Vec<TopicPartition>,
    isolation: IsolationLevel,
) -> Result<HashMap<TopicPartition, Offset>, Error> {
    let specs = partitions.into_iter().map(|partition| (partition, OffsetSpec::Latest)).collect();
    let ends = crate::admin::list_offsets::resolve(client, specs, isolation).await.all()?;
    Ok(ends.into_iter().filter_map(|(partition, end)| Some((partition, end?))).collect())
}
