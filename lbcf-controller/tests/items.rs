//! Every behaviour, decision and known defect has a test that carries its number, or stands in
//! `ITEMS.md` with the reason why it has none.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How many there are of each letter: behaviours, decisions, defects.
const ITEMS: [(char, u32); 3] = [('b', 160), ('d', 31), ('u', 51)];

type Item = (char, u32);

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of the workspace's tests: functions behind a test attribute.
fn tests() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in [
        "lbcf-controller",
        "lbcf-driver-sdk",
        "lbcf-cli",
        "mock-driver",
        "local-cluster",
        "tests",
    ] {
        sources(&root().join(folder), &mut files);
    }
    let mut names = BTreeSet::new();
    for file in files {
        let mut is_test = false;
        for line in fs::read_to_string(file).unwrap().lines() {
            let line = line.trim_start();
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_test = true;
            } else if let Some((_, name)) = line.split_once("fn ")
                && is_test
            {
                names.insert(name.split('(').next().unwrap().to_owned());
                is_test = false;
            }
        }
    }
    names
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                sources(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// `b069`, `d12` or `u13`.
fn item(word: &str) -> Option<Item> {
    let letter = word.chars().next()?;
    let number = word.get(1..)?.parse().ok()?;
    let (_, last) = ITEMS.iter().find(|(known, _)| *known == letter)?;
    (1..=*last).contains(&number).then_some((letter, number))
}

/// The items of a test's name: `b8_to_b44` stands for all between.
fn items(name: &str) -> BTreeSet<Item> {
    let words: Vec<&str> = name.split('_').collect();
    let mut found: BTreeSet<Item> = words.iter().filter_map(|word| item(word)).collect();
    for range in words.windows(3).filter(|words| words[1] == "to") {
        if let (Some(first), Some(last)) = (item(range[0]), item(range[2])) {
            found.extend((first.1..=last.1).map(|number| (first.0, number)));
        }
    }
    found
}

/// The items that `ITEMS.md` gives a reason for.
fn excused() -> BTreeMap<Item, String> {
    let text = fs::read_to_string(root().join("lbcf-controller/ITEMS.md")).unwrap();
    let mut excused = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let (items, reason) = (cells.next().unwrap(), cells.next().unwrap_or_default());
        for item in items.split(", ").filter_map(item) {
            assert!(reason.len() > 10, "{item:?} has no reason");
            assert!(
                excused.insert(item, reason.to_owned()).is_none(),
                "{item:?} twice"
            );
        }
    }
    excused
}

#[test]
fn every_item_has_a_test_or_a_reason_and_none_has_both() {
    let tests = tests();
    assert!(tests.len() > 300, "{}", tests.len());
    let tested: BTreeSet<Item> = tests.iter().flat_map(|name| items(name)).collect();
    let excused = excused();
    let all = ITEMS
        .into_iter()
        .flat_map(|(letter, last)| (1..=last).map(move |number| (letter, number)));
    let neither: Vec<Item> = all
        .filter(|item| !tested.contains(item) && !excused.contains_key(item))
        .collect();
    assert!(
        neither.is_empty(),
        "neither tested nor in ITEMS.md: {neither:?}"
    );
    let both: Vec<_> = excused
        .keys()
        .filter(|item| tested.contains(item))
        .collect();
    assert!(
        both.is_empty(),
        "tested, so no reason is needed in ITEMS.md: {both:?}"
    );
}

#[test]
fn items_are_found_in_names() {
    let found: Vec<Item> = items("b69_d12_u013_a_b2_to_b4_and_b999_x1")
        .into_iter()
        .collect();
    let expected = [
        ('b', 2),
        ('b', 3),
        ('b', 4),
        ('b', 69),
        ('d', 12),
        ('u', 13),
    ];
    assert_eq!(found, expected);
}
