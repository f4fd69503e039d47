//! `millstream groups`: groups of any Kafka.

use super::topics::admin;
use crate::connection::Connection;
use crate::failure::Failure;
use clap::{Args, Subcommand};
use millstream::client::admin::GroupDescription;
use millstream::client::{Admin, OffsetSpec};
use std::io::Write;

/// Lists and describes groups.
#[derive(Debug, Args)]
pub(crate) struct Groups {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Prints all groups, a line each: name, kind, state
    List {
        #[command(flatten)]
        connection: Connection,
    },
    /// Prints a group's members, and what it has committed of each partition
    Describe {
        /// Its name
        name: String,
        #[command(flatten)]
        connection: Connection,
    },
}

impl Groups {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::List { connection } => list(&admin(&connection).await?).await,
            Action::Describe { name, connection } => describe(&admin(&connection).await?, &name).await,
        }
    }
}

async fn list(admin: &Admin) -> Result<(), Failure> {
    let mut groups = admin.groups().list().await?;
    groups.sort_by(|one, other| one.group_id.cmp(&other.group_id));
    let mut out = std::io::stdout().lock();
    for group in groups {
        writeln!(out, "{}\t{:?}\t{:?}", group.group_id, group.group_type, group.state)?;
    }
    Ok(())
}

async fn describe(admin: &Admin, name: &str) -> Result<(), Failure> {
    let described = admin.groups().describe([name]).await?.all()?;
    for group in described.values() {
        print(group)?;
    }
    let offsets = admin.groups().offsets(name).await?;
    let ends = offsets.iter().map(|(partition, _)| (partition.clone(), OffsetSpec::Latest));
    let ends = admin.topics().offsets(ends).await?;
    let mut lines: Vec<_> = offsets.iter().collect();
    lines.sort_by_key(|(partition, _)| (*partition).clone());
    let mut out = std::io::stdout().lock();
    for (partition, committed) in lines {
        let end = ends.of(partition).and_then(|end| end.as_ref().ok().copied().flatten());
        let shown = end.map_or_else(
            || "end unknown".to_owned(),
            |end| format!("end {end}, lag {}", end.get().saturating_sub(committed.offset.get())),
        );
        writeln!(out, "  {partition}: committed {}, {shown}", committed.offset)?;
    }
    Ok(())
}

fn print(group: &GroupDescription) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let GroupDescription { listing, members, .. } = group;
    writeln!(out, "group {} is {:?} and has {} member(s)", listing.group_id, listing.state, members.len())?;
    for member in members {
        let instance = member.group_instance_id.as_deref().map(|id| format!(" (instance {id})")).unwrap_or_default();
        let partitions: Vec<_> = member.assignment.iter().map(ToString::to_string).collect();
        writeln!(out, "  member {}{instance}: {}", member.member_id, partitions.join(", "))?;
    }
    Ok(())
}
