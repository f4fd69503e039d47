//! Every public operation, and the case that shows it. An operation without a case, and a case or operation that is not there, fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Operation → a case of the suite.
const SHOWN: &[(&str, &str)] = &include!("operations.in");

/// Whose public methods are operations.
const TYPES: &[&str] = &[
    "Client",
    "Producer",
    "TransactionalProducer",
    "RawTransactions",
    "Transaction",
    "Deliveries",
    "Consumer",
    "Committer",
    "RecordStream",
    "Revocation",
    "Admin",
    "Topics",
    "Configs",
    "Groups",
    "Transactions",
    "Streams",
    "StateWatch",
];
/// Methods that are no operation on a cluster: they make builders or handles.
const NO_OPERATIONS: &[&str] = &[
    "Client::builder",
    "Client::from_properties",
    "Client::producer",
    "Client::consumer",
    "Client::admin",
    "Client::on",
    "Client::runtime",
    "Producer::builder",
    "Producer::from_properties",
    "Consumer::builder",
    "Consumer::from_properties",
    "Admin::topics",
    "Admin::configs",
    "Admin::groups",
    "Admin::transactions",
];

#[test]
fn every_public_operation_has_a_case() {
    let shown: BTreeMap<&str, &str> = SHOWN.iter().copied().collect();
    let there = operations();
    let missing: Vec<_> = there.iter().filter(|operation| !shown.contains_key(operation.as_str())).collect();
    assert!(missing.is_empty(), "no case shows {missing:#?}");
    let gone: Vec<_> =
        shown.keys().filter(|operation| !operation.starts_with("cli ") && !there.contains(**operation)).collect();
    assert!(gone.is_empty(), "these are listed and do not exist: {gone:#?}");
}

#[test]
fn every_command_has_a_case() {
    let listed: BTreeSet<&str> = SHOWN.iter().filter_map(|(operation, _)| operation.strip_prefix("cli ")).collect();
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_millstream")).arg("--help").output().expect("it starts");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let commands =
        help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1).take_while(|line| !line.is_empty());
    for command in
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| !matches!(*name, "help" | "broker"))
    {
        assert!(
            listed.iter().any(|each| each.split(' ').next() == Some(command)),
            "no case shows `millstream {command}`"
        );
    }
}

#[test]
fn every_case_that_is_named_exists() {
    let cases: BTreeSet<&str> = crate::CASES.iter().copied().collect();
    let unknown: Vec<_> = SHOWN.iter().filter(|(_, case)| !cases.contains(case)).collect();
    assert!(unknown.is_empty(), "no such cases: {unknown:#?}");
}

/// `Type::method` of all public methods of `TYPES`, read from the sources.
fn operations() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    let mut folders = vec![root.join("client/src"), root.join("processor/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the sources are there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                collect(&std::fs::read_to_string(&path).expect("it can be read"), &mut found);
            }
        }
    }
    found.retain(|operation| !NO_OPERATIONS.contains(&operation.as_str()));
    found
}

fn collect(source: &str, found: &mut BTreeSet<String>) {
    let mut subject = None;
    for line in source.lines() {
        if let Some(head) = line.strip_prefix("impl") {
            // An inherent impl: "impl<'a> Topics<'a> {".
            let head = head.trim_start_matches(|letter| letter != ' ').trim();
            let name: String = head.chars().take_while(|letter| letter.is_alphanumeric()).collect();
            subject = (!head.contains(" for ")).then_some(name).filter(|name| TYPES.contains(&name.as_str()));
        }
        let Some(subject) = &subject else { continue };
        let Some(declared) = line.strip_prefix("    pub ") else { continue };
        let declared = declared.trim_start_matches("const ").trim_start_matches("async ");
        if let Some(rest) = declared.strip_prefix("fn ") {
            let name: String = rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            found.insert(format!("{subject}::{name}"));
        }
    }
}
