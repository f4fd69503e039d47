//! `millstream topics`: topics of any Kafka.

use crate::connection::Connection;
use crate::failure::Failure;
use clap::{Args, Subcommand};
use millstream::client::Admin;
use millstream::client::admin::{NewTopic, TopicDescription};
use millstream::protocol::NodeId;
use std::io::Write;

/// Lists, creates, describes and deletes topics.
#[derive(Debug, Args)]
pub(crate) struct Topics {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Prints the names of all topics
    List {
        #[command(flatten)]
        connection: Connection,
    },
    /// Creates a topic
    Create {
        /// Its name
        name: String,
        /// How many partitions; the broker's default without
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
        partitions: Option<i32>,
        /// How many replicas of each; the broker's default without
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i16).range(1..))]
        replication_factor: Option<i16>,
        /// A topic option by Kafka's key, as in cleanup.policy=compact; may be repeated
        #[arg(long = "topic-config", value_name = "KEY=VALUE", value_parser = crate::connection::key_and_value)]
        options: Vec<(String, String)>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Prints a topic's partitions, a line each
    Describe {
        /// Its name
        name: String,
        #[command(flatten)]
        connection: Connection,
    },
    /// Deletes a topic and all its records
    Delete {
        /// Its name
        name: String,
        #[command(flatten)]
        connection: Connection,
    },
}

impl Topics {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::List { connection } => list(&connection).await,
            Action::Create { name, .. } if name.contains(':') => Err(Failure::because(format!(
                "create topic `{name}`: a topic's name has no colon; its partitions are said by --partitions, its replicas by \
                 --replication-factor"
            ))),
            Action::Create { name, partitions, replication_factor, options, connection } => {
                let mut topic = NewTopic::new(name.as_str());
                if let Some(count) = partitions {
                    topic = topic.partitions(count);
                }
                if let Some(count) = replication_factor {
                    topic = topic.replication_factor(count);
                }
                for (key, value) in &options {
                    topic = topic.config(key, value);
                }
                admin(&connection).await?.topics().create([topic]).await?.all()?;
                println!("created {name}");
                Ok(())
            }
            Action::Describe { name, connection } => describe(&name, &connection).await,
            Action::Delete { name, connection } => {
                admin(&connection).await?.topics().delete([name.as_str()]).await?.all()?;
                println!("deleted {name}");
                Ok(())
            }
        }
    }
}

pub(crate) async fn admin(connection: &Connection) -> Result<Admin, Failure> {
    Ok(Admin::connect(connection.client()?).await?)
}

async fn list(connection: &Connection) -> Result<(), Failure> {
    let mut names = admin(connection).await?.topics().list().await?;
    names.sort();
    let mut out = std::io::stdout().lock();
    for name in names {
        writeln!(out, "{name}")?;
    }
    Ok(())
}

async fn describe(name: &str, connection: &Connection) -> Result<(), Failure> {
    let described = admin(connection).await?.topics().describe([name]).await?.all()?;
    for topic in described.values() {
        print(topic)?;
    }
    Ok(())
}

fn print(topic: &TopicDescription) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "topic {} has {} partition(s)", topic.name, topic.partitions.len())?;
    for partition in &topic.partitions {
        let leader = partition.leader.map_or_else(|| "none".to_owned(), |node| node.to_string());
        writeln!(
            out,
            "  partition {}: leader {leader}, replicas {}, in sync {}",
            partition.partition,
            nodes(&partition.replicas),
            nodes(&partition.in_sync_replicas)
        )?;
    }
    Ok(())
}

fn nodes(nodes: &[NodeId]) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
