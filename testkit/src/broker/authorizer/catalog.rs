//! Kafka's kinds of resources, patterns, operations and permissions, by their numbers on the wire.

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $id:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum $name {
            $($variant,)*
        }
        impl $name {
            /// What a number stands for, if for something definite.
            pub(crate) const fn from_id(id: i8) -> Option<Self> {
                match id {
                    $($id => Some(Self::$variant),)*
                    _ => None,
                }
            }
            pub(crate) const fn id(self) -> i8 {
                match self {
                    $(Self::$variant => $id,)*
                }
            }
        }
    };
}

/// The number that says nothing: Kafka does not read a request with it.
pub(crate) const UNKNOWN: i8 = 0;
/// A filter's number for "whatever it is".
pub(crate) const ANY: i8 = 1;
/// A filter's pattern type for "whatever pattern would cover this name".
pub(crate) const MATCH: i8 = 2;

numbered! {
    /// What a rule is about.
    ResourceType {
        Topic = 2,
        Group = 3,
        Cluster = 4,
        TransactionalId = 5,
        DelegationToken = 6,
        User = 7,
    }
}
numbered! {
    /// How a rule names it.
    PatternType {
        Literal = 3,
        Prefixed = 4,
    }
}
numbered! {
    /// What is done to it.
    Operation {
        All = 2,
        Read = 3,
        Write = 4,
        Create = 5,
        Delete = 6,
        Alter = 7,
        Describe = 8,
        ClusterAction = 9,
        DescribeConfigs = 10,
        AlterConfigs = 11,
        IdempotentWrite = 12,
        CreateTokens = 13,
        DescribeTokens = 14,
        TwoPhaseCommit = 15,
    }
}
numbered! {
    /// Whether it may be done.
    Permission {
        Deny = 2,
        Allow = 3,
    }
}

impl Operation {
    /// Whether whoever is allowed this is allowed the other, too.
    pub(crate) fn implies(self, other: Self) -> bool {
        use Operation::{All, Alter, AlterConfigs, Delete, Describe, DescribeConfigs, Read, Write};
        match other {
            _ if self == other || self == All => true,
            Describe => matches!(self, Read | Write | Delete | Alter),
            DescribeConfigs => self == AlterConfigs,
            _ => false,
        }
    }
}
impl ResourceType {
    /// What can be done to it at all, as `authorized_operations` lists it (KIP-430).
    pub(crate) const fn operations(self) -> &'static [Operation] {
        use Operation::{
            Alter, AlterConfigs, ClusterAction, Create, CreateTokens, Delete, Describe, DescribeConfigs,
            DescribeTokens, IdempotentWrite, Read, TwoPhaseCommit, Write,
        };
        match self {
            Self::Topic => &[Read, Write, Create, Describe, Delete, Alter, DescribeConfigs, AlterConfigs],
            Self::Group => &[Read, Describe, Delete, DescribeConfigs, AlterConfigs],
            Self::Cluster => &[Create, ClusterAction, DescribeConfigs, AlterConfigs, IdempotentWrite, Alter, Describe],
            Self::TransactionalId => &[Describe, Write, TwoPhaseCommit],
            Self::DelegationToken => &[Describe],
            Self::User => &[CreateTokens, DescribeTokens],
        }
    }
}
