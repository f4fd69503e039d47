//! What a member says about itself when it joins: which state it has on disk.
//!
//! ```text
//! int16 version, int16 oldest version that can read it, 16 bytes process id, int32 n, n × (int32 sub-topology, int32 partition)
//! ```
//! Later versions append. Bytes that cannot be read mean "nothing is known", never an error: the assignment must go on.

use crate::TaskId;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use millstream_protocol::PartitionId;

/// What a member says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts that the caller collects")]
pub struct UserData {
    /// The process, as its state folder names it.
    pub process_id: [u8; 16],
    /// The tasks whose state it has on disk, running or not.
    pub local_state: Vec<TaskId>,
}

impl UserData {
    /// The bytes for a subscription. Leaves out what does not fit the bound of [`decode`](Self::decode).
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let tasks = &self.local_state[..self.local_state.len().min(MOST_TASKS)];
        let mut bytes = BytesMut::with_capacity(24 + tasks.len() * TASK_BYTES);
        bytes.put_u16(VERSION);
        bytes.put_u16(OLDEST_READER);
        bytes.put_slice(&self.process_id);
        bytes.put_u32(u32::try_from(tasks.len()).unwrap_or(0));
        for task in tasks {
            bytes.put_u32(task.subtopology);
            bytes.put_i32(task.partition.get());
        }
        bytes.freeze()
    }

    /// Reads what can be read; the default where nothing can.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        Self::try_decode(bytes).unwrap_or_default()
    }

    fn try_decode(mut bytes: &[u8]) -> Option<Self> {
        let _version = bytes.try_get_u16().ok()?;
        if bytes.try_get_u16().ok()? > VERSION {
            return None;
        }
        let mut process_id = [0; 16];
        bytes.try_copy_to_slice(&mut process_id).ok()?;
        let count = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
        if count > MOST_TASKS || count > bytes.len() / TASK_BYTES {
            return None;
        }
        let mut task = || TaskId::new(bytes.get_u32(), PartitionId::new(bytes.get_i32()));
        Some(Self { process_id, local_state: (0..count).map(|_| task()).collect() })
    }
}

const VERSION: u16 = 1;
const OLDEST_READER: u16 = 1;
const TASK_BYTES: usize = 8;
const MOST_TASKS: usize = 100_000;
