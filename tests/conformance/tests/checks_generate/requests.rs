//! Requests that lack something, and backends that can have no address.

use super::{WEBHOOK, addressing, fail, making, pod, succ};
use crate::bent::*;
use lbcf_conformance::check::Feature;
use serde_json::{Value, json};

#[tokio::test]
async fn gen_05_detects_drivers_that_need_parameters() {
    for (absent, since) in [
        (false, "parameters null"),
        (true, "also without parameters"),
    ] {
        let needs = answering(right(), WEBHOOK, move |request, reply| {
            let is_missing = match request.get("parameters") {
                None => absent,
                Some(value) => !absent && value.is_null(),
            };
            if is_missing {
                *reply = fail("weight is missing");
            }
        });
        fails(needs, "GEN-05", since, "weight is missing").await;
    }
    let hates = answering(right(), WEBHOOK, |request, reply| {
        if request["parameters"].is_object() {
            *reply = fail("unknown field parameters");
        }
    });
    fails(hates, "GEN-05", "as in the specification", "unknown field").await;

    let has_them_in = addressing(|request| {
        format!(
            "{}{}{}",
            request["podBackend"], request["serviceBackend"], request["parameters"]
        )
    });
    let report = judged(has_them_in, fixture(), "GEN-05").await;
    assert_eq!(passed(&report), ["GEN-05"]);
    let reason = &result(&report, "GEN-05").reason;
    let note = "the address of a Pod depends on parameters";
    assert!(reason.contains(note), "{reason}");
}

#[tokio::test]
async fn gen_06_detects_drivers_that_register_something_else() {
    let registers = driver(right(), |inner, webhook, request| async move {
        let reply = inner.call(&webhook, &request).await;
        if webhook == WEBHOOK {
            let lb_info = &request["lbInfo"];
            let ensure =
                json!({"recordID": "early", "lbInfo": lb_info, "backendAddr": "10.0.0.1:1"});
            inner.call("ensureBackend", &ensure).await;
        }
        reply
    });
    fails(registers, "GEN-06", "unchanged, since", "10.0.0.1").await;
}

#[tokio::test]
async fn gen_07_detects_drivers_that_take_an_absent_name_for_nothing() {
    for (field, how) in [
        ("port", "with portNumber alone"),
        ("portNumber", "with port alone"),
        ("protocol", "without a protocol"),
    ] {
        let takes_it_for_nothing = addressing(move |request| {
            let backend = if request["podBackend"].is_null() {
                "serviceBackend"
            } else {
                "podBackend"
            };
            let port = &request[backend]["port"][field];
            format!("{}:{port}", pod(request)["status"]["podIP"])
        });
        fails(takes_it_for_nothing, "GEN-07", how, ":null").await;
    }
}

#[tokio::test]
async fn gen_08_detects_addresses_that_are_none() {
    let since = "since the pod has no podIP yet";
    let has_no_ip = |request: &Value| {
        request["podBackend"].is_object() && pod(request)["status"]["podIP"].is_null()
    };
    let instead = move |reply: fn() -> Reply| {
        answering(
            right(),
            WEBHOOK,
            move |request: &Value, answer: &mut Reply| {
                if has_no_ip(request) {
                    *answer = reply();
                }
            },
        )
    };
    let undefined = instead(|| succ("undefined:8080"));
    fails(undefined, "GEN-08", since, "undefined:8080").await;
    let named = answering(right(), WEBHOOK, move |request, reply| {
        if has_no_ip(request) {
            let name = &pod(request)["metadata"]["name"];
            *reply = succ(format!("{name}@undefined:8080"));
        }
    });
    fails(named, "GEN-08", since, "@undefined:8080").await;
    fails(instead(|| Reply::http(500)), "GEN-08", since, "HTTP 500").await;
    fails(instead(|| fail("")), "GEN-08", "a msg", "without a msg").await;
    let running = instead(|| Reply::ok(json!({"status": "Running"})));
    let report = judged(running, fixture(), "GEN-08").await;
    assert_eq!(passed(&report), ["GEN-08"]);

    // Opaque addresses hide what they are made of, but two of nothing are alike.
    let opaque = making(|request| {
        let backend = &request["podBackend"];
        if backend.is_null() {
            return fail("only pods");
        }
        let parts = json!([pod(request)["status"]["podIP"], backend["port"]]).to_string();
        let step = |hash: u64, byte| hash.wrapping_mul(31) ^ u64::from(byte);
        succ(format!("{:x}", parts.bytes().fold(7, step)))
    });
    let pods = fixture_with([Feature::PodBackends]);
    let got = "status Succ with backendAddr";
    fails_with(opaque, pods.clone(), "GEN-08", since, got).await;

    let for_services = answering(right(), WEBHOOK, |request, reply| {
        if request["serviceBackend"].is_object() {
            *reply = succ(Value::Null);
        }
    });
    let (expected, got) = ("do not name backend.service", "Succ with backendAddr null");
    fails_with(for_services, pods, "GEN-08", expected, got).await;

    let of_nothing = answering(right(), WEBHOOK, |request, reply| {
        if request["serviceBackend"].is_null() && request["podBackend"].is_null() {
            *reply = succ("None:None");
        }
    });
    fails(of_nothing, "GEN-08", "both null", "None:None").await;
}
