//! Each name, reason and type of condition that is stored in a cluster, and each text about what a spec allows, has one
//! defining constant: production code has no second literal of it.

// Tests state what they expect by unwrapping, and so do their helpers.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Where constants are defined, and the folders that have to use them. The reasons are words that mean other things to
/// other programs.
const DEFINITIONS: [(&str, &[&str]); 5] = [
    ("lbcf-controller/src/api/names.rs", ALL),
    ("lbcf-controller/src/api/allowed.rs", ALL),
    ("lbcf-controller/src/api/condition.rs", CONTROLLER),
    ("lbcf-controller/src/api/reasons/conditions.rs", CONTROLLER),
    ("lbcf-controller/src/api/reasons/events.rs", CONTROLLER),
];
const CONTROLLER: &[&str] = &["lbcf-controller/src"];
const ALL: &[&str] = &[
    "lbcf-cli/src",
    "lbcf-controller/src",
    "lbcf-driver-client/src",
    "lbcf-inspect/src",
    "lbcf-driver-sdk/src",
    "lbcf-serving/src",
    "local-cluster/src",
    "mock-driver/src",
    "tests/conformance/src",
];
/// Crates that do not depend on the controller, and texts that mean something else.
const APART: [(&str, &str); 12] = [
    ("Webhook", "lbcf-inspect/src/check.rs"),
    (
        "ParametersConflict",
        "lbcf-controller/src/api/reasons/events.rs",
    ),
    ("ParametersConflict", "lbcf-controller/src/api/condition.rs"),
    ("Ready", "lbcf-inspect/src/why/pod.rs"),
    ("Ready", "lbcf-controller/src/index/pods.rs"),
    ("Registered", "lbcf-controller/src/api/condition.rs"),
    (
        "Registered",
        "lbcf-controller/src/api/reasons/conditions.rs",
    ),
    ("Webhook", "lbcf-cli/src/demo/steps/pods.rs"),
    ("Webhook", "local-cluster/src/rules/builtin/table.rs"),
    ("Webhook", "mock-driver/src/page/calls.rs"),
    ("kube-system", "local-cluster/src/seed.rs"),
    ("lbcf-", "lbcf-cli/src/local_stack/cluster.rs"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The production sources below a folder, by their paths from the root, without comments.
fn sources(folder: &str) -> Vec<(String, Vec<String>)> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if name == "tests" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let production = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                let lines = production.lines().map(str::trim_start);
                let code = lines.filter(|line| !line.starts_with("//"));
                let from_root = path.strip_prefix(root()).unwrap().to_string_lossy();
                found.push((from_root.into_owned(), code.map(str::to_owned).collect()));
            }
        }
    }
    found
}

/// The texts of the constants `const NAME: &str = "…";` in a source.
fn constants(path: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let definitions = text.split("const ").skip(1);
    let texts = definitions.filter_map(|rest| {
        let (_, value) = rest.split_once(';')?.0.split_once(": &str =")?;
        let value = value.trim().strip_prefix('"')?;
        Some(value.strip_suffix('"')?.to_owned())
    });
    // Rows of the table of reasons: `NAME "…", [KINDS]`.
    let rows = text.lines().filter_map(|line| {
        let (name, rest) = line.trim().split_once(" \"")?;
        let is_name = name.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
        let (value, _) = rest.split_once("\", [").filter(|_| is_name)?;
        Some(value.to_owned())
    });
    texts.chain(rows).collect()
}

/// The lines with this literal, without the attributes of derive macros, which take no constant.
fn lines_with<'a>(source: &'a [String], text: &str) -> impl Iterator<Item = &'a String> {
    let literal = format!("\"{text}\"");
    let is_attribute = format!("name = {literal}");
    let lines = source.iter();
    lines.filter(move |line| line.contains(&literal) && !line.contains(&is_attribute))
}

#[test]
fn no_production_code_repeats_the_text_of_a_constant() {
    let (mut count, mut repeated) = (0, Vec::new());
    for (definition, folders) in DEFINITIONS {
        let texts = constants(definition);
        count += texts.len();
        for (path, source) in folders.iter().flat_map(|folder| sources(folder)) {
            for text in &texts {
                let allowed = usize::from(path == definition);
                let is_apart = APART.contains(&(text.as_str(), path.as_str()));
                if lines_with(&source, text).count() > allowed && !is_apart {
                    repeated.push(format!("{path}: {text:?} of {definition}"));
                }
            }
        }
    }
    assert!(count > 100, "{count}");
    assert!(repeated.is_empty(), "{repeated:#?}");
}
