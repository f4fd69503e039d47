//! Which of the brokers, who are the controllers here, vote (KIP-853): all do, until one is told not to.

use super::Broker;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use millstream_protocol::messages::{StrBytes, Uuid};
use millstream_protocol::{ErrorCode, NodeId};
use std::collections::BTreeSet;
use std::fmt;

/// What controllers listen to, by its name.
pub(crate) const LISTENER: &str = "CONTROLLER";

/// Why a change of the quorum is refused, and what is told of it.
pub(crate) type Refusal = (ErrorCode, String);

/// Who does not vote.
#[derive(Debug, Default)]
pub(crate) struct Quorum {
    unseated: BTreeSet<NodeId>,
}

/// A controller and the directory where its log is: a disk that was lost makes another voter of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Voter {
    pub(crate) id: i32,
    pub(crate) directory: Uuid,
}
impl Voter {
    /// Whom a request means that is to do this.
    pub(crate) fn named(id: i32, directory: Uuid, what: &str) -> Result<Self, Refusal> {
        if id < 0 || directory.is_nil() {
            return Err((ErrorCode::INVALID_REQUEST, format!("{what} voter request didn't include a valid voter")));
        }
        Ok(Self { id, directory })
    }
}
/// The code of what became of a change, and Kafka's text beside it.
pub(crate) fn told(changed: Result<(), Refusal>) -> (ErrorCode, StrBytes) {
    let (code, reason) = changed.err().unwrap_or_else(|| (ErrorCode::NONE, "NONE".to_owned()));
    (code, StrBytes::from_string(reason))
}
/// As Kafka's texts have it.
impl fmt::Display for Voter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplicaKey(id={}, directoryId={})", self.id, URL_SAFE_NO_PAD.encode(self.directory.as_bytes()))
    }
}

impl Broker {
    fn controller_of(&self, id: NodeId) -> Voter {
        Voter { id: id.get(), directory: Uuid::from_u64_pair(self.seed, u64::from(id.get().unsigned_abs())) }
    }
    /// Who votes, and who only reads along.
    pub(crate) fn controllers(&self) -> (Vec<Voter>, Vec<Voter>) {
        let all = self.nodes.all().iter().map(|node| self.controller_of(node.id));
        all.partition(|voter| !self.quorum.unseated.contains(&NodeId::new(voter.id)))
    }
    fn voters_text(&self) -> String {
        let voters: Vec<String> = self.controllers().0.iter().map(Voter::to_string).collect();
        format!("[{}]", voters.join(", "))
    }
    /// Checks that a change is meant for this cluster.
    pub(crate) fn check_cluster_id(&self, asked: Option<&StrBytes>) -> Result<(), Refusal> {
        let Some(other) = asked.filter(|asked| **asked != self.cluster_id) else { return Ok(()) };
        let reason = format!("The given id \"{other}\" doesn't match the cluster id \"{}\"", self.cluster_id);
        Err((ErrorCode::INCONSISTENT_CLUSTER_ID, reason))
    }
    /// Lets a controller vote again. A real one is asked by the address that it is said to have; here it must be one of the cluster's own.
    pub(crate) fn seat(&mut self, voter: Voter) -> Result<(), Refusal> {
        let (voters, observers) = self.controllers();
        if voters.iter().any(|known| known.id == voter.id) {
            let reason =
                format!("The voter id for {voter} is already part of the set of voters {}.", self.voters_text());
            return Err((ErrorCode::DUPLICATE_VOTER, reason));
        }
        let id = NodeId::new(voter.id);
        if !observers.contains(&voter) || !self.nodes.is_up(id) {
            let reason = "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE";
            return Err((ErrorCode::REQUEST_TIMED_OUT, reason.to_owned()));
        }
        self.quorum.unseated.remove(&id);
        Ok(())
    }
    /// Takes a controller's vote; the last one keeps it.
    pub(crate) fn unseat(&mut self, voter: Voter) -> Result<(), Refusal> {
        let (voters, _) = self.controllers();
        if voters.len() < 2 || !voters.contains(&voter) {
            let reason = format!("Cannot remove voter {voter} from the set of voters {}", self.voters_text());
            return Err((ErrorCode::VOTER_NOT_FOUND, reason));
        }
        self.quorum.unseated.insert(NodeId::new(voter.id));
        Ok(())
    }
}
