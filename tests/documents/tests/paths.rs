//! Documents name files that exist: the paths of `docs/architecture.md`, and the links of every document.

// Tests state what they expect by unwrapping, and so do their helpers.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Where the paths of the architecture begin: at the root, or where it says so.
const BASES: [&str; 3] = ["", "lbcf-controller/src", "lbcf-controller/src/api"];
/// Rustdoc, which checks its own links; reports with hostile text; a project that is not written yet.
const NOT_OURS: [&str; 3] = [
    "lbcf-driver-sdk/src/docs",
    "tests/conformance/tests/golden",
    "lbcf-cli/templates",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every document, by its path from the root.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            let from_root = path.strip_prefix(root()).unwrap();
            if NOT_OURS.iter().any(|other| from_root.starts_with(other)) {
                continue;
            }
            if path.is_dir() {
                if !["target", "node_modules"].contains(&&*name) && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(from_root.to_owned());
            }
        }
    }
    found
}

/// The text outside of blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The targets of `[…](target)` and of `[1]: target`.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let inline = prose.split("](").skip(1);
    let inline = inline.filter_map(|rest| rest.split(')').next());
    let definitions = prose.lines().filter_map(|line| {
        let (name, target) = line.split_once("]: ")?;
        name.starts_with('[').then_some(target)
    });
    inline.chain(definitions).map(str::to_owned).collect()
}

/// Headings as GitHub links them: `Add a check` is `add-a-check`.
fn anchors(text: &str) -> Vec<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        title
            .chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The file or heading that a link of this document does not reach.
fn broken(document: &Path, link: &str) -> bool {
    if link.starts_with("http") {
        return false;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let folder = document.parent().unwrap();
    let target = match file {
        "" => document.to_owned(),
        file => folder.join(file),
    };
    let target = root().join(target);
    if anchor.is_empty() {
        return !target.exists();
    }
    let text = fs::read_to_string(&target).unwrap_or_default();
    !anchors(&text).iter().any(|other| other == anchor)
}

/// The file names and paths among the words in backticks.
fn named(text: &str) -> Vec<String> {
    let prose = prose(text);
    let code = prose.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        word.chars().all(is_name)
            && (word.contains('/') || word.ends_with(".rs") || word.ends_with(".md"))
    };
    code.filter(is_path).map(str::to_owned).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let documents = documents();
    assert!(documents.len() > 25, "{documents:?}");
    let mut found = 0;
    let mut dead = Vec::new();
    for document in documents {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        for link in links(&text) {
            found += 1;
            if broken(&document, &link) {
                dead.push((document.clone(), link));
            }
        }
    }
    assert!(found > 80, "{found}");
    assert!(dead.is_empty(), "{dead:?}");
}

#[test]
fn the_architecture_names_files_that_exist() {
    let text = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let named = named(&text);
    assert!(named.len() > 30, "{named:?}");
    let exists = |path: &str| {
        let paths = BASES.map(|base| root().join(base).join(path));
        paths.iter().any(|path| path.exists())
    };
    // `decide.rs` alone is a file of several folders.
    let missing: Vec<&String> = named
        .iter()
        .filter(|path| !["decide.rs", "plan.rs", "reconcile.rs"].contains(&path.as_str()))
        .filter(|path| !exists(path))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn each_readme_leads_to_the_architecture() {
    // Projects are copied without the rest.
    let without = ["lbcf-cli/templates", "local-cluster/tests/recorded"];
    let readmes = documents().into_iter().filter(|path| {
        path.ends_with("README.md") && !without.iter().any(|folder| path.starts_with(folder))
    });
    for readme in readmes {
        let text = fs::read_to_string(root().join(&readme)).unwrap();
        assert!(text.contains("docs/architecture.md"), "{readme:?}");
    }
}

#[test]
fn links_and_names_are_read_from_documents() {
    let text =
        "# Where `it` is\n[a](b.md#c), `d/e.rs` and `f` in\n```sh\n[x](y) `z/z`\n```\n[1]: g.md\n";
    assert_eq!(links(text), ["b.md#c", "g.md"]);
    assert_eq!(named(text), ["d/e.rs"]);
    assert_eq!(anchors(text), ["where-it-is"]);
}
