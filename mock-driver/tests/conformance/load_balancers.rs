//! VLB, CLB, ELB and DLB.

use crate::support::{Mock, backend, create, delete, order, sample};
use serde_json::{Value, json};

/// The same call as another try.
fn try_number(n: usize, mut call: Value) -> Value {
    call["retryID"] = format!("try {n}").into();
    call
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
async fn vlb_05_an_unknown_operation_is_rejected() {
    let mock = Mock::new();
    for operation in ["Delete", "create", "x"] {
        let call = json!({"lbSpec": order(), "operation": operation});
        let message = mock.rejected("validateLoadBalancer", call).await;
        assert!(message.contains(operation), "{message}");
    }
}

#[tokio::test]
async fn clb_03_04_07_ten_tries_are_one_load_balancer() {
    let mock = Mock::new();
    let first = mock.succ("createLoadBalancer", create("1", order())).await;
    assert!(first["lbInfo"].to_string().len() < 4096);
    for n in 0..10 {
        let call = try_number(n, create("1", order()));
        let reply = mock.succ("createLoadBalancer", call).await;
        assert_eq!(reply["lbInfo"], first["lbInfo"]);
    }
    assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
}

#[tokio::test]
async fn clb_06_another_object_has_a_load_balancer_of_its_own() {
    let mock = Mock::new();
    let first = mock.succ("createLoadBalancer", create("1", order())).await;
    let second = mock.succ("createLoadBalancer", create("2", order())).await;
    assert_ne!(first["lbInfo"], second["lbInfo"]);
    mock.succ("deleteLoadBalancer", delete("1", first["lbInfo"].clone()))
        .await;
    assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
}

#[tokio::test]
async fn elb_01_02_ensuring_what_is_right_changes_nothing() {
    let mock = Mock::new();
    let call = create("1", order());
    let created = mock.succ("createLoadBalancer", call.clone()).await;
    let before = mock.cloud.state();
    for n in 0..10 {
        let ensure = json!({
            "recordID": "ensureLoadBalancer(1)",
            "lbInfo": created["lbInfo"],
            "attributes": call["attributes"],
        });
        mock.succ("ensureLoadBalancer", try_number(n, ensure)).await;
        assert_eq!(mock.cloud.state(), before);
    }
}

#[tokio::test]
async fn dlb_05_one_with_backends_is_deleted_with_them() {
    let mock = Mock::new();
    let start = mock.cloud.state();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = &created["lbInfo"];
    let bound = backend(lb_info, "a", Value::Null);
    mock.succ("ensureBackend", bound.clone()).await;
    for _ in 0..2 {
        mock.succ("deleteLoadBalancer", delete("1", lb_info.clone()))
            .await;
        mock.succ("deregisterBackend", bound.clone()).await;
    }
    assert_eq!(mock.cloud.state(), start);
}

#[tokio::test]
async fn dlb_06_a_deleted_one_is_created_again() {
    let mock = Mock::new();
    let mut seen = Vec::new();
    for lb_spec in [order(), sample()] {
        for _ in 0..3 {
            let created = mock
                .succ("createLoadBalancer", create("1", lb_spec.clone()))
                .await;
            let lb_info = created["lbInfo"].clone();
            mock.succ("ensureBackend", backend(&lb_info, "a", Value::Null))
                .await;
            assert_eq!(mock.addresses().await, ["a"]);
            mock.succ("deregisterBackend", backend(&lb_info, "a", Value::Null))
                .await;
            mock.succ("deleteLoadBalancer", delete("1", lb_info.clone()))
                .await;
            assert!(mock.cloud.observe().load_balancers.is_empty());
            seen.push(lb_info["lbID"].clone());
        }
    }
    let new = ["lb-00000001", "lb-00000002", "lb-00000003"];
    assert_eq!(seen[..3], new.map(Value::from));
}
