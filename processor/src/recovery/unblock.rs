//! A changelog whose last stable offset is held back by a dead owner's open transaction: that transaction is ended now, rather than
//! waited for until its timeout.

use crate::shared::Shared;
use millstream_client::Error;
use millstream_protocol::{ProducerId, TopicPartition};

/// Fences whoever of this application has a transaction open in these partitions. The partitions' tasks are this process's, so it is a
/// former owner; if it lives, its lane recovers. What fails here is left to the transaction's timeout.
pub(super) async fn free(shared: &Shared, partitions: Vec<TopicPartition>) {
    if let Err(error) = try_free(shared, partitions).await {
        tracing::warn!(%error, "the transaction that holds a changelog back is left to its timeout");
    }
}

async fn try_free(shared: &Shared, partitions: Vec<TopicPartition>) -> Result<(), Error> {
    let admin = shared.client.admin();
    let described = admin.transactions().describe_producers(partitions).await?;
    let producers = described.iter().filter_map(|(_, producers)| producers.as_ref().ok()).flatten();
    let open = producers.filter(|producer| producer.open_transaction_start.is_some());
    let open: Vec<ProducerId> = open.map(|producer| producer.producer_id).collect();
    if open.is_empty() {
        return Ok(());
    }
    let prefix = format!("{}-", shared.application_id);
    let listed = admin.transactions().list().await?;
    let ours = listed
        .into_iter()
        .filter(|each| open.contains(&each.producer_id) && each.transactional_id.starts_with(&prefix));
    let ids: Vec<String> = ours.map(|each| each.transactional_id).collect();
    tracing::info!(?ids, "ends the transactions that hold changelogs back");
    admin.transactions().fence(ids).await?.all().map(drop)
}
