//! ASYN, RTRY and DRY: calls that are made more than once.

use crate::support::{Mock, backend, create, delete, order};
use mock_driver::{Cloud, MockOptions, MockServer};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn asyn_02_03_05_early_polls_start_nothing_and_succ_stays() {
    let mock = Mock::with_stages_of(5 * SECOND);
    let ask = async |n: usize| {
        let mut call = create("1", order());
        call["retryID"] = n.to_string().into();
        mock.call("createLoadBalancer", call).await
    };
    for n in 0..10 {
        let reply = ask(n).await;
        assert_eq!(reply["status"], "Running");
        assert_eq!(reply["minRetryDelayInSeconds"], 5);
        assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
    }
    mock.clock.advance(10 * SECOND);
    let done = ask(10).await;
    assert_eq!(done["status"], "Succ");
    for n in 11..20 {
        assert_eq!(ask(n).await, done);
    }
    assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
}

#[tokio::test]
async fn asyn_06_nothing_comes_after_a_deletion() {
    let mock = Mock::with_stages_of(SECOND);
    let start = mock.cloud.state();
    // At each stage, the moment after the last included.
    for (uid, elapsed) in [("1", 0), ("2", 1), ("3", 2)] {
        mock.call("createLoadBalancer", create(uid, order())).await;
        mock.clock.advance(elapsed * SECOND);
        mock.succ("deleteLoadBalancer", delete(uid, Value::Null))
            .await;
        mock.clock.advance(10 * SECOND);
        assert_eq!(mock.cloud.state(), start, "{uid}");
    }
}

#[tokio::test]
async fn rtry_01_every_operation_treats_record_ids_as_opaque() {
    let mock = Mock::new();
    for record_id in [
        "ensureBackend(b7a1c0de-0000-4000-8000-000000000000)".to_owned(),
        "x".repeat(253),
        "記録 №1 — 🦀 \"\\\u{1}".to_owned(),
        "../../etc".to_owned(),
    ] {
        let with = |mut call: Value| {
            call["recordID"] = record_id.clone().into();
            call
        };
        let created = mock
            .succ("createLoadBalancer", with(create("", order())))
            .await;
        let lb_info = created["lbInfo"].clone();
        let ensure = with(json!({"lbInfo": lb_info, "attributes": {"a": "b"}}));
        mock.succ("ensureLoadBalancer", ensure).await;
        // One recordID for different backends, which differ by their address.
        for (addr, weight) in [("a", "1"), ("b", "1"), ("a", "2")] {
            let call = with(backend(&lb_info, addr, json!({"weight": weight})));
            mock.succ("ensureBackend", call).await;
        }
        assert_eq!(mock.addresses().await, ["a", "b"]);
        for addr in ["a", "b"] {
            mock.succ(
                "deregisterBackend",
                with(backend(&lb_info, addr, Value::Null)),
            )
            .await;
        }
        mock.succ("deleteLoadBalancer", with(delete("", lb_info)))
            .await;
        assert!(mock.cloud.observe().load_balancers.is_empty());
    }
}

#[tokio::test]
async fn rtry_02_a_retry_after_a_disconnect_finds_one_of_each() {
    let limit = 10 * SECOND;
    let cloud = Cloud::with_samples();
    let any = "127.0.0.1:0".parse().unwrap();
    let server = MockServer::start(cloud.clone(), any, MockOptions::default())
        .await
        .unwrap();
    let connect = async || TcpStream::connect(server.addr()).await.unwrap();
    let http = |webhook: &str, body: &Value| {
        let (body, length) = (body.to_string(), body.to_string().len());
        format!(
            "POST /{webhook} HTTP/1.1\r\nhost: mock\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let mut call = create("1", order());
    for round in 0..20 {
        call["retryID"] = round.to_string().into();
        let request = http("createLoadBalancer", &call);
        // Some disconnect within the body, some after the whole request.
        let sent = if round % 2 == 0 {
            &request[..request.len() - 5]
        } else {
            &request
        };
        connect().await.write_all(sent.as_bytes()).await.unwrap();
    }
    let mut stream = connect().await;
    let request = http("createLoadBalancer", &call);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = String::new();
    timeout(limit, stream.read_to_string(&mut reply))
        .await
        .unwrap()
        .unwrap();
    assert!(reply.contains(r#""status":"Succ""#), "{reply}");
    assert_eq!(cloud.observe().load_balancers.len(), 1);
    server.stop().await;
    assert_eq!(cloud.observe().load_balancers.len(), 1);
}

#[tokio::test]
async fn rtry_04_the_same_try_again_is_harmless() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let again = mock.succ("createLoadBalancer", create("1", order())).await;
    assert_eq!(created, again);
    let call = backend(&created["lbInfo"], "a", json!({"weight": "1"}));
    let gone = backend(&created["lbInfo"], "a", Value::Null);
    for _ in 0..3 {
        for _ in 0..2 {
            mock.succ("ensureBackend", call.clone()).await;
            assert_eq!(mock.addresses().await, ["a"]);
        }
        for _ in 0..2 {
            mock.succ("deregisterBackend", gone.clone()).await;
            assert!(mock.addresses().await.is_empty());
        }
    }
}

/// With the clock paused, waiting would be seen as time that went by.
#[tokio::test(start_paused = true)]
async fn rtry_06_the_driver_does_not_retry() {
    let mock = Mock::new();
    mock.cloud.set_outage(true);
    let begun = tokio::time::Instant::now();
    mock.rejected("createLoadBalancer", create("1", order()))
        .await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(mock.cloud.calls().get("createLoadBalancer"), 1);
}

#[tokio::test]
async fn dry_04_a_request_without_dry_run_is_real() {
    let mock = Mock::new();
    for dry_run in [None, Some(Value::Null), Some(json!(false))] {
        let mut call = create("1", order());
        if let Some(dry_run) = dry_run {
            call["dryRun"] = dry_run;
        }
        let created = mock.succ("createLoadBalancer", call).await;
        assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
        mock.succ("deleteLoadBalancer", delete("1", created["lbInfo"].clone()))
            .await;
    }
}

#[tokio::test]
async fn dry_05_the_reply_to_a_dry_run_is_that_of_a_real_call() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = &created["lbInfo"];
    let ensure = json!({"recordID": "e", "lbInfo": lb_info, "attributes": {"a": "b"}});
    for (webhook, call) in [
        ("createLoadBalancer", create("2", order())),
        ("ensureLoadBalancer", ensure),
        ("generateBackendAddr", json!({"recordID": "g"})),
        ("ensureBackend", backend(lb_info, "a", Value::Null)),
        ("deregisterBackend", backend(lb_info, "a", Value::Null)),
        ("deleteLoadBalancer", delete("1", lb_info.clone())),
    ] {
        let mut rehearsal = call.clone();
        rehearsal["dryRun"] = true.into();
        let rehearsed = mock.call(webhook, rehearsal).await;
        assert_eq!(rehearsed, mock.call(webhook, call).await, "{webhook}");
    }
}
