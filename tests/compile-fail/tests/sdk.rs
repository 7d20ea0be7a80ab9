//! The compiler errors for a driver in which something is missing or has the wrong type.
//!
//! Each program in `sdk/` must not compile; the expected output of the compiler is next to it. The
//! output differs slightly between compiler versions. After an update of the toolchain, review the
//! differences and accept them with
//!
//! ```text
//! LBCF_EXHAUSTIVE=1 TRYBUILD=overwrite cargo test -p lbcf-compile-fail
//! ```

use std::fs;
use std::io::Write;
use std::path::Path;

const PROGRAMS: &str = "tests/sdk";

#[test]
fn exhaustive_wrong_programs_do_not_compile() {
    if std::env::var_os("LBCF_EXHAUSTIVE").is_none() {
        // Not by a macro: the harness discards what macros print in a test that passes.
        let skipped = "SKIPPED: building the wrong programs takes a minute; set LBCF_EXHAUSTIVE=1";
        let _ = writeln!(std::io::stderr(), "{skipped}");
        return;
    }
    trybuild::TestCases::new().compile_fail(format!("{PROGRAMS}/*.rs"));
}

/// Independent of the wording of the compiler, and of a careless update of the expected output.
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
            .unwrap_or_else(|| panic!("{path:?} has no line `//! Named: `"));
        for name in names.trim_end_matches('.').split(", ") {
            assert!(
                stderr.contains(name),
                "{path:?}: {name} is not in\n{stderr}"
            );
        }
    }
    assert!(count > 0);
}
