//! The webhooks about load balancers, with the documents' samples.

use crate::support::{Mock, backend, create, delete, order, sample};
use axum::body::Body;
use axum::http::StatusCode;
use mock_driver::{MockOptions, Quotas};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn vlb_01_the_documents_samples_are_accepted() {
    let mock = Mock::new();
    for lb_spec in [
        sample(),
        order(),
        json!({"lbID": "lb-foo", "listenerID": "lsn-foo"}),
        json!({"lbID": "lb-bar", "listenerID": "lsn-bar"}),
    ] {
        for operation in ["Create", "Update"] {
            let request = json!({
                "lbSpec": lb_spec,
                "operation": operation,
                "attributes": {"payment": "by-hour"},
                "oldAttributes": {"payment": "month"},
            });
            mock.succ("validateLoadBalancer", request).await;
        }
    }
}

#[tokio::test]
async fn vlb_02_what_does_not_exist_is_rejected() {
    let mock = Mock::new();
    let message = async |lb_spec: Value| {
        mock.rejected("validateLoadBalancer", json!({"lbSpec": lb_spec}))
            .await
    };
    assert_eq!(
        message(json!({"lbID": "lb-notexist", "lblID": "lbl-2234"})).await,
        "clb instance lb-notexist not found"
    );
    assert_eq!(
        message(json!({"lbID": "lb-1234", "lblID": "lbl-x"})).await,
        "listener lbl-x of clb instance lb-1234 not found"
    );
    assert!(
        message(Value::Null)
            .await
            .contains("names no load balancer")
    );
}

#[tokio::test]
async fn clb_01_a_new_one_is_known_by_the_ids_of_the_cloud() {
    let mock = Mock::new();
    let reply = mock.succ("createLoadBalancer", create("1", order())).await;
    assert_eq!(
        reply["lbInfo"],
        json!({"lbID": "lb-00000001", "lblID": "lbl-00000001"})
    );
    let seen = mock.observe().await;
    assert_eq!(
        seen,
        json!({"loadBalancers": [{
            "lbInfo": {"lbID": "lb-00000001", "lblID": "lbl-00000001"},
            "attributes": {"chargeType": "TRAFFIC_POSTPAID_BY_HOUR"},
            "backends": [],
        }]})
    );
}

#[tokio::test]
async fn clb_02_an_existing_one_is_known_by_its_ids_in_either_spelling() {
    let mock = Mock::new();
    let lb_spec = json!({"loadBalancerID": "lb-foo", "listenerID": "lsn-foo", "name": "x"});
    let reply = mock.succ("createLoadBalancer", create("1", lb_spec)).await;
    let identity = json!({"lbID": "lb-foo", "lblID": "lsn-foo"});
    assert_eq!(reply["lbInfo"], identity);
    assert_eq!(mock.observe().await["loadBalancers"][0]["lbInfo"], identity);
}

#[tokio::test]
async fn clb_05_an_invalid_one_fails_and_leaves_nothing() {
    let mock = Mock::new();
    let before = mock.cloud.state();
    let bad_port = json!({"vpcID": "v", "listenerPort": "0", "listenerProtocol": "TCP"});
    let message = mock
        .rejected("createLoadBalancer", create("1", bad_port))
        .await;
    assert_eq!(
        message,
        r#"lbSpec.listenerPort: "0": not a number from 1 to 65535"#
    );
    let unknown = json!({"lbID": "lb-notexist", "lblID": "x"});
    mock.rejected("createLoadBalancer", create("1", unknown))
        .await;
    assert_eq!(mock.cloud.state(), before);
    // RTRY-03: the same recordID succeeds once the specification is right.
    mock.succ("createLoadBalancer", create("1", order())).await;
}

#[tokio::test]
async fn asyn_01_creation_runs_through_its_stages() {
    let mock = Mock::with_stages_of(Duration::from_secs(3));
    let mut lb_spec = order();
    lb_spec["lbListenerProtocol"] = "HTTPS".into();
    lb_spec["domain"] = "www.example.com".into();
    let mut stages = Vec::new();
    let last = loop {
        let reply = mock
            .call("createLoadBalancer", create("1", lb_spec.clone()))
            .await;
        if reply["status"] != "Running" {
            break reply;
        }
        stages.push((
            reply["msg"].as_str().unwrap().to_owned(),
            reply["minRetryDelayInSeconds"].as_i64().unwrap(),
        ));
        mock.clock.advance(Duration::from_millis(1500));
    };
    let expected = [
        ("creating CLB instance", 3),
        ("creating CLB instance", 2),
        ("creating listener", 3),
        ("creating listener", 2),
        ("creating forward rule", 3),
        ("creating forward rule", 2),
    ];
    assert_eq!(
        stages,
        expected.map(|(stage, delay)| (stage.to_owned(), delay))
    );
    assert_eq!(
        last["lbInfo"],
        json!({
            "lbID": "lb-00000001",
            "lblID": "lbl-00000001",
            "domain": "www.example.com",
            "url": "/",
        })
    );
}

#[tokio::test]
async fn short_stages_take_one_delay_of_a_second() {
    let mock = Mock::with_stages_of(Duration::from_millis(100));
    let mut calls = 1;
    let mut reply = mock.call("createLoadBalancer", create("1", order())).await;
    while reply["status"] == "Running" {
        // Without a delay the controller waits for ten seconds.
        let delay = reply["minRetryDelayInSeconds"].as_u64().unwrap();
        assert_eq!(delay, 1);
        mock.clock.advance(Duration::from_secs(delay));
        reply = mock.call("createLoadBalancer", create("1", order())).await;
        calls += 1;
    }
    assert_eq!((calls, &reply["status"]), (2, &"Succ".into()));
}

#[tokio::test]
async fn creations_take_calls_or_wait_for_a_release() {
    let mut mock = Mock::new();
    mock.start_driver(MockOptions {
        creation_polls: Some(3),
        ..MockOptions::default()
    });
    for _ in 0..3 {
        let reply = mock.call("createLoadBalancer", create("1", order())).await;
        assert_eq!(reply["status"], "Running");
        // The caller polls as often as it does by default.
        assert_eq!(reply.get("minRetryDelayInSeconds"), None);
    }
    mock.succ("createLoadBalancer", create("1", order())).await;

    mock.start_driver(MockOptions {
        hold_creations: true,
        ..MockOptions::default()
    });
    for uid in ["2", "3", "4"] {
        let reply = mock.call("createLoadBalancer", create(uid, order())).await;
        assert_eq!(
            (&reply["status"], &reply["minRetryDelayInSeconds"]),
            (&"Running".into(), &1.into())
        );
    }
    let release = async |body: Value| mock.post("creations/release", body).await;
    let (_, reply) = release(json!({"lbID": "lb-00000002"})).await;
    assert_eq!(reply, json!({"released": ["lb-00000002"]}));
    for body in [
        json!({"recordID": "createLoadBalancer(2)"}),
        json!({"lbID": "lb-1234"}),
    ] {
        let (status, reply) = release(body).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(
            reply["error"].as_str().unwrap().contains("under way"),
            "{reply}"
        );
    }
    for body in [json!({"lbId": 7}), json!({"which": "all"}), json!([])] {
        let (status, _) = release(body.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    }
    mock.call("createLoadBalancer", create("3", order())).await;
    let (_, reply) = mock
        .send("POST", "/_mock/creations/release", Body::empty())
        .await;
    assert_eq!(reply, json!({"released": ["lb-00000003", "lb-00000004"]}));
    for uid in ["2", "3", "4"] {
        mock.succ("createLoadBalancer", create(uid, order())).await;
    }
}

#[tokio::test]
async fn quotas_fail_with_their_name_until_there_is_room() {
    let mock = Mock::new();
    mock.cloud.set_quotas(Quotas {
        load_balancers: Some(4),
        backends: Some(1),
        ..Quotas::default()
    });
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let message = mock
        .rejected("createLoadBalancer", create("2", order()))
        .await;
    assert_eq!(message, "the quota max-load-balancers of 4 is used up");
    // The one that exists can be asked for again.
    mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = &created["lbInfo"];
    let ensure = |addr, weight: &str| backend(lb_info, addr, json!({"weight": weight}));
    mock.succ("ensureBackend", ensure("a:1", "1")).await;
    mock.succ("ensureBackend", ensure("a:1", "2")).await;
    let reply = mock.call("ensureBackend", ensure("b:1", "1")).await;
    assert_eq!(reply["msg"], "the quota max-backends of 1 is used up");
    assert_eq!(
        (&reply["status"], &reply["reason"]),
        (&json!("Fail"), &json!("QuotaExceeded"))
    );
    mock.succ("deregisterBackend", ensure("a:1", "2")).await;
    mock.succ("ensureBackend", ensure("b:1", "1")).await;
    mock.succ("deleteLoadBalancer", delete("1", lb_info.clone()))
        .await;
    mock.succ("createLoadBalancer", create("2", order())).await;
}

#[tokio::test]
async fn calls_over_the_quota_of_a_second_are_to_be_repeated() {
    let mock = Mock::new();
    mock.cloud.set_quotas(Quotas {
        calls_per_second: Some(2),
        ..Quotas::default()
    });
    let ensure = |addr| backend(&sample(), addr, Value::Null);
    mock.succ("ensureBackend", ensure("a:1")).await;
    mock.succ("ensureBackend", ensure("b:1")).await;
    for _ in 0..2 {
        let reply = mock.call("deregisterBackend", ensure("a:1")).await;
        assert_eq!(
            reply,
            json!({
                "status": "Fail",
                "msg": "RequestLimitExceeded: the quota max-calls-per-second of 2 is used up, the controller retries",
                "minRetryDelayInSeconds": 1,
                "reason": "Throttled",
            })
        );
    }
    // Users' requests are not refused for that.
    mock.succ("validateLoadBalancer", json!({"lbSpec": sample()}))
        .await;
    mock.clock.advance(Duration::from_secs(1));
    mock.succ("deregisterBackend", ensure("a:1")).await;
    assert_eq!(mock.addresses().await, ["b:1"]);
}

#[tokio::test]
async fn asyn_07_b158_a_restarted_driver_finds_a_running_creation() {
    let second = Duration::from_secs(1);
    let mut mock = Mock::with_stages_of(second);
    mock.call("createLoadBalancer", create("1", order())).await;
    mock.restart_driver(second);
    mock.clock.advance(2 * second);
    let reply = mock.succ("createLoadBalancer", create("1", order())).await;
    assert_eq!(reply["lbInfo"]["lbID"], "lb-00000001");
    assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
}

#[tokio::test]
async fn d28_the_same_record_id_with_another_spec_fails() {
    let mock = Mock::new();
    mock.succ("createLoadBalancer", create("1", order())).await;
    let mut changed = order();
    changed["lbListenerPort"] = "81".into();
    let message = mock
        .rejected("createLoadBalancer", create("1", changed))
        .await;
    assert!(message.contains("lb-00000001"), "{message}");
}

#[tokio::test]
async fn elb_04_an_unknown_one_is_not_ensured() {
    let mock = Mock::new();
    let message = async |lb_info: Value| {
        let request = json!({"recordID": "e", "lbInfo": lb_info});
        mock.rejected("ensureLoadBalancer", request).await
    };
    assert_eq!(
        message(json!({"lbID": "lb-x", "lblID": "l"})).await,
        "clb instance lb-x not found"
    );
    assert!(
        message(Value::Null)
            .await
            .starts_with("lbInfo.lbID: is missing")
    );
}

#[tokio::test]
async fn dlb_01_to_04_deleting_what_does_not_exist_succeeds() {
    let mock = Mock::new();
    let before = mock.cloud.state();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = created["lbInfo"].clone();
    let with_it = mock.cloud.state();
    for other in [
        Value::Null,
        json!({}),
        json!({"lbID": "lb-x", "lblID": "l"}),
        json!({"lbID": "lb-00000001", "lblID": "lbl-wrong"}),
        json!({"lbID": "lb-00000001"}),
    ] {
        // Without lbInfo, it is about what this object has created.
        let object = if other["lbID"].is_string() { "1" } else { "2" };
        mock.succ("deleteLoadBalancer", delete(object, other)).await;
        assert_eq!(mock.cloud.state(), with_it);
    }
    for _ in 0..2 {
        mock.succ("deleteLoadBalancer", delete("1", lb_info.clone()))
            .await;
        assert_eq!(mock.cloud.state(), before);
    }
}

#[tokio::test]
async fn dlb_07_what_an_object_has_created_is_deleted_without_lb_info() {
    let mock = Mock::new();
    let before = mock.cloud.state().load_balancers;
    mock.succ("createLoadBalancer", create("1", order())).await;
    mock.succ("deleteLoadBalancer", delete("1", Value::Null))
        .await;
    assert_eq!(mock.cloud.state().load_balancers, before);
}

#[tokio::test]
async fn an_existing_one_is_never_deleted() {
    let mock = Mock::new();
    let mut request = create("1", sample());
    request["attributes"] = Value::Null;
    mock.succ("createLoadBalancer", request).await;
    mock.succ("deleteLoadBalancer", delete("1", sample())).await;
    assert!(mock.cloud.observe().load_balancers.is_empty());
    mock.succ("validateLoadBalancer", json!({"lbSpec": sample()}))
        .await;
}

#[tokio::test]
async fn vlb_03_changes_are_accepted_but_for_the_forbidden_one() {
    let mock = Mock::new();
    let update = |old: Value, new: Value| {
        json!({
            "lbSpec": order(), "operation": "Update", "attributes": new, "oldAttributes": old,
        })
    };
    let hourly = json!({"chargeType": "TRAFFIC_POSTPAID_BY_HOUR", "bandwidth": "1"});
    let faster = json!({"chargeType": "TRAFFIC_POSTPAID_BY_HOUR", "bandwidth": "2"});
    let prepaid = json!({"chargeType": "PREPAID"});
    mock.succ("validateLoadBalancer", update(hourly.clone(), faster))
        .await;
    let message = mock
        .rejected("validateLoadBalancer", update(hourly, prepaid.clone()))
        .await;
    assert!(
        message.starts_with(r#"attributes.chargeType: "PREPAID": "#),
        "{message}"
    );
    let postpaid = [json!({"chargeType": "MONTHLY"}), json!({})];
    for other in postpaid {
        for (old, new) in [(&prepaid, &other), (&other, &prepaid)] {
            let call = update(old.clone(), new.clone());
            mock.rejected("validateLoadBalancer", call).await;
        }
    }
    let lower_case = json!({"chargeType": "prepaid"});
    mock.succ("validateLoadBalancer", update(prepaid.clone(), lower_case))
        .await;
    // A new one may be prepaid, and one that is may change what else it has.
    let new = json!({"lbSpec": order(), "operation": "Create", "attributes": prepaid});
    mock.succ("validateLoadBalancer", new).await;
    let same = json!({"chargeType": "PREPAID", "bandwidth": "2"});
    mock.succ("validateLoadBalancer", update(prepaid, same))
        .await;
}

#[tokio::test]
async fn asyn_06_nothing_comes_after_a_deletion() {
    let mock = Mock::with_stages_of(Duration::from_secs(1));
    let start = mock.cloud.state();
    // At each stage, the moment after the last included.
    for (uid, elapsed) in [("1", 0), ("2", 1), ("3", 2)] {
        mock.call("createLoadBalancer", create(uid, order())).await;
        mock.clock.advance(Duration::from_secs(elapsed));
        mock.succ("deleteLoadBalancer", delete(uid, Value::Null))
            .await;
        mock.clock.advance(Duration::from_secs(10));
        assert_eq!(mock.cloud.state(), start, "{uid}");
    }
}
