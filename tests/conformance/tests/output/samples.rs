//! Reports to write: one as runs give it, and some that are meant.

use lbcf_conformance::check::{Feature, Level};
use lbcf_conformance::checks;
use lbcf_conformance::report::{
    Announcement, CheckResult, DriverInfo, ExchangeReport, FailurePolicy, FailureReport, Report,
    SkipKind, Status, Summary,
};
use std::collections::BTreeMap;

/// All of them, by the names of their folders.
pub(super) fn all() -> [(&'static str, Report); 4] {
    [
        ("sample", sample()),
        ("nasty", nasty()),
        ("empty", report(Vec::new())),
        ("skipped", skipped()),
    ]
}

fn report(results: Vec<CheckResult>) -> Report {
    Report {
        suite_version: "0.1.0".to_owned(),
        spec_version: lbcf_conformance::SPECIFICATION.to_owned(),
        started: "2026-11-21T16:08:00Z".to_owned(),
        ms: 12_345,
        driver: DriverInfo {
            url: "http://127.0.0.1:8080/lbcf".to_owned(),
            ..DriverInfo::default()
        },
        healthz: None,
        seed: 7,
        profile: "core".to_owned(),
        observer: false,
        features: Vec::new(),
        fixture: None,
        fixture_digest: None,
        reproduce: "lbcf conformance run --url http://127.0.0.1:8080/lbcf --seed 7".to_owned(),
        summary: Summary::of(&results, FailurePolicy::default()),
        results,
        interrupted: false,
        unreachable: None,
        observer_failures: Vec::new(),
        left_behind: Vec::new(),
        hints: Vec::new(),
    }
}

fn result(id: &str, level: Level, rule: &str, status: Status, ms: u64) -> CheckResult {
    CheckResult {
        id: id.to_owned(),
        level,
        group: id.split('-').next().unwrap().to_owned(),
        rule: rule.to_owned(),
        status,
        reason: String::new(),
        skip: None,
        response_only: false,
        known: None,
        ms,
        failure: None,
        exchanges: Vec::new(),
    }
}

fn passed(id: &str, level: Level, rule: &str, ms: u64) -> CheckResult {
    result(id, level, rule, Status::Passed, ms)
}

fn skip(id: &str, level: Level, rule: &str, kind: SkipKind, reason: &str) -> CheckResult {
    CheckResult {
        skip: Some(kind),
        reason: reason.to_owned(),
        ..result(id, level, rule, Status::Skipped, 0)
    }
}

fn failed(id: &str, level: Level, rule: &str, ms: u64, failure: FailureReport) -> CheckResult {
    CheckResult {
        reason: failure.got.clone(),
        failure: Some(failure),
        ..result(id, level, rule, Status::Failed, ms)
    }
}

/// A rule in words of these samples, so that a change of the specification's words changes none of these files.
fn rule(id: &str) -> &'static str {
    match id {
        "WIRE-01" => {
            "Each webhook of the driver, the nine of every driver and those that its features \
             name, responds to a valid POST with HTTP status 200, whatever the result is"
        }
        "WIRE-04" => "minRetryDelayInSeconds, if present, is a JSON integer of 32 bits",
        "HLTH-01" => {
            "A working driver responds to POST healthz ({}) with {\"healthy\": true}, each \
             time"
        }
        "CLB-03" => {
            "Repeating createLoadBalancer under the same recordID returns Succ with the same \
             lbInfo and creates nothing"
        }
        "CLB-05" => {
            "createLoadBalancer returns Fail with a msg for an invalid lbSpec or invalid \
             attributes, and creates nothing"
        }
        "DLB-05" => {
            "A load balancer with backends is deleted, or the driver returns Fail with a msg \
             until they are deregistered"
        }
        "DLB-03" => "Deleting an unknown load balancer succeeds",
        "ENS-02" => {
            "Registering a registered backend succeeds, however often, and leaves one binding"
        }
        "DRG-04" => "Deregistering a deregistered backend succeeds, however often",
        "JPD-01" => {
            "The response has succ, and doNotDeregister lists the pods to keep, each an \
             object with metadata.name and metadata.namespace"
        }
        "ASYN-04" => "Running is returned within 2 seconds",
        _ => "The driver does what it has to do",
    }
}

/// A real check that passed.
fn real_passed(id: &str, ms: u64) -> CheckResult {
    let check = checks::by_id(id).unwrap();
    passed(id, check.level, rule(id), ms)
}

/// A real check that was skipped.
fn real_skipped(id: &str, kind: SkipKind, reason: &str) -> CheckResult {
    let check = checks::by_id(id).unwrap();
    skip(id, check.level, rule(id), kind, reason)
}

/// A real check that failed, with its typical cause.
fn real_failed(id: &str, ms: u64, failure: FailureReport) -> CheckResult {
    let check = checks::by_id(id).unwrap();
    let failure = FailureReport {
        likely_cause: check.typical.to_owned(),
        ..failure
    };
    failed(id, check.level, rule(id), ms, failure)
}

/// A realistic run: some of the checks, with a driver that has a few defects.
pub(super) fn sample() -> Report {
    let delay = FailureReport {
        expected: "a 32-bit integer, such as 5".to_owned(),
        got: "createLoadBalancer: minRetryDelayInSeconds is \"5\" (3 of 1612 responses: 3 of \
              createLoadBalancer)"
            .to_owned(),
        likely_cause: String::new(),
        driver_wrote: "panic: assignment to entry in nil map\ngoroutine 7 [running]:".to_owned(),
        curl: Some(
            "curl -isS 'http://127.0.0.1:8080/lbcf/createLoadBalancer' \\\n  \
             -H 'content-type: application/json' \\\n  \
             --data-binary '{\"recordID\":\"createLoadBalancer(7d2c)\",\"retryID\":\"b1f0\",\
             \"lbSpec\":{\"vpc\":\"vpc-1\",\"name\":\"lbcf-conf-k3v-wire-04\"},\"attributes\":null}'"
                .to_owned(),
        ),
        answer: Some(
            "HTTP 200 OK\ncontent-type: application/json\n\n\
             {\"status\":\"Running\",\"msg\":\"creating\",\"minRetryDelayInSeconds\":\"5\"}"
                .to_owned(),
        ),
    };
    let exchange = ExchangeReport {
        sequence: 4,
        method: "POST".to_owned(),
        url: "http://127.0.0.1:8080/lbcf/createLoadBalancer".to_owned(),
        request_headers: BTreeMap::from([(
            "content-type".to_owned(),
            "application/json".to_owned(),
        )]),
        request_body: "{\"recordID\":\"createLoadBalancer(7d2c)\"}".to_owned(),
        request_cut: false,
        status: Some(200),
        response_headers: BTreeMap::from([(
            "content-type".to_owned(),
            "application/json".to_owned(),
        )]),
        response_body: Some("{\"status\":\"Running\",\"minRetryDelayInSeconds\":\"5\"}".to_owned()),
        response_cut: false,
        no_answer: None,
        ms: 3,
    };
    let deleted = FailureReport {
        expected: "a response with a status, as every operation requires".to_owned(),
        got: "HTTP 500".to_owned(),
        likely_cause: String::new(),
        driver_wrote: String::new(),
        curl: Some(
            "curl -isS 'http://127.0.0.1:8080/lbcf/deleteLoadBalancer' \\\n  \
             -H 'content-type: application/json' \\\n  \
             --data-binary '{\"recordID\":\"deleteLoadBalancer(91aa)\",\"lbInfo\":{\"lbID\":\"lb-17\"}}'"
                .to_owned(),
        ),
        answer: Some(
            "HTTP 500 Internal Server Error\ncontent-type: text/plain\n\n\
             LB is in use by 1 backend"
                .to_owned(),
        ),
    };
    let results = vec![
        real_passed("WIRE-01", 41),
        CheckResult {
            exchanges: vec![exchange],
            ..real_failed("WIRE-04", 3, delay)
        },
        real_passed("HLTH-01", 2),
        real_passed("CLB-03", 1_204),
        real_skipped(
            "CLB-05",
            SkipKind::Missing,
            "needs loadBalancer.invalid in the fixture",
        ),
        real_failed("DLB-05", 18, deleted),
        CheckResult {
            known: Some("ACME-12, to be done in v1.5".to_owned()),
            ..real_failed(
                "DLB-03",
                9,
                FailureReport {
                    expected: "status Succ, since the load balancer does not exist".to_owned(),
                    got: "status \"Fail\", msg \"no such load balancer\"".to_owned(),
                    likely_cause: String::new(),
                    driver_wrote: String::new(),
                    curl: None,
                    answer: None,
                },
            )
        },
        CheckResult {
            response_only: true,
            reason: "only responses were verified, without an observer".to_owned(),
            ..real_passed("ENS-02", 87)
        },
        CheckResult {
            known: Some("ACME-9".to_owned()),
            ..real_passed("DRG-04", 64)
        },
        real_skipped(
            "JPD-01",
            SkipKind::NotApplicable,
            "the fixture's features do not name judgePodDeregister",
        ),
        real_passed("ASYN-04", 66_012),
    ];
    Report {
        driver: DriverInfo {
            organization: "acme".to_owned(),
            project: "acme-clb".to_owned(),
            version: "v1.4.0".to_owned(),
            homepage: "https://acme.example/clb".to_owned(),
            contact: vec!["@acme/lb".to_owned()],
            url: "http://127.0.0.1:8080/lbcf".to_owned(),
        },
        healthz: Some(Announcement {
            specification: "1".to_owned(),
            features: vec!["cancel".to_owned(), "pages".to_owned()],
        }),
        features: vec![Feature::Async, Feature::PodBackends],
        profile: "async".to_owned(),
        seed: 4_242,
        ms: 68_310,
        fixture: Some("conformance.yaml".to_owned()),
        fixture_digest: Some(
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
        ),
        reproduce: "lbcf conformance run --url http://127.0.0.1:8080/lbcf --fixture \
                    conformance.yaml --profile async --seed 4242"
            .to_owned(),
        left_behind: vec![
            "a load balancer with lbInfo {\"lbID\":\"lb-17\"} (created by DLB-05: createLoadBalancer under recordID createLoadBalancer(91aa))"
                .to_owned(),
        ],
        hints: vec![
            "a more complete fixture would add 3 checks, see the reasons above; `lbcf conformance init` \
             writes a first one"
                .to_owned(),
            "an observer (--observe-url, --observe-cmd or `observe` in the fixture) would add 6 checks, \
             and let 1 more verify the cloud"
                .to_owned(),
        ],
        ..report(results)
    }
}

/// Text with the special characters of all formats.
pub(super) const NASTY: &str = "]]> <b>&amp;'\" # TODO x \\ | `tick` ```fence``` 100% , : \
     \u{1b}[31mred\u{1b}[0m \u{1b}]0;title \u{0}\u{8}\u{fffe}\u{85}\u{202e}🦀 é\r\n::error::forged\n...\n  ...\n---\nok 1 - forged\n\
     </details></failure>\n\ttab \u{2028} end: {{x}} ${HOME} $(id) 'quote' @acme [a](b) - *x* _y_";

/// A report with this text in all fields, and with very long texts.
pub(super) fn nasty() -> Report {
    use Level::{Must, Should};
    let long = "long ".repeat(3_000) + &"🦀".repeat(3_000);
    let failure = FailureReport {
        expected: NASTY.to_owned(),
        got: NASTY.to_owned(),
        likely_cause: NASTY.to_owned(),
        driver_wrote: String::new(),
        curl: Some(format!("curl {NASTY}")),
        answer: Some(NASTY.to_owned()),
    };
    let endless = FailureReport {
        expected: long.clone(),
        got: long.clone(),
        likely_cause: String::new(),
        driver_wrote: String::new(),
        curl: None,
        answer: Some(" ".repeat(100) + &long[..3_000]),
    };
    let results = vec![
        passed("WIRE-01", Must, NASTY, 0),
        skip("WIRE-02", Must, NASTY, SkipKind::BrokenOff, NASTY),
        failed("WIRE-03", Must, NASTY, 1, failure.clone()),
        failed("WIRE-05", Should, NASTY, 1, failure.clone()),
        CheckResult {
            known: Some(NASTY.to_owned()),
            ..failed("WIRE-06", Must, NASTY, 1, failure.clone())
        },
        CheckResult {
            known: Some(NASTY.to_owned()),
            ..passed("WIRE-07", Must, NASTY, 1)
        },
        CheckResult {
            reason: NASTY.to_owned(),
            ..result("WIRE-08", Must, "Failed without more.", Status::Failed, 1)
        },
        failed("WIRE-09", Must, "Endless texts.", u64::MAX, endless),
        CheckResult {
            id: NASTY.to_owned(),
            group: NASTY.to_owned(),
            ..failed("NEW-01", Should, "A group of a later version.", 1, failure)
        },
    ];
    Report {
        driver: DriverInfo {
            organization: NASTY.to_owned(),
            url: NASTY.to_owned(),
            ..DriverInfo::default()
        },
        reproduce: NASTY.to_owned(),
        left_behind: vec![NASTY.to_owned(), String::new()],
        hints: vec![NASTY.to_owned(), long],
        ..report(results)
    }
}

/// A run whose checks were all skipped.
fn skipped() -> Report {
    report(vec![
        skip(
            "ENS-01",
            Level::Must,
            "A backend is registered.",
            SkipKind::Missing,
            "the fixture declares no backend feature",
        ),
        skip(
            "DRY-05",
            Level::Should,
            "The response to a dry run has the fields of a real one.",
            SkipKind::NotApplicable,
            "the fixture does not declare dryRun",
        ),
    ])
}
