//! Each promise of SECURITY.md names tests that hold it, and they exist.

// Tests state what they expect by unwrapping, and so do their helpers.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of all functions below a folder.
fn collect_functions(folder: &Path, functions: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect_functions(&path, functions);
            }
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split("fn ").skip(1);
            let names = names.filter_map(|rest| rest.split('(').next());
            functions.extend(names.map(str::to_owned));
        }
    }
}

#[test]
fn promises_name_tests_that_exist() {
    let text = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let promises = text.split("## Promises").nth(1).unwrap();
    let promises = promises.split("\n## ").next().unwrap();
    let rows = promises.lines().filter(|line| line.starts_with("| "));
    let mut functions = BTreeSet::new();
    collect_functions(&root(), &mut functions);
    let mut count = 0;
    for row in rows.skip(1) {
        let tests = row.rsplit(" | ").next().unwrap();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test holds: {row}");
        for name in names {
            assert!(functions.contains(name), "there is no test {name}: {row}");
        }
        count += 1;
    }
    assert!(count >= 10, "only {count} promises were read");
}
