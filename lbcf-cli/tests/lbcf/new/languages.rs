//! Projects in other languages than Rust: the commands that `lbcf new` prints build and test them, hold them to the
//! specification, and lead to a request; and `lbcf dev` follows their sources.

use super::built::{follow, haproxy_leads_to_a_response};
use super::{generate, read, unused_path};
use crate::languages::Language;
use crate::process::{is_left_to_the_exhaustive_run, run, skip, text};
use lbcf_conformance::numbers::Numbers;
use std::process::Command;

pub(super) const ALL: [&str; 4] = ["rust", "go", "python", "typescript"];

struct Case {
    lang: &'static str,
    /// What has to be on the PATH, and the argument with which it does nothing.
    tool: (&'static str, &'static str),
    sources: (&'static str, &'static str),
    /// What its tests print if all passed.
    passed: &'static str,
    /// The command that builds it.
    build: &'static str,
    /// What `lbcf dev` runs before the driver, to take changed sources.
    before: &'static str,
    /// The file of the proxy, which another kind replaces.
    proxy: &'static str,
}

/// The commands that follow on `lbcf new`, as it prints them.
pub(super) fn printed_commands(lang: &str) -> Vec<String> {
    let project = unused_path("my-driver");
    let output = crate::process::lbcf(&["new", "my-driver", "--lang", lang])
        .current_dir(project.path().parent().unwrap())
        .output()
        .unwrap();
    let output = text(&output.stdout);
    let next = output.split_once("Next:\n").unwrap().1.lines();
    let commands = next.flat_map(|line| line.split(" && "));
    let commands = commands.map(|line| line.split("   #").next().unwrap().trim().to_owned());
    commands.collect()
}

fn check(case: &Case) {
    if is_left_to_the_exhaustive_run(
        "building a project and ending its driver in six ways take their time",
    ) {
        return;
    }
    let (tool, argument) = case.tool;
    if Command::new(tool).arg(argument).output().is_err() {
        return skip(&format!("{tool} is not on the PATH"));
    }
    let new = format!("lbcf new my-driver --lang {}", case.lang);
    let printed = printed_commands(case.lang);
    // These measure the machine, which does other things beside.
    let unmeasured = "export LBCF_CONFORMANCE_SKIP=LAT-02,LAT-03";
    let commands: Vec<&str> = [&*new, unmeasured]
        .into_iter()
        .chain(printed.iter().map(|it| &**it))
        .collect();
    let project = unused_path("my-driver");
    let numbers = Numbers::of_this_machine();
    let output = follow(&commands, &project, &numbers, |_| ());
    assert!(output.contains(case.passed), "{output}");
    assert!(output.contains(" passed, 0 failed"), "{output}");

    let dev = commands
        .iter()
        .find(|it| it.starts_with("lbcf dev "))
        .unwrap();
    haproxy_leads_to_a_response(project.path(), case.lang, case.proxy, case.build, dev);

    let command = dev.split('\'').nth(1).unwrap();
    let command = command.split(" --cloud-file").next().unwrap();
    let command = command.rsplit_once(" --listen").unwrap().0;
    let language = Language {
        name: case.lang,
        folder: project.path().to_owned(),
        sources: case.sources,
        command: format!("{}{command} --listen 127.0.0.1:{{port}}", case.before),
        lb_spec: "{lbVpcID: vpc-12345678, lbListenerPort: \"80\"}",
        prepare: |_| (),
    };
    language.check();
}

#[test]
fn exhaustive_a_project_in_go_leads_to_a_request_and_conforms() {
    check(&Case {
        lang: "go",
        tool: ("go", "version"),
        sources: (".go", "//"),
        passed: "ok  \t",
        build: "go build -o bin/my-driver .",
        before: "go build -o bin/my-driver . && exec ",
        proxy: "proxy.go",
    });
}

#[test]
fn exhaustive_a_project_in_python_leads_to_a_request_and_conforms() {
    check(&Case {
        lang: "python",
        tool: ("python3", "--version"),
        sources: (".py", "#"),
        passed: " passed in ",
        build: "true",
        before: "",
        proxy: "proxy.py",
    });
}

#[test]
fn exhaustive_a_project_in_typescript_leads_to_a_request_and_conforms() {
    check(&Case {
        lang: "typescript",
        tool: ("npm", "--version"),
        // It is started again after a build.
        sources: (".js", "//"),
        passed: "fail 0",
        build: "npm run --silent build",
        before: "",
        proxy: "src/proxy.ts",
    });
}

#[test]
fn the_output_and_the_readme_have_the_same_commands() {
    for lang in ALL {
        let readme = read(&generate("my-driver", &["--lang", lang]), "README.md");
        for command in printed_commands(lang) {
            let is_there = readme.contains(&command) || command.starts_with("cd ");
            assert!(is_there, "{lang}: {command}\n{readme}");
        }
    }
}

#[test]
fn only_rust_has_the_sdk() {
    let output = run(&["new", "x", "--lang", "go", "--sdk-path", "."]);
    crate::process::assert_refused(&output, "--sdk-path: only drivers in Rust");
}
