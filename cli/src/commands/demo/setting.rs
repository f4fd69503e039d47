//! Where the demo runs: its cluster, its topics, its folder for state.

use crate::commands::demo_app::{AGGREGATES, APPLICATION, INPUT};
use crate::connection::Connection;
use crate::failure::Failure;
use millstream::TopicName;
use millstream::client::Admin;
use millstream::client::admin::NewTopic;
use millstream::protocol::ErrorCode;
use millstream_testkit::TestCluster;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the demo needs around it.
#[derive(Debug)]
pub(super) struct Setting {
    connection: Connection,
    // Serves as long as it is kept.
    embedded: Option<TestCluster>,
    state: PathBuf,
}

impl Setting {
    /// Finds or starts the cluster, and makes the topics.
    pub(super) async fn prepare(connection: &Connection, partitions: i32, reset: bool) -> Result<Self, Failure> {
        let setting = if connection.is_given() {
            Self { connection: connection.clone(), embedded: None, state: state_folder() }
        } else {
            let cluster = TestCluster::builder().config("auto.create.topics.enable", "false");
            let cluster = cluster.try_start().map_err(|error| Failure::new("start the embedded broker", error))?;
            let bootstrap = cluster.bootstrap_servers();
            println!("an embedded broker serves at {bootstrap}");
            let state = std::env::temp_dir().join(format!("millstream-demo-{}", std::process::id()));
            Self { connection: connection.at(&bootstrap), embedded: Some(cluster), state }
        };
        let admin = Admin::connect(setting.connection.client()?).await?;
        if reset {
            setting.reset(&admin).await?;
        } else {
            setting.refuse_leftovers(&admin).await?;
        }
        create(&admin, partitions).await?;
        Ok(setting)
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }
    /// The folder for the state of one process.
    pub(super) fn state_of(&self, process: usize) -> PathBuf {
        self.state.join(format!("process-{process}"))
    }
    /// Removes what has no use after the embedded broker's end.
    pub(super) fn clean_up(self) -> Result<(), Failure> {
        if self.embedded.is_some() { remove(&self.state) } else { Ok(()) }
    }

    async fn refuse_leftovers(&self, admin: &Admin) -> Result<(), Failure> {
        let there = leftovers(admin).await?;
        if there.is_empty() && !self.state.exists() {
            return Ok(());
        }
        let topics: Vec<_> = there.iter().map(TopicName::as_str).collect();
        let what = if topics.is_empty() {
            format!("the state of an earlier run is in {}", self.state.display())
        } else {
            format!("topics of an earlier run exist: {}", topics.join(", "))
        };
        Err(Failure::because(format!(
            "{what}. --reset deletes them, with the application's internal topics, its group and its state"
        )))
    }

    async fn reset(&self, admin: &Admin) -> Result<(), Failure> {
        let there = leftovers(admin).await?;
        if !there.is_empty() {
            admin.topics().delete(there).await?.all()?;
        }
        match admin.groups().delete([APPLICATION]).await?.all() {
            Err(error) if error.code() != Some(ErrorCode::GROUP_ID_NOT_FOUND) => return Err(error.into()),
            _ => {}
        }
        remove(&self.state)?;
        // A broker deletes in the background.
        let start = Instant::now();
        while !leftovers(admin).await?.is_empty() {
            if start.elapsed() > super::PATIENCE {
                return Err(Failure::because(
                    "the broker still lists the demo's topics a minute after they were deleted",
                ));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}

async fn create(admin: &Admin, partitions: i32) -> Result<(), Failure> {
    let topics = [INPUT, AGGREGATES].map(|name| NewTopic::new(name).partitions(partitions));
    admin.topics().create(topics).await?.all()?;
    Ok(())
}

/// The demo's topics and the application's internal ones.
async fn leftovers(admin: &Admin) -> Result<Vec<TopicName>, Failure> {
    let internal = format!("{APPLICATION}-");
    let ours = |name: &TopicName| {
        let name = name.as_str();
        name == INPUT
            || name == AGGREGATES
            || (name.starts_with(&internal) && (name.ends_with("-changelog") || name.ends_with("-repartition")))
    };
    Ok(admin.topics().list().await?.into_iter().filter(ours).collect())
}

/// For a run on a cluster that outlives it: a folder that outlives it, too.
fn state_folder() -> PathBuf {
    let home = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/state")));
    home.unwrap_or_else(std::env::temp_dir).join("millstream").join(APPLICATION)
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::new(format!("remove the state in {}", folder.display()), error))
        }
        _ => Ok(()),
    }
}
