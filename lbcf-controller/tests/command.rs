//! The binary `lbcf-controller`.

// Tests say what they expect by unwrapping.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbcf-controller"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LBCF_") {
            command.env_remove(name);
        }
    }
    command.args(args).output().unwrap()
}

#[test]
fn b147_it_tells_its_version_and_its_flags() {
    let version = run(&["--version"]);
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        format!("lbcf-controller {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    for flag in ["--informer-resync-period", "--server-crt", "--leader-elect"] {
        assert!(help.contains(flag), "{help}");
    }
}

#[test]
fn what_is_wrong_is_named_on_stderr_and_the_code_is_two() {
    for (args, named) in [
        (["--kubeconfig", "/nonexistent/kubeconfig"], "/nonexistent"),
        (["--log-level", "all=loud"], "--log-level \"all=loud\""),
        (["--workers", "many"], "many"),
        (
            ["--leader-elect-renew-deadline", "1m"],
            "--leader-elect-renew-deadline 60s: must be less",
        ),
    ] {
        let output = run(&args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(named), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}
