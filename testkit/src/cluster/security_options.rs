//! Options of a cluster that have to do with security.

use super::TestClusterBuilder;
use crate::broker::SecurityProtocol;
use std::collections::BTreeSet;

impl TestClusterBuilder {
    /// A user of SASL, by PLAIN and by SCRAM.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use millstream_testkit::TestCluster;
    ///
    /// let cluster = TestCluster::builder().sasl(&["SCRAM-SHA-256"]).user("alice", "secret").start().await;
    /// assert!(cluster.bootstrap_servers_of("SASL_PLAINTEXT").starts_with("127.0.0.1:"));
    /// # }
    /// ```
    pub fn user(mut self, name: &str, password: &str) -> Self {
        self.users.push((name.to_owned(), password.to_owned()));
        self
    }
    /// Clients authenticate by SASL, with one of these mechanisms: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER. Kafka's
    /// `sasl.enabled.mechanisms`.
    ///
    /// OAUTHBEARER takes unsecured tokens, by the rules in `sasl.jaas.config`; once it has keys, by the options
    /// `millstream.oauthbearer.secret` (HS256, HS384, HS512) and `millstream.oauthbearer.public.key` (a PEM; RS256, RS384, RS512), only
    /// tokens that these have signed, with what `sasl.oauthbearer.expected.audience` and `.issuer` ask for.
    pub fn sasl(mut self, mechanisms: &[&str]) -> Self {
        self.uses_sasl = true;
        self.config("sasl.enabled.mechanisms", &mechanisms.join(","))
    }
    /// Clients may do only what rules allow them (`kafka-acls`, CreateAcls), and [super users](Self::super_user) everything. Kafka's
    /// `authorizer.class.name` with its `StandardAuthorizer`; `allow.everyone.if.no.acl.found` is false unless it is set.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use millstream_testkit::TestCluster;
    ///
    /// let builder = TestCluster::builder().sasl(&["PLAIN"]).user("admin", "secret").acls().super_user("User:admin");
    /// let cluster = builder.start().await;
    /// # }
    /// ```
    pub fn acls(self) -> Self {
        self.config("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
    }
    /// Who may do everything: `User:name`; without authentication everybody is `User:ANONYMOUS`. Kafka's `super.users`.
    pub fn super_user(mut self, principal: &str) -> Self {
        self.super_users.push(principal.to_owned());
        let all = self.super_users.join(";");
        self.config("super.users", &all)
    }
    /// Connections are encrypted, with certificates of an authority that the cluster makes for itself: [`TestCluster::tls`](super::TestCluster::tls).
    /// Whether clients show certificates is `ssl.client.auth`: `none` (the default), `requested` or `required`.
    pub fn tls(mut self) -> Self {
        self.uses_tls = true;
        self
    }
    /// One more listener at every broker, by a name of its own. The first is the one of [`TestCluster::bootstrap_servers`](super::TestCluster::bootstrap_servers);
    /// without this there is one, as [`Self::sasl`] and [`Self::tls`] say. Kafka's `listeners` and `listener.security.protocol.map`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use millstream_testkit::{SecurityProtocol, TestCluster};
    ///
    /// let builder = TestCluster::builder().listener("INTERNAL", SecurityProtocol::Plaintext);
    /// let cluster = builder.listener("CLIENTS", SecurityProtocol::SaslPlaintext).user("alice", "secret").start().await;
    /// assert_ne!(cluster.bootstrap_servers_of("INTERNAL"), cluster.bootstrap_servers_of("CLIENTS"));
    /// # }
    /// ```
    pub fn listener(mut self, name: &str, protocol: SecurityProtocol) -> Self {
        self.listeners.push((name.to_owned(), protocol));
        self
    }
    /// The listeners by name.
    pub(super) fn named_listeners(&self) -> Result<Vec<(String, SecurityProtocol)>, String> {
        if self.listeners.is_empty() {
            let protocol = match (self.uses_sasl, self.uses_tls) {
                (false, false) => SecurityProtocol::Plaintext,
                (false, true) => SecurityProtocol::Ssl,
                (true, false) => SecurityProtocol::SaslPlaintext,
                (true, true) => SecurityProtocol::SaslSsl,
            };
            return Ok(vec![(protocol.name().to_owned(), protocol)]);
        }
        let mut seen = BTreeSet::new();
        match self.listeners.iter().find(|(name, _)| !seen.insert(name)) {
            Some((name, _)) => Err(format!("two listeners have the name `{name}`")),
            None => Ok(self.listeners.clone()),
        }
    }
}
