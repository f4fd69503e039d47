//! The wrappers for other languages, by their own tests.
#![cfg(feature = "server")]

use std::path::Path;
use std::process::Command;

fn run(program: &str, folder: &str, arguments: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings").join(folder);
    let output = Command::new(program)
        .args(arguments)
        .current_dir(&folder)
        .env("MILLSTREAM_BROKER", env!("CARGO_BIN_EXE_millstream-broker"))
        .env("PYTHONPATH", folder.join("src"))
        // `pip install` leaves what it built in the folder, and pytest would load the fixtures from there a second time.
        .env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("the program is installed");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} ended with {}:\n{out}\n{err}", output.status);
}

#[test]
#[ignore = "needs python3 with pytest"]
fn the_python_package_passes_its_tests() {
    let arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "millstream_broker.fixtures", "tests"];
    run("python3", "python", &arguments);
}

#[test]
#[ignore = "needs Node.js"]
fn the_node_package_passes_its_tests() {
    run("node", "node", &["--test", "test/"]);
}

/// A package that says `py.typed` is read by whoever checks types, and what it leaves out is `Any` there, or an error.
#[test]
#[ignore = "needs python3 with mypy and pytest"]
fn the_python_package_has_the_types_that_it_says() {
    run("python3", "python", &["-m", "mypy", "--strict", "--cache-dir", "/dev/null", "src", "tests"]);
}

/// `NODE_PATH` names the folder with TypeScript and Node's types.
#[test]
#[ignore = "needs node with typescript and @types/node"]
fn the_node_package_has_the_types_that_it_says() {
    let installed = std::env::var("NODE_PATH").expect("NODE_PATH names the folder with typescript");
    let (compiler, types) = (format!("{installed}/typescript/bin/tsc"), format!("{installed}/@types"));
    let language = ["--target", "es2022", "--module", "nodenext", "--lib", "es2022,esnext.disposable"];
    let checked = ["--noEmit", "--strict", "--types", "node", "--typeRoots", &types, "types/use.ts"];
    run("node", "node", &[&[compiler.as_str()], &language[..], &checked[..]].concat());
}
