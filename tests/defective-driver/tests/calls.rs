//! Defects of calls as such: while they run, when they are repeated, concurrent, invalid, or take
//! too long.

use crate::trial::{
    CHARGE, Trial, backend, but, create, create_http, create_invalid, delete, ensure, unknown,
    without,
};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use lbcf_defective_driver::Defect;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const CREATE: &str = "createLoadBalancer";
const DELETE: &str = "deleteLoadBalancer";
const ENSURE: &str = "ensureLoadBalancer";
const BIND: &str = "ensureBackend";
const UNBIND: &str = "deregisterBackend";

pub(crate) async fn misbehaves(defect: Defect, defects: &[Defect]) -> Option<bool> {
    // They are in the order of the table, but for a few.
    let reply = if (Defect::CreateRunsForever..=Defect::ForgetsOnRestart).contains(&defect) {
        running(defect, defects).await
    } else if (Defect::RecordIdRegex..=Defect::SameRetryIdRefused).contains(&defect) {
        retrying(defect, defects).await
    } else if (Defect::DryRunActsCreate..=Defect::DryRunBareAnswer).contains(&defect) {
        rehearsing(defect, defects).await
    } else if (Defect::DiesOnBadJson..=Defect::CreateFailsAfterBadJson).contains(&defect) {
        given_nonsense(defect, defects).await
    } else {
        side_by_side(defect, defects).await
    };
    match reply {
        None => slow(defect, defects).await,
        some => some,
    }
}

async fn running(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let mut trial = Trial::staged(defects);
    let again = |retry: &str| but(create("1"), "retryID", retry);
    Some(match defect {
        Defect::CreateRunsForever => {
            trial.status(CREATE, create("1")).await;
            trial.let_stages_pass();
            assert!(trial.fails(CREATE, create_invalid("2")).await);
            trial.status(CREATE, again("2")).await == "Running"
        }
        Defect::HttpCreateRunsForever => {
            let trial = Trial::new(defects);
            assert!(trial.succ(CREATE, create("1")).await);
            trial.status(CREATE, create_http("2")).await == "Running"
        }
        Defect::PollStartsAgain => {
            for retry in ["1", "2", "3"] {
                assert_eq!(trial.status(CREATE, again(retry)).await, "Running");
            }
            trial.let_stages_pass();
            for retry in ["4", "5"] {
                assert!(trial.succ(CREATE, again(retry)).await);
            }
            trial.made() == 4
        }
        Defect::SuccThenRunning => {
            let trial = Trial::new(defects);
            for _ in 0..4 {
                trial.create("1").await;
            }
            let fifth = trial.status(CREATE, again("5")).await;
            trial.create("1").await;
            fifth == "Running"
        }
        Defect::EarlyPollFails => {
            assert_eq!(trial.status(CREATE, again("1")).await, "Running");
            assert_eq!(
                trial.status(CREATE, again("1")).await,
                "Running",
                "a replay"
            );
            trial.fails(CREATE, again("2")).await
        }
        Defect::DeleteWhileCreatingLeaks => {
            assert_eq!(trial.status(CREATE, create("1")).await, "Running");
            assert!(trial.succ(DELETE, delete("1", &Value::Null)).await);
            trial.made() == 1
        }
        Defect::JobLostOnRestart => {
            assert_eq!(trial.status(CREATE, again("1")).await, "Running");
            assert_eq!(trial.status(CREATE, again("2")).await, "Running");
            trial.restart();
            trial.fails(CREATE, again("3")).await
        }
        Defect::ForgetsOnRestart => {
            let mut trial = Trial::new(defects);
            let lb_info = trial.with_backends(&["a"]).await;
            trial.restart();
            trial.fails(BIND, backend(BIND, &lb_info, "a", "50")).await
        }
        _ => return None,
    })
}

async fn retrying(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let under = |record: &str| but(create("1"), "recordID", record);
    let uuid = "0d5b0f0e-6a0f-4f2e-9c6e-2f1d6a3b4c5d";
    let proper = format!("{CREATE}({uuid})");
    Some(match defect {
        Defect::RecordIdRegex => {
            assert!(trial.succ(CREATE, under(&proper)).await);
            trial.fails(CREATE, under("1")).await
        }
        Defect::RecordIdTooLong => {
            assert!(trial.succ(CREATE, under(&proper)).await);
            trial.fails(CREATE, under(&"x".repeat(253))).await
        }
        Defect::RecordIdAscii => {
            assert!(trial.succ(CREATE, under(&proper)).await);
            trial.fails(CREATE, under("記録")).await
        }
        Defect::DiesWithConnection => {
            let call = trial.call(CREATE, create("1"));
            let hung_up = timeout(Duration::from_millis(10), call).await.is_err();
            trial.create("1").await;
            trial.create("1").await;
            assert!(hung_up || trial.made() == 1);
            trial.made() == 2
        }
        Defect::NegativeCache => {
            assert!(trial.fails(CREATE, create_invalid("1")).await);
            trial.fails(CREATE, create("1")).await
        }
        Defect::SameRetryIdRefused => {
            trial.create("1").await;
            trial.fails(CREATE, create("1")).await
        }
        _ => return None,
    })
}

async fn rehearsing(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let dry = |request: Value| but(request, "dryRun", true);
    let lb_info = async || trial.with_backends(&["a"]).await;
    let state = || trial.mock.cloud.state();
    let changes = async |webhook: &str, request: Value| {
        let before = state();
        assert!(trial.succ(webhook, dry(request)).await);
        before != state()
    };
    Some(match defect {
        Defect::DryRunActsCreate => changes(CREATE, create("1")).await,
        Defect::DryRunActsDelete => changes(DELETE, delete("1", &lb_info().await)).await,
        Defect::DryRunActsEnsureLb => changes(ENSURE, ensure(&lb_info().await, "new")).await,
        Defect::DryRunActsEnsureBackend => {
            changes(BIND, backend(BIND, &lb_info().await, "b", "1")).await
        }
        Defect::DryRunActsDeregister => {
            changes(UNBIND, backend(UNBIND, &lb_info().await, "a", "50")).await
        }
        Defect::DryRunCached => {
            assert!(!changes(CREATE, create("1")).await);
            assert!(trial.succ(CREATE, create("1")).await);
            trial.made() == 0
        }
        Defect::MissingDryRun400 => {
            let request = without(create("1"), "dryRun");
            trial.status(CREATE, request).await == "400"
        }
        Defect::MissingDryRunMeansTrue => {
            let request = without(create("1"), "dryRun");
            assert!(trial.succ(CREATE, request).await);
            trial.made() == 0
        }
        Defect::DryRunBareAnswer => {
            let reply = trial.call(CREATE, dry(create("1"))).await;
            reply.status == StatusCode::OK && reply.body.get("status").is_none()
        }
        _ => return None,
    })
}

/// Makes all the calls at the same time; gives the replies.
async fn all(trial: &Arc<Trial>, calls: Vec<(&'static str, Value)>) -> Vec<Value> {
    let mut tasks = JoinSet::new();
    for (webhook, body) in calls {
        let trial = Arc::clone(trial);
        tasks.spawn(async move { trial.call(webhook, body).await.body });
    }
    tasks.join_all().await
}

fn calls(
    webhook: &'static str,
    lb_info: &Value,
    numbers: std::ops::Range<usize>,
) -> Vec<(&'static str, Value)> {
    let call = |number| {
        (
            webhook,
            backend(webhook, lb_info, &format!("10.0.0.{number}"), "50"),
        )
    };
    numbers.map(call).collect()
}

async fn side_by_side(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Arc::new(Trial::new(defects));
    Some(match defect {
        Defect::CreateConcurrentDuplicates => {
            let replies = all(&trial, vec![(CREATE, create("1")); 10]).await;
            assert!(replies.iter().all(|it| it["status"] == "Succ"));
            // Once it is there it stays the one.
            trial.create("1").await;
            trial.made() == 10
        }
        Defect::LostUpdateRace => {
            let lb_info = trial.create("1").await;
            // One after the other is right.
            for (webhook, request) in calls(BIND, &lb_info, 0..3) {
                assert!(trial.succ(webhook, request).await);
            }
            assert_eq!(trial.addresses(&lb_info).await.len(), 3);
            all(&trial, calls(BIND, &lb_info, 3..53)).await;
            trial.addresses(&lb_info).await.len() < 53
        }
        Defect::EnsureDeregisterRace => {
            let lb_info = trial.create("1").await;
            all(&trial, calls(BIND, &lb_info, 0..25)).await;
            assert_eq!(trial.addresses(&lb_info).await.len(), 25);
            let mut both = calls(UNBIND, &lb_info, 0..25);
            both.extend(calls(BIND, &lb_info, 25..50));
            all(&trial, both).await;
            let expected: BTreeSet<_> = (25..50).map(|n| format!("10.0.0.{n}")).collect();
            let found: BTreeSet<_> = trial.addresses(&lb_info).await.into_iter().collect();
            found != expected
        }
        Defect::DuplicateBindingRace => {
            let lb_info = trial.create("1").await;
            for _ in 0..2 {
                let one = calls(BIND, &lb_info, 0..1).remove(0);
                all(&trial, vec![one; 1]).await;
                assert_eq!(trial.addresses(&lb_info).await.len(), 1);
            }
            let one = calls(BIND, &lb_info, 1..2).remove(0);
            all(&trial, vec![one; 10]).await;
            trial.addresses(&lb_info).await.len() > 2
        }
        Defect::ParallelFails => {
            let lb_info = trial.create("1").await;
            let ten = all(&trial, calls(BIND, &lb_info, 0..10)).await;
            assert!(ten.iter().all(|it| it["status"] == "Succ"));
            all(&trial, calls(BIND, &lb_info, 10..60)).await;
            all(&trial, calls(BIND, &lb_info, 10..60)).await;
            trial.addresses(&lb_info).await.len() < 60
        }
        _ => return None,
    })
}

async fn given_nonsense(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let bad_json = async || trial.post("/createLoadBalancer", "{").await;
    let wrong_types = but(create("1"), "lbSpec", json!(["vpc"]));
    let is_healthy = async || trial.post("/healthz", "{}").await.body["healthy"] == true;
    Some(match defect {
        Defect::DiesOnBadJson => {
            assert!(is_healthy().await);
            bad_json().await;
            !is_healthy().await
        }
        Defect::BadJson500 => bad_json().await.is_crash(),
        Defect::BadJsonSucc => bad_json().await.has_status("Succ"),
        Defect::WrongTypesAccepted => trial.succ(CREATE, wrong_types).await,
        Defect::WrongTypes500 => trial.call(CREATE, wrong_types).await.is_crash(),
        Defect::GetExecutes => {
            let request = Request::get("/createLoadBalancer").body(Body::empty());
            trial.send(request.unwrap()).await.status == StatusCode::OK
        }
        Defect::UnknownPath200 => trial.post("/nothing", "{}").await.status == StatusCode::OK,
        Defect::BigBody500 => {
            let big = but(create("1"), "big", "x".repeat(5 << 20));
            trial.call(CREATE, big).await.is_crash()
        }
        Defect::BigBodyHangs => {
            let big = but(create("1"), "big", "x".repeat(5 << 20));
            let began = Instant::now();
            trial.call(CREATE, big).await;
            began.elapsed() > Duration::from_secs(10)
        }
        Defect::UnhealthyAfterBadJson => {
            assert!(is_healthy().await);
            bad_json().await;
            assert!(trial.succ(CREATE, create("1")).await);
            !is_healthy().await
        }
        Defect::CreateFailsAfterBadJson => {
            assert!(trial.succ(CREATE, create("1")).await);
            bad_json().await;
            assert!(is_healthy().await);
            !trial.succ(CREATE, create("2")).await
        }
        _ => return None,
    })
}

async fn slow(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let takes = async |webhook: &str, request: Value| {
        let began = Instant::now();
        trial.call(webhook, request).await;
        began.elapsed()
    };
    let second = Duration::from_secs(1);
    Some(match defect {
        Defect::HealthzSlow => {
            assert!(takes(CREATE, create("1")).await < second);
            takes("healthz", json!({})).await > second
        }
        Defect::SlowRunning => {
            assert!(takes(CREATE, create("1")).await < second);
            let trial = Trial::staged(defects);
            let began = Instant::now();
            assert_eq!(trial.status(CREATE, create("1")).await, "Running");
            began.elapsed() > 2 * second
        }
        Defect::SlowValidate => {
            assert!(takes(CREATE, create("1")).await < second);
            let other = takes("validateBackend", json!({"backendType": "Pod"})).await;
            let time = takes("validateLoadBalancer", json!({})).await;
            assert_eq!(other > 2 * second, time > 2 * second);
            time > 2 * second
        }
        Defect::SlowBind => {
            let lb_info = trial.create("1").await;
            takes(BIND, backend(BIND, &lb_info, "a", "1")).await > 2 * second
        }
        Defect::SlowerThanTimeout => {
            let lb_info = trial.create("1").await;
            let request = backend(UNBIND, &lb_info, "a", "1");
            assert!(takes(UNBIND, request.clone()).await < second);
            assert!(trial.succ(DELETE, delete("1", &lb_info)).await);
            assert!(takes(UNBIND, request).await < second);
            takes(UNBIND, backend(UNBIND, &unknown(), "a", "1")).await > 10 * second
        }
        Defect::RetriesByItself => {
            let lb_info = trial.create("1").await;
            assert!(takes(ENSURE, ensure(&lb_info, CHARGE)).await < second);
            takes(ENSURE, ensure(&unknown(), CHARGE)).await > 10 * second
        }
        _ => return None,
    })
}
