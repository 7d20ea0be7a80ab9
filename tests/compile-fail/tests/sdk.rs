//! What a driver's author reads when something is missing or has the wrong type.
//!
//! Each program below `sdk/` must not compile, and the compiler's words are next to it.
//! They differ a little from one compiler to the next; after a change of the toolchain, look at
//! what is different and take it over:
//!
//! ```text
//! TRYBUILD=overwrite cargo test -p lbcf-compile-fail
//! ```

use std::fs;
use std::path::Path;

const PROGRAMS: &str = "tests/sdk";

#[test]
fn programs_that_are_wrong_do_not_compile() {
    trybuild::TestCases::new().compile_fail(format!("{PROGRAMS}/*.rs"));
}

/// However the compiler words it, and whoever takes its words over.
#[test]
fn every_error_names_what_is_missing_or_wrong() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join(PROGRAMS);
    let mut count = 0;
    for entry in fs::read_dir(programs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        count += 1;
        let program = fs::read_to_string(&path).unwrap();
        let stderr = fs::read_to_string(path.with_extension("stderr")).unwrap();
        let names = program
            .lines()
            .find_map(|line| line.strip_prefix("//! Named: "))
            .unwrap_or_else(|| panic!("{path:?} does not say what has to be named"));
        for name in names.trim_end_matches('.').split(", ") {
            assert!(
                stderr.contains(name),
                "{path:?}: {name} is not in\n{stderr}"
            );
        }
    }
    assert!(count > 0);
}
