//! The invariants of `docs/architecture.md` that dependencies show: which way the arrows run, what stays without I/O, and that
//! nothing compiles C.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Which packages of ours each package may use in what it ships. Tests may use more.
const ARROWS: &[(&str, &[&str])] = &[
    ("millstream-protocol", &[]),
    ("millstream-client-core", &["millstream-protocol"]),
    ("millstream-client", &["millstream-client-core", "millstream-protocol"]),
    ("millstream-state", &["millstream-protocol"]),
    ("millstream-processor-core", &["millstream-protocol", "millstream-state"]),
    ("millstream", &["millstream-client", "millstream-processor-core", "millstream-protocol", "millstream-state"]),
    (
        "millstream-testkit",
        &["millstream", "millstream-client", "millstream-processor-core", "millstream-protocol", "millstream-state"],
    ),
    ("millstream-cli", &["millstream", "millstream-testkit"]),
];
/// These decide and do no I/O.
const CORES: &[&str] =
    &["millstream-protocol", "millstream-client-core", "millstream-processor-core", "millstream-state"];
/// What a core must not reach, at any depth.
const IO: &[&str] = &["tokio", "mio", "socket2", "rand", "getrandom", "fastrand"];

#[test]
fn arrows_run_one_way() {
    let metadata = metadata();
    for (name, allowed) in ARROWS {
        let uses = ours(&metadata, name);
        let allowed: BTreeSet<String> = allowed.iter().map(|each| (*each).to_owned()).collect();
        let forbidden: Vec<_> = uses.difference(&allowed).collect();
        assert!(forbidden.is_empty(), "{name} must not use {forbidden:?}: see docs/architecture.md");
    }
}

#[test]
fn every_package_has_its_arrows_here() {
    let named: BTreeSet<&str> =
        ARROWS.iter().map(|(name, _)| *name).chain(["millstream-benches", "millstream-vectors"]).collect();
    let metadata = metadata();
    let there: BTreeSet<&str> = packages(&metadata).keys().copied().collect();
    assert_eq!(there, named);
}

#[test]
fn cores_do_no_io() {
    for core in CORES {
        let tree = tree(&["-p", core, "--all-features", "-e", "normal"]);
        for banned in IO {
            assert!(!tree.contains(*banned), "{core} reaches {banned}: cargo tree -p {core} -i {banned}");
        }
    }
}

#[test]
fn nothing_compiles_c() {
    let tree = tree(&["--workspace", "--all-features", "-e", "normal,build"]);
    let c: Vec<_> = tree
        .iter()
        .filter(|name| matches!(name.as_str(), "cc" | "cmake" | "bindgen" | "pkg-config") || name.ends_with("-sys"))
        .filter(|name| !matches!(name.as_str(), "linux-raw-sys" | "js-sys" | "web-sys" | "windows-sys"))
        .collect();
    assert!(c.is_empty(), "these compile or link C: {c:?}");
}

#[test]
fn cores_ban_clocks_and_threads() {
    for folder in ["protocol", "client/core", "processor/core", "state"] {
        let path = format!("{}/../{folder}/.clippy.toml", env!("CARGO_MANIFEST_DIR"));
        let bans = std::fs::read_to_string(&path).unwrap_or_default();
        for method in ["std::time::Instant::now", "std::time::SystemTime::now", "std::thread::sleep"] {
            assert!(bans.contains(method), "{path} does not ban {method}");
        }
    }
}

#[test]
fn ignored_tests_say_what_they_need() {
    let mut silent = Vec::new();
    for file in sources() {
        let text = std::fs::read_to_string(&file).expect("a file that git lists can be read");
        let ignored = text.lines().filter(|line| line.trim_start().starts_with("#[ignore"));
        silent.extend(ignored.filter(|line| !line.contains("= \"needs ")).map(|line| format!("{file}: {line}")));
    }
    assert!(silent.is_empty(), "`#[ignore = \"needs …\"]` is the only form: {silent:#?}");
}

fn sources() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut found = Vec::new();
    let mut folders = vec![std::path::PathBuf::from(root)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the workspace can be listed").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs")
                && !path.ends_with("testkit/tests/architecture.rs")
            {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found
}

fn ours(metadata: &Value, package: &str) -> BTreeSet<String> {
    let listed = packages(metadata);
    let dependencies = listed.get(package).unwrap_or_else(|| panic!("no package {package}"));
    dependencies["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["kind"].is_null() && dependency["path"].is_string())
        .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
        .collect()
}

fn packages(metadata: &Value) -> BTreeMap<&str, &Value> {
    let all = metadata["packages"].as_array().expect("cargo metadata lists packages");
    all.iter().filter_map(|package| Some((package["name"].as_str()?, package))).collect()
}

fn metadata() -> Value {
    let text = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    serde_json::from_str(&text).expect("cargo metadata is JSON")
}

/// The names in a dependency tree.
fn tree(arguments: &[&str]) -> BTreeSet<String> {
    let mut all = vec!["tree", "--prefix", "none"];
    all.extend(arguments);
    cargo(&all).lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn cargo(arguments: &[&str]) -> String {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--offline", "--manifest-path", manifest])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}
