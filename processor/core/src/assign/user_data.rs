//! What a member says about itself when it joins: which state it has on disk, and which tasks it cannot run now.
//!
//! ```text
//! int16 version, int16 oldest version that can read it, 16 bytes process id, int32 n, n × (int32 sub-topology, int32 partition)
//! since version 2: int32 m, m × (int32 sub-topology, int32 partition)
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
    /// The tasks that it has given up, since one of their records has stood still for too long: they are not for it.
    pub given_up: Vec<TaskId>,
}

impl UserData {
    /// The bytes for a subscription. Leaves out what does not fit the bound of [`decode`](Self::decode).
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(28 + (self.local_state.len() + self.given_up.len()) * TASK_BYTES);
        bytes.put_u16(VERSION);
        bytes.put_u16(OLDEST_READER);
        bytes.put_slice(&self.process_id);
        put_tasks(&mut bytes, &self.local_state);
        put_tasks(&mut bytes, &self.given_up);
        bytes.freeze()
    }

    /// Reads what can be read; the default where nothing can.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        Self::try_decode(bytes).unwrap_or_default()
    }

    fn try_decode(mut bytes: &[u8]) -> Option<Self> {
        let version = bytes.try_get_u16().ok()?;
        if bytes.try_get_u16().ok()? > VERSION {
            return None;
        }
        let mut process_id = [0; 16];
        bytes.try_copy_to_slice(&mut process_id).ok()?;
        let local_state = take_tasks(&mut bytes)?;
        let given_up = if version >= 2 { take_tasks(&mut bytes)? } else { Vec::new() };
        Some(Self { process_id, local_state, given_up })
    }
}

fn put_tasks(bytes: &mut BytesMut, tasks: &[TaskId]) {
    let tasks = &tasks[..tasks.len().min(MOST_TASKS)];
    bytes.put_u32(u32::try_from(tasks.len()).unwrap_or(0));
    for task in tasks {
        bytes.put_u32(task.subtopology);
        bytes.put_i32(task.partition.get());
    }
}

fn take_tasks(bytes: &mut &[u8]) -> Option<Vec<TaskId>> {
    let count = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    if count > MOST_TASKS || count > bytes.len() / TASK_BYTES {
        return None;
    }
    Some((0..count).map(|_| TaskId::new(bytes.get_u32(), PartitionId::new(bytes.get_i32()))).collect())
}

const VERSION: u16 = 2;
const OLDEST_READER: u16 = 1;
const TASK_BYTES: usize = 8;
const MOST_TASKS: usize = 100_000;
