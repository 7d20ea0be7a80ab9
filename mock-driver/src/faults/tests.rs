//! Reading rules, and deciding by them.

use super::decide::{Effect, Fault, FaultTarget};
use super::read::{parse_rules as rules, rule};
use super::{FaultPreset, FaultTable};
use lbcf_driver_sdk::webhook::{ALL, WebhookInfo};
use serde_json::{Value, json};
use std::time::Duration;

fn webhook(name: &str) -> &'static WebhookInfo {
    ALL.iter().find(|info| info.name == name).unwrap()
}

fn target<'a>(name: &str, record_id: &'a str) -> FaultTarget<'a> {
    FaultTarget {
        webhook: webhook(name),
        record_id,
        load_balancer: &[],
        address: &[],
        now: Duration::ZERO,
    }
}

fn table(list: Value, seed: u64) -> FaultTable {
    let table = FaultTable::default();
    table.declare(rules(list).unwrap(), seed).unwrap();
    table
}

fn effect(table: &FaultTable, target: &FaultTarget<'_>) -> Option<Effect> {
    table.decide(target, &[]).map(|fault| fault.effect)
}

/// Which of so many calls are hit.
fn hits(table: &FaultTable, name: &str, calls: usize) -> Vec<usize> {
    let hit = |_: &usize| effect(table, &target(name, "r")).is_some();
    (0..calls).filter(hit).collect()
}

#[test]
fn every_action_and_condition_is_read_and_written() {
    for text in [
        json!({"action": {"fail": {"message": "no", "retryAfter": "3s"}}}),
        json!({"action": {"running": {"calls": 3}}}),
        json!({"action": {"running": {"time": "1500ms", "message": "wait"}}}),
        json!({"action": {"httpStatus": {"code": 503, "body": "x"}}}),
        json!({"action": {"delay": {"time": "2s", "jitter": "1s"}}}),
        json!({"action": "hang"}),
        json!({"action": "reset"}),
        json!({"action": "malformed"}),
        json!({"action": "truncated"}),
        json!({"match": {
            "webhook": "*Backend", "loadBalancer": "lb-*", "address": "10.*", "recordID": "e*",
            "share": 0.5, "times": 3, "skip": 1,
        }, "action": "loseAnswer"}),
    ] {
        assert_eq!(json!(rule(text.clone()).unwrap()), text);
    }
    let short = rule(json!({"action": "fail"})).unwrap();
    assert_eq!(json!(short), json!({"action": {"fail": {}}}));
    // What a list shows can be sent back.
    let table = table(json!([{"match": {"times": 1}, "action": "hang"}]), 0);
    let listed = json!({"seed": 0, "rules": table.list()});
    assert_eq!(rules(listed).unwrap(), [table.list()[0].rule.clone()]);
}

#[test]
fn wrong_rules_are_refused_with_field_value_and_what_is_allowed() {
    for (text, expected) in [
        (json!({}), "missing field `action`"),
        (json!([]), "must be an object"),
        (json!({"action": "hng"}), "did you mean hang?"),
        (json!({"acton": "hang"}), "did you mean action?"),
        (
            json!({"match": {"webhok": "x"}, "action": "hang"}),
            "did you mean webhook?",
        ),
        (
            json!({"match": {"recordId": "x"}, "action": "hang"}),
            "did you mean recordID?",
        ),
        (
            json!({"match": {"webhook": "ensureBackends"}, "action": "hang"}),
            "did you mean ensureBackend?",
        ),
        (
            json!({"match": {"webhook": ""}, "action": "hang"}),
            "The webhooks are healthz, ",
        ),
        (
            json!({"match": {"share": 0.0}, "action": "hang"}),
            "match.share: 0: not a number above 0",
        ),
        (
            json!({"match": {"share": 1.1}, "action": "hang"}),
            "match.share: 1.1: not a number",
        ),
        (
            json!({"match": {"share": "half"}, "action": "hang"}),
            "match.share: invalid type",
        ),
        (
            json!({"match": {"times": 0}, "action": "hang"}),
            "match.times: 0",
        ),
        (
            json!({"match": {"times": -1}, "action": "hang"}),
            "match.times: invalid value",
        ),
        (
            json!({"match": {"skip": 1.5}, "action": "hang"}),
            "match.skip: invalid type",
        ),
        (
            json!({"action": {"running": {"calls": 0}}}),
            "action.running.calls: 0",
        ),
        (
            json!({"action": {"running": {"calls": 1, "time": "1s"}}}),
            "give one of them",
        ),
        (
            json!({"action": {"running": {"time": "soon"}}}),
            "\"soon\": not a duration such as 10s",
        ),
        (
            json!({"action": {"running": {"time": "25h"}}}),
            "longer than 24h",
        ),
        (
            json!({"match": {"webhook": "validateBackend"}, "action": "running"}),
            "action.running: validateBackend is a decision",
        ),
        (
            json!({"action": {"httpStatus": {"code": 99}}}),
            "action.httpStatus.code: 99: not a number from 200 to 599",
        ),
        (
            json!({"action": {"httpStatus": {}}}),
            "missing field `code`",
        ),
        (
            json!({"action": {"httpStatus": {"code": 500, "body": "x".repeat(70_000)}}}),
            "more than 65536",
        ),
        (
            json!({"action": {"fail": {"message": "x".repeat(5000)}}}),
            "action.fail.message: has 5000 bytes",
        ),
        (
            json!({"action": {"fail": {"mesage": "x"}}}),
            "did you mean message?",
        ),
        (
            json!({"action": {"delay": {}}}),
            "has neither time nor jitter",
        ),
        (json!({"action": {"hang": {}, "reset": {}}}), "action"),
    ] {
        let problem = rule(text.clone()).unwrap_err();
        assert!(problem.contains(expected), "{text}: {problem}");
    }
    let problem = rules(json!([{"action": "hang"}, {"action": "hung"}])).unwrap_err();
    assert!(problem.starts_with("rules[1].action: "), "{problem}");
    let problem = rules(json!({"preset": "chaoss"})).unwrap_err();
    assert!(problem.contains("did you mean chaos?"), "{problem}");
    let many = vec![json!({"action": "hang"}); 1001];
    assert!(rules(many.into()).unwrap_err().contains("more than 1000"));
}

#[test]
fn the_first_rule_that_hits_wins() {
    let table = table(
        json!([
            {"match": {"webhook": "ensureBackend", "times": 1}, "action": "hang"},
            {"match": {"webhook": "ensure*"}, "action": "reset"},
            {"action": "loseAnswer"},
        ]),
        0,
    );
    let of = |name| effect(&table, &target(name, "r"));
    assert_eq!(of("ensureBackend"), Some(Effect::Hang));
    assert_eq!(of("ensureBackend"), Some(Effect::Reset));
    assert_eq!(of("ensureLoadBalancer"), Some(Effect::Reset));
    assert_eq!(of("healthz"), Some(Effect::LoseAnswer));
    let counts: Vec<_> = table
        .list()
        .iter()
        .map(|it| (it.id, it.matched, it.applied))
        .collect();
    assert_eq!(counts, [(1, 2, 1), (2, 2, 2), (3, 1, 1)]);
}

#[test]
fn calls_are_skipped_and_hit_by_number() {
    let table = table(
        json!([{"match": {"skip": 2, "times": 3}, "action": "hang"}]),
        0,
    );
    assert_eq!(hits(&table, "healthz", 10), [2, 3, 4]);
}

#[test]
fn a_seed_repeats_shares_whatever_other_rules_there_are() {
    let share = json!({"match": {"webhook": "ensureBackend", "share": 0.3}, "action": "hang"});
    let of_seed = |seed| hits(&table(json!([share]), seed), "ensureBackend", 1000);
    let first = of_seed(1);
    assert_eq!(first, of_seed(1));
    assert_ne!(first, of_seed(2));
    assert!((250..350).contains(&first.len()), "{}", first.len());
    let others = table(json!([share, {"action": "reset"}]), 1);
    let hung = (0..1000).filter(|_| {
        effect(&others, &target("healthz", "r"));
        effect(&others, &target("ensureBackend", "r")) == Some(Effect::Hang)
    });
    assert_eq!(hung.collect::<Vec<_>>(), first);
}

#[test]
fn jitter_is_repeatable_and_within_its_limits() {
    let delays = || {
        let table = table(
            json!([{"action": {"delay": {"time": "1s", "jitter": "500ms"}}}]),
            7,
        );
        let delays = (0..100).map(|_| match effect(&table, &target("healthz", "")) {
            Some(Effect::Delay(delay)) => delay,
            other => panic!("{other:?}"),
        });
        delays.collect::<Vec<_>>()
    };
    let (some, again) = (delays(), delays());
    assert_eq!(some, again);
    let limits = Duration::from_secs(1)..Duration::from_millis(1500);
    assert!(some.iter().all(|delay| limits.contains(delay)), "{some:?}");
    assert!(some.iter().any(|delay| *delay != some[0]));
}

#[test]
fn running_ends_for_each_record_id_after_calls_or_a_time() {
    let calls = table(json!([{"action": {"running": {"calls": 2}}}]), 0);
    for record_id in ["a", "b"] {
        let runs = (0..4).map(|_| effect(&calls, &target("ensureBackend", record_id)).is_some());
        assert_eq!(runs.collect::<Vec<_>>(), [true, true, false, false]);
    }
    // Decisions cannot be Running.
    assert_eq!(effect(&calls, &target("validateBackend", "c")), None);

    let time = table(json!([{"action": {"running": {"time": "5s"}}}]), 0);
    let at = |record_id, seconds| {
        let now = Duration::from_secs(seconds);
        effect(
            &time,
            &FaultTarget {
                now,
                ..target("ensureBackend", record_id)
            },
        )
        .is_some()
    };
    assert!(at("a", 10) && at("a", 14) && !at("a", 15));
    assert!(at("b", 15));
}

#[test]
fn load_balancer_address_and_record_id_are_patterns() {
    let table = table(
        json!([
            {"match": {"loadBalancer": "lb-?"}, "action": "hang"},
            {"match": {"address": "10.0.0.1:*"}, "action": "reset"},
            {"match": {"recordID": "*(7)"}, "action": "loseAnswer"},
        ]),
        0,
    );
    let base = target("ensureBackend", "ensureBackend(7)");
    assert_eq!(effect(&table, &base), Some(Effect::LoseAnswer));
    let address = ["{}".to_owned(), "10.0.0.1:80".to_owned()];
    let addressed = FaultTarget {
        address: &address,
        ..base
    };
    assert_eq!(effect(&table, &addressed), Some(Effect::Reset));
    let load_balancer = ["lb-1".to_owned()];
    let named = FaultTarget {
        load_balancer: &load_balancer,
        ..addressed
    };
    assert_eq!(effect(&table, &named), Some(Effect::Hang));
    assert_eq!(
        effect(&table, &target("ensureBackend", "ensureBackend(8)")),
        None
    );
}

#[test]
fn each_class_of_webhook_fails_in_its_own_way() {
    let table = table(
        json!([{"action": {"fail": {"message": "no", "retryAfter": "1500ms"}}}]),
        0,
    );
    let body = |name| match effect(&table, &target(name, "r")) {
        Some(Effect::Respond { code: 200, body }) => serde_json::from_str::<Value>(&body).unwrap(),
        other => panic!("{other:?}"),
    };
    let fail = json!({"status": "Fail", "msg": "no", "minRetryDelayInSeconds": 2});
    assert_eq!(body("ensureBackend"), fail);
    assert_eq!(body("validateBackend"), json!({"succ": false, "msg": "no"}));
    assert_eq!(body("healthz"), json!({"healthy": false}));
}

#[test]
fn objects_carry_faults_that_count_for_themselves_and_come_after_the_rules() {
    let table = FaultTable::default();
    let text = r#"{"match": {"webhook": "ensureBackend", "times": 1}, "action": "loseAnswer"}"#;
    let of = |name, record_id| table.decide(&target(name, record_id), &[text]);
    for record_id in ["a", "b"] {
        let fault = of("ensureBackend", record_id).unwrap();
        assert_eq!(fault.effect, Effect::LoseAnswer);
        assert_eq!(fault.label, "loseAnswer (in band)");
        assert_eq!(of("ensureBackend", record_id), None);
    }
    assert_eq!(of("deregisterBackend", "c"), None);
    // Admission must not refuse the object that carries it.
    assert_eq!(
        table.decide(&target("validateBackend", ""), &["hang"]),
        None
    );
    let hang = table.decide(&target("ensureBackend", "c"), &[" hang "]);
    assert_eq!(hang.map(|fault| fault.effect), Some(Effect::Hang));
    let id = table
        .add(rule(json!({"action": "reset"})).unwrap())
        .unwrap();
    assert_eq!(
        of("ensureBackend", "d").map(|fault| fault.effect),
        Some(Effect::Reset)
    );
    assert!(table.remove(id) && !table.remove(id));
}

#[test]
fn a_wrong_fault_in_an_object_fails_with_the_reason() {
    let table = FaultTable::default();
    for (text, expected) in [
        ("hng", "mock.lbcf/fault: action: unknown variant `hng`"),
        ("{", "mock.lbcf/fault: not JSON: "),
        (
            r#"[{"action": "hang", "match": {"times": 0}}]"#,
            "mock.lbcf/fault: rules[0].match.times: 0",
        ),
    ] {
        let fault = table
            .decide(&target("ensureBackend", "r"), &[text])
            .unwrap();
        let Fault {
            action: _,
            effect: Effect::Respond { body, .. },
            ..
        } = fault
        else {
            panic!("{fault:?}");
        };
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["status"], "Fail");
        let message = body["msg"].as_str().unwrap();
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_reset_returns_to_the_rules_of_the_start() {
    let table = table(json!({"preset": "chaos"}), 3);
    let start = table.list();
    hits(&table, "ensureBackend", 50);
    table.clear();
    assert_eq!(table.list(), []);
    table.reset();
    assert_eq!((table.list(), table.seed()), (start, 3));
}

#[test]
fn presets_are_valid_rules() {
    for preset in [
        FaultPreset::Fast,
        FaultPreset::Realistic,
        FaultPreset::Chaos,
    ] {
        for one in preset.rules() {
            assert_eq!(rule(json!(one)), Ok(one));
        }
    }
    assert_eq!(FaultPreset::Fast.rules(), []);
}
