//! Crates that are published have what a registry shows, and what they depend on works with the oldest Rust that they
//! promise. That their own code does is what clippy checks (`incompatible_msrv`). The architecture lists all crates, each
//! below those that it imports.

// Tests state what they expect by unwrapping, and so do their helpers.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What driver authors need. `lbcf conformance` and `lbcf dev` are programs, which they get as such.
const PUBLISHED: [&str; 3] = ["lbcf-driver-sdk", "lbcf-driver-client", "lbcf-serving"];
/// A dependency may leave its `rust-version` out, and some do.
const LEAST_DECLARED: usize = 150;

/// The packages of the lock file that this platform needs.
fn packages() -> Vec<Value> {
    let listed = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&listed.stderr);
    assert!(listed.status.success(), "{stderr}");
    let metadata: Value = serde_json::from_slice(&listed.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// `1.89` or `1.89.0` as numbers, so that 1.9 is before 1.10.
fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.parse().unwrap()).collect()
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn dependencies_work_with_the_oldest_rust_that_is_promised() {
    let packages = packages();
    let promised = packages
        .iter()
        .find(|package| package["name"] == PUBLISHED[0])
        .map(|package| version(package["rust_version"].as_str().unwrap()));
    let promised = promised.unwrap();
    let declared: Vec<(&Value, Vec<u32>)> = packages
        .iter()
        .filter_map(|package| Some((&package["id"], version(package["rust_version"].as_str()?))))
        .collect();
    assert!(declared.len() > LEAST_DECLARED, "{}", declared.len());
    let newer: Vec<_> = declared
        .iter()
        .filter(|(_, needed)| needed[..2] > promised[..2])
        .collect();
    assert!(newer.is_empty(), "they need a newer Rust: {newer:?}");
}

#[test]
fn what_is_published_says_what_it_is() {
    let packages = packages();
    let own: Vec<&Value> = packages
        .iter()
        .filter(|package| package["source"].is_null())
        .collect();
    for package in own {
        let name = package["name"].as_str().unwrap();
        let is_published = package["publish"].is_null();
        assert_eq!(is_published, PUBLISHED.contains(&name), "{name}");
        if !is_published {
            continue;
        }
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        for field in ["keywords", "categories"] {
            let count = package[field].as_array().unwrap().len();
            assert!((1..=5).contains(&count), "{name} has {count} {field}");
        }
        assert_eq!(
            package["metadata"]["docs"]["rs"]["all-features"], true,
            "{name}"
        );
    }
}

#[test]
fn the_architecture_lists_each_crate_below_what_it_imports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    let text = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let row = |folder: &Path| {
        let folder = folder.strip_prefix(&root).unwrap().display();
        let found = text.find(&format!("`{folder}/`"));
        found.unwrap_or_else(|| panic!("docs/architecture.md does not list {folder}/"))
    };
    let mut imports = 0;
    for package in packages() {
        if !package["source"].is_null() {
            continue;
        }
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let own = row(manifest.parent().unwrap());
        let dependencies = package["dependencies"].as_array().unwrap();
        let is_import = |dependency: &&Value| dependency["kind"].is_null();
        for dependency in dependencies.iter().filter(is_import) {
            let Some(path) = dependency["path"].as_str() else {
                continue;
            };
            imports += 1;
            assert!(row(Path::new(path)) < own, "{manifest:?} imports {path}");
        }
    }
    assert!(imports > 15, "{imports}");
}
