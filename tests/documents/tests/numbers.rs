//! The numbers of behaviours (b), decisions (d), defects (u) and statements about EndpointSlices (e) and about
//! Azure (a): each is listed once in `docs/`, has a test that names it, and whatever the code cites is listed.

// Tests state what they expect by unwrapping, and so do their helpers.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each letter with its document and the least number of entries.
const LISTS: [(char, &str, u32); 5] = [
    ('a', "docs/azure.md", 29),
    ('b', "docs/behaviour.md", 30),
    ('d', "docs/decisions.md", 30),
    ('u', "docs/defects.md", 30),
    ('e', "docs/endpointslices.md", 18),
];

/// A letter and a number, such as `('b', 120)`.
type Number = (char, u32);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The numbers that a document lists as `* **b120** …` or in a table as `| **e5** | …`, in its order.
fn listed(text: &str) -> Vec<Number> {
    let starts = ["* **", "| **"];
    let item = |line| {
        starts
            .iter()
            .find_map(|start| str::strip_prefix(line, start))
    };
    let items = text.lines().filter_map(item);
    items
        .filter_map(|item| number(item.split("**").next()?))
        .collect()
}

/// All numbers of the documents.
fn all_listed() -> BTreeSet<Number> {
    let texts = LISTS.map(|(_, path, _)| fs::read_to_string(root().join(path)).unwrap());
    texts.iter().flat_map(|text| listed(text)).collect()
}

/// Reads `b69` or `b069`.
fn number(word: &str) -> Option<Number> {
    let letter = word
        .chars()
        .next()
        .filter(|letter| "abdue".contains(*letter))?;
    let digits = word.get(1..).filter(|digits| digits.len() <= 3)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Some((letter, digits.parse().ok()?)))?
}

/// The numbers among words, where `b8 to b44` stands for all between.
fn numbers(words: &[&str]) -> BTreeSet<Number> {
    let mut found: BTreeSet<Number> = words.iter().filter_map(|word| number(word)).collect();
    for range in words.windows(3).filter(|words| words[1] == "to") {
        if let (Some((letter, first)), Some((_, last))) = (number(range[0]), number(range[2])) {
            found.extend((first..=last).map(|number| (letter, number)));
        }
    }
    found
}

/// The numbers that the name of a test carries.
fn of_test(name: &str) -> BTreeSet<Number> {
    numbers(&name.split('_').collect::<Vec<_>>())
}

/// The numbers that a comment cites: `(b102 to b104, u1)`, `(see b7)` or `u13: …`.
fn of_comment(comment: &str) -> BTreeSet<Number> {
    let opening = comment.split(':').next().unwrap_or_default();
    let is_list = |text: &&str| words(text).all(|word| number(word).is_some());
    let parentheses = comment
        .split('(')
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    Some(opening)
        .filter(is_list)
        .into_iter()
        .chain(parentheses)
        .flat_map(|cited| numbers(&words(cited).collect::<Vec<_>>()))
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    // Two integer types look like defects.
    words.filter(|word| !word.is_empty() && !["u64", "u128"].contains(word))
}

/// Every Rust source of the workspace.
fn sources() -> Vec<(PathBuf, String)> {
    files("rs")
}

/// Every file of the workspace with this extension.
fn files(extension: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// The names of tests: functions below a test attribute.
fn test_names(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((_, name)) = line.split_once("fn ")
            && is_test
        {
            names.push(name.split('(').next().unwrap());
            is_test = false;
        }
    }
    names
}

#[test]
fn each_document_lists_its_numbers_in_order_and_without_gaps() {
    for (letter, path, least) in LISTS {
        let listed = listed(&fs::read_to_string(root().join(path)).unwrap());
        let last = u32::try_from(listed.len()).unwrap();
        let expected: Vec<Number> = (1..=last).map(|number| (letter, number)).collect();
        assert!(last >= least, "{path}: {listed:?}");
        assert_eq!(listed, expected, "{path}");
    }
}

#[test]
fn each_number_that_is_listed_has_a_test_that_names_it() {
    let sources = sources();
    let tests: BTreeSet<Number> = sources
        .iter()
        .flat_map(|(_, source)| test_names(source))
        .flat_map(of_test)
        .collect();
    let untested: Vec<Number> = all_listed().difference(&tests).copied().collect();
    assert!(untested.is_empty(), "no test names {untested:?}");
}

#[test]
fn each_number_that_the_code_cites_is_listed() {
    let listed = all_listed();
    let mut unknown: BTreeMap<PathBuf, Vec<Number>> = BTreeMap::new();
    for (path, source) in sources() {
        let comments = source
            .lines()
            .filter_map(|line| Some(line.split_once("//")?.1.trim_start_matches(['/', '!', ' '])));
        let cited = comments.flat_map(of_comment);
        let named = test_names(&source).into_iter().flat_map(of_test);
        let missing: Vec<Number> = cited
            .chain(named)
            .filter(|number| !listed.contains(number))
            .collect();
        if !missing.is_empty() {
            unknown.insert(path, missing);
        }
    }
    assert!(unknown.is_empty(), "not listed in docs/: {unknown:?}");
}

#[test]
fn each_number_that_a_document_cites_is_listed() {
    let listed = all_listed();
    let mut cited = 0;
    for (path, text) in files("md") {
        for number in text.lines().flat_map(of_comment) {
            cited += 1;
            assert!(listed.contains(&number), "{path:?} cites {number:?}");
        }
    }
    assert!(cited > 100, "{cited}");
}

#[test]
fn each_decision_names_its_record() {
    let text = fs::read_to_string(root().join("docs/decisions.md")).unwrap();
    for row in text.lines().filter(|line| line.starts_with("| **d")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let record = cells.last().unwrap().trim_end_matches(" |");
        let definition = format!("\n{record}: adr/");
        assert!(cells.len() == 3 && text.contains(&definition), "{row}");
    }
    for (path, record) in files("md") {
        if !path.components().any(|part| part.as_os_str() == "adr") {
            continue;
        }
        for heading in [
            "# ",
            "\n## Context\n",
            "\n## Decision\n",
            "\n## Consequences\n",
        ] {
            assert!(record.contains(heading), "{path:?} has no {heading:?}");
        }
    }
}

#[test]
fn numbers_are_read_from_names_and_comments() {
    let set = |numbers: &[Number]| numbers.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(
        of_test("b69_d12_u013_a_b2_to_b4_and_x1"),
        set(&[
            ('b', 2),
            ('b', 3),
            ('b', 4),
            ('b', 69),
            ('d', 12),
            ('u', 13)
        ])
    );
    assert_eq!(
        of_comment("One each (b102 to b104, without u1), a number (u64): see (b7)."),
        set(&[('b', 7), ('b', 102), ('b', 103), ('b', 104), ('u', 1)])
    );
    assert_eq!(
        of_comment("u13, d2: the address is another one."),
        set(&[('u', 13), ('d', 2)])
    );
    assert_eq!(of_comment("u13 the address"), set(&[]));
}
