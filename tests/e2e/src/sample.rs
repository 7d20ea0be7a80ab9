//! Which cases of an exhaustive test run.

use std::io::Write;

/// Whether the environment variable `LBCF_EXHAUSTIVE` is set: every case runs, not only a sample.
#[must_use]
pub fn is_exhaustive() -> bool {
    std::env::var_os("LBCF_EXHAUSTIVE").is_some()
}

/// At most `size` of the cases, evenly spread over their order and the same in every run; all of
/// them where [`is_exhaustive`]. Prints how many of how many run.
pub fn sample<T>(test: &str, cases: impl IntoIterator<Item = T>, size: usize) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let all = cases.len();
    let size = if is_exhaustive() { all } else { size.min(all) };
    // Case `i` is taken where `i * size / all` is one more than for the case before it.
    let is_taken = |at: usize| at == 0 || at * size / all > (at - 1) * size / all;
    let taken = cases.into_iter().enumerate();
    let taken = taken.filter(|(at, _)| size > 0 && is_taken(*at));
    let taken: Vec<T> = taken.map(|(_, case)| case).collect();
    // Not `println!`: the test harness discards what a passing test prints.
    let _ = writeln!(std::io::stderr(), "{test}: {} of {all} cases", taken.len());
    taken
}
