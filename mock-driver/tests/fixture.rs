//! The mock's fixture is right.

use crate::support::{Mock, backend, create, delete};
use serde_json::{Value, json};

fn fixture() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/conformance.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

fn list(value: &Value) -> Vec<Value> {
    let list = value.as_array().unwrap().clone();
    assert!(!list.is_empty());
    list
}

#[tokio::test]
async fn its_load_balancers_are_valid_and_invalid_as_listed() {
    let (fixture, mock) = (fixture(), Mock::new());
    let start = mock.cloud.state();
    let lbs = &fixture["loadBalancer"];
    let validate = |desired: &Value| {
        json!({
            "lbSpec": desired["lbSpec"], "attributes": desired["attributes"], "operation": "Create",
        })
    };
    for desired in list(&lbs["invalid"]) {
        let message = mock
            .rejected("validateLoadBalancer", validate(&desired))
            .await;
        let call = create("1", desired["lbSpec"].clone());
        assert_eq!(mock.rejected("createLoadBalancer", call).await, message);
        assert!(desired["reason"].is_string());
    }
    let ensure = |lb_info: &Value, attributes: &Value| json!({"recordID": "e", "lbInfo": lb_info, "attributes": attributes});
    for desired in list(&lbs["valid"]) {
        mock.succ("validateLoadBalancer", validate(&desired)).await;
        let mut update = validate(&desired);
        update["operation"] = "Update".into();
        update["oldAttributes"] = desired["attributes"].clone();
        update["attributes"] = lbs["update"]["attributes"].clone();
        assert_ne!(update["attributes"], desired["attributes"]);
        mock.succ("validateLoadBalancer", update.clone()).await;
        for forbidden in list(&lbs["update"]["forbidden"]) {
            let mut update = update.clone();
            update["attributes"] = forbidden["attributes"].clone();
            mock.rejected("validateLoadBalancer", update).await;
        }
        let created = mock
            .succ("createLoadBalancer", create("1", desired["lbSpec"].clone()))
            .await;
        let lb_info = &created["lbInfo"];
        let attributes = &lbs["update"]["attributes"];
        mock.succ("ensureLoadBalancer", ensure(lb_info, attributes))
            .await;
        mock.succ("deleteLoadBalancer", delete("1", lb_info.clone()))
            .await;
    }
    let unknown = &lbs["unknownLBInfo"];
    mock.rejected("ensureLoadBalancer", ensure(unknown, &json!({})))
        .await;
    mock.succ("deleteLoadBalancer", delete("1", unknown.clone()))
        .await;
    assert_eq!(mock.cloud.state(), start);
}

#[tokio::test]
async fn its_backends_are_valid_and_invalid_as_listed() {
    let (fixture, mock) = (fixture(), Mock::new());
    let backends = &fixture["backend"];
    let desired = list(&fixture["loadBalancer"]["valid"]).swap_remove(0);
    let created = mock
        .succ("createLoadBalancer", create("1", desired["lbSpec"].clone()))
        .await;
    let lb_info = &created["lbInfo"];
    let mut valid = list(&backends["parameters"]["valid"]);
    valid.push(backends["parameters"]["update"].clone());
    for parameters in valid {
        mock.succ("validateBackend", json!({"parameters": parameters}))
            .await;
        mock.succ("ensureBackend", backend(lb_info, "a:1", parameters))
            .await;
    }
    for parameters in list(&backends["parameters"]["invalid"]) {
        mock.rejected("validateBackend", json!({"parameters": parameters}))
            .await;
        mock.rejected("ensureBackend", backend(lb_info, "a:1", parameters))
            .await;
    }
    let addr = backends["unknownAddr"].as_str().unwrap();
    mock.succ("deregisterBackend", backend(lb_info, addr, Value::Null))
        .await;
    assert_eq!(mock.addresses().await, ["a:1"]);
}

#[tokio::test]
async fn its_urls_exist() {
    let (fixture, mock) = (fixture(), Mock::new());
    for (section, body) in [
        ("restart", json!({})),
        ("fault", json!({"on": false})),
        ("observe", Value::Null),
    ] {
        let url = fixture[section]["url"].as_str().unwrap();
        let path = url.strip_prefix("{url}").unwrap();
        let (method, body) = match section {
            "observe" => ("GET", String::new()),
            _ => ("POST", body.to_string()),
        };
        let (status, reply) = mock.send(method, path, body.into()).await;
        assert_eq!(status, 200, "{section}: {reply}");
    }
}
