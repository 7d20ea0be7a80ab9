use super::*;

const SAMPLE: &str = include_str!("../../../tests/golden/sample/report.yaml");

/// A report about the rules A, B, … with these levels, and results or kinds of skips.
fn report(rules: &[(&str, &str)]) -> ConformanceReport {
    let rules = rules.iter().zip('A'..);
    let rules = rules.map(|((level, result), id)| match *result {
        "passed" | "failed" => format!("  {id}: {{level: {level}, result: {result}}}\n"),
        skip => format!("  {id}: {{level: {level}, result: skipped, skip: {skip}}}\n"),
    });
    let (head, _) = SAMPLE.split_once("results:").unwrap();
    let text = format!(
        "{head}reproduce: x\nresults:\n{}",
        rules.collect::<String>()
    );
    yaml::parse::<Option<_>>(&text).unwrap().unwrap()
}

#[test]
fn the_must_rules_that_apply_make_the_badge() {
    const PASSED: (&str, &str) = ("MUST", "passed");
    for (rules, text, color) in [
        ([PASSED, ("SHOULD", "passed")], "1/1 MUST", "#2e7d32"),
        ([PASSED, ("SHOULD", "failed")], "1/1 MUST", "#667518"),
        ([PASSED, ("MUST", "notApplicable")], "1/1 MUST", "#2e7d32"),
        ([PASSED, ("MUST", "missing")], "1/2 MUST", "#8a6500"),
        ([PASSED, ("MUST", "failed")], "1/2 MUST", "#c62828"),
        ([("SHOULD", "passed"); 2], "0/0 MUST", "#8a6500"),
    ] {
        let image = badge(&report(&rules));
        let title = format!("<title>LBCF 1: {text}</title>");
        assert!(image.contains(&title) && image.contains(color), "{image}");
        assert!(image.contains(r#"width="126""#), "{image}");
    }
    let mut nasty = report(&[PASSED]);
    nasty.spec_version = "<script>\u{1b}&".to_owned() + &"x".repeat(1 << 20);
    let image = badge(&nasty);
    assert!(
        image.contains("LBCF &lt;script&gt;\\x1b&amp;xxx"),
        "{image}"
    );
    assert!(image.len() < 4_000);
}

#[test]
fn a_rule_that_passed_and_no_longer_does_is_a_regression() {
    for (before, after, what, is_regression) in [
        ("passed", "failed", "newly failing", true),
        ("passed", "missing", "newly skipped", true),
        // The driver has dropped a feature.
        ("passed", "notApplicable", "newly skipped", false),
        ("failed", "passed", "newly passing", false),
        ("missing", "failed", "newly failing", false),
    ] {
        let [old, mut new] = [before, after].map(|result| report(&[("SHOULD", result)]));
        let change = changes::find(&old, &new).remove(0);
        let found = (change.what, change.is_regression);
        assert_eq!(found, (what, is_regression), "{before} {after}");
        assert_eq!(changes::find(&new, &new), []);
        // Another profile is no excuse.
        new.mode = "core".to_owned();
        let is_regression = changes::find(&old, &new)[0].is_regression;
        assert_eq!(is_regression, before == "passed", "{before} {after}");
    }
    let (old, new) = (report(&[("MUST", "passed")]), report(&[]));
    for (old, new, what) in [(&old, &new, "no longer a rule"), (&new, &old, "new rule")] {
        let change = changes::find(old, new).remove(0);
        assert_eq!((change.what, change.is_regression), (what, false));
    }
}

#[test]
fn what_is_no_report_is_refused_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.yaml");
    let changed = |part: &str, instead: &str| SAMPLE.replacen(part, instead, 1);
    for (text, problem) in [
        (String::new(), "it is empty"),
        ("[".repeat(100_000), "invalid YAML"),
        ("#".repeat(5 << 20), "longer than 4194304 bytes"),
        (
            changed("kind: ", "kind: a"),
            "2: kind: \"aConformanceReport\": not one of",
        ),
        (
            changed("dev/v1", "dev/v2"),
            "\"lbcf.dev/v2\": not one of lbcf.dev/v1",
        ),
        (
            changed("seed: ", "seed: -"),
            "seed: -4242: expected a whole number;",
        ),
        (
            changed("t: passed", "t: x"),
            "ASYN-04.result: \"x\": not one of passed",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let message = read(&path).unwrap_err().message;
        let expected = "; expected a report of `run --output report=FILE`";
        assert!(message.contains(problem), "{message}");
        assert!(message.ends_with(expected), "{message}");
    }
}
