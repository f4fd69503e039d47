//! What the READMEs of the test kit show works as it stands there. What is fenced as `sh` installs things; what is neither shell nor Python nor
//! JavaScript is for reading.
#![cfg(all(feature = "server", feature = "tls"))]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
/// Language and text of each fenced block of a README, in their order.
fn blocks(readme: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder(readme)).expect("a README");
    // What is fenced is every other part.
    let fenced = text.split("```").skip(1).step_by(2);
    fenced
        .filter_map(|part| part.split_once('\n'))
        .map(|(language, text)| (language.to_owned(), text.to_owned()))
        .collect()
}
fn only_block(readme: &str, language: &str) -> String {
    let mut of_language = blocks(readme).into_iter().filter(|(of, _)| of == language);
    let (_, text) = of_language.next().expect("a block");
    assert!(of_language.next().is_none(), "{readme} has one block of {language}");
    text
}
/// Runs a command with the binary in `PATH`, in a folder; gives what it printed.
fn run(command: &mut Command, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_millstream-broker")).parent().expect("a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = command.current_dir(folder).env("PATH", path).env_remove("MILLSTREAM_BROKER").output();
    let output = output.expect("the program is installed");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}:\n{out}\n{err}", output.status);
    out.into_owned()
}
/// The same text with ports that are free now, below those that the system gives out: where it has several in a row, so are these.
fn with_free_ports(text: &str) -> String {
    let ports = [19092_u16, 19093, 19094, 19644, 19192];
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let begin = 20_000 + u16::try_from(std::process::id() % 8_000).expect("it is small");
    let first = (begin..32_000).find(|first| (*first..).take(ports.len()).all(is_free)).expect("there are free ports");
    ports
        .into_iter()
        .zip(first..)
        .fold(text.to_owned(), |text, (old, new)| text.replace(&old.to_string(), &new.to_string()))
}

#[test]
#[ignore = "needs bash, curl, kcat and python3 with confluent-kafka"]
fn the_commands_of_the_readme_work_one_after_the_other() {
    let mut script = "set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n".to_owned();
    for (language, text) in blocks("README.md") {
        match language.as_str() {
            "bash" => script.push_str(&text),
            "python" => script.push_str(&format!("python3 - <<'END'\n{text}END\n")),
            _ => {}
        }
    }
    let place = tempfile::tempdir().expect("a folder");
    let script = with_free_ports(&script);
    let said = run(Command::new("timeout").args(["600", "bash", "-c", &script]), place.path());
    assert!(said.contains(r#""used":0,"left":3"#), "a fault is told of: {said}");
    assert!(said.contains("b'12 apples'\n12 apples\n"), "a record is written and read: {said}");
}

#[test]
#[ignore = "needs python3 with pytest and kafka-python"]
fn the_example_for_python_works() {
    let place = tempfile::tempdir().expect("a folder");
    std::fs::write(place.path().join("test_readme.py"), only_block("bindings/python/README.md", "python"))
        .expect("written");
    let mut pytest = Command::new("python3");
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "millstream_broker.fixtures"]);
    pytest.env("PYTHONPATH", folder("bindings/python/src")).env("PYTHONDONTWRITEBYTECODE", "1");
    // `pip install` leaves what it built in the folder, and pytest would load the fixtures from there a second time.
    pytest.env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1");
    let said = run(&mut pytest, place.path());
    assert!(said.contains("2 passed"), "{said}");
}

/// `NODE_PATH` names the folder with KafkaJS.
#[test]
#[ignore = "needs node with kafkajs"]
fn the_example_for_node_works() {
    let place = tempfile::tempdir().expect("a folder");
    let modules = place.path().join("node_modules");
    std::fs::create_dir(&modules).expect("a folder");
    let installed = PathBuf::from(std::env::var_os("NODE_PATH").expect("NODE_PATH names the folder with kafkajs"));
    let link = |from: PathBuf, name: &str| std::os::unix::fs::symlink(from, modules.join(name)).expect("a link");
    link(installed.join("kafkajs"), "kafkajs");
    link(folder("bindings/node"), "millstream-broker");
    std::fs::write(place.path().join("readme.test.mjs"), only_block("bindings/node/README.md", "js")).expect("written");
    let said = run(Command::new("node").args(["--test", "readme.test.mjs"]), place.path());
    assert!(said.contains("pass 1"), "{said}");
}
