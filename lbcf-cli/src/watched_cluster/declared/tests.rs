use super::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn object<K: DeserializeOwned>(name: &str, rest: &Value) -> K {
    let mut object = json!({"metadata": {"name": name, "namespace": "shop", "uid": "u-1"}});
    for key in ["spec", "status"] {
        object[key] = rest[key].clone();
    }
    let metadata = rest["metadata"].as_object().into_iter().flatten();
    for (key, value) in metadata {
        object["metadata"][key] = value.clone();
    }
    serde_json::from_value(object).unwrap()
}

const ANY: DeclaredBy = DeclaredBy::new(None);

fn named(name: &str) -> DeclaredBy {
    DeclaredBy::new(Some(name.to_owned()))
}

#[test]
fn d81_load_balancers_declare_attributes_and_identity() {
    let spec = json!({"lbDriver": "mock", "lbSpec": {}, "attributes": {"a": 1}});
    let new: LoadBalancer = object("web", &json!({ "spec": spec }));
    let declared = of_load_balancer(&new, &ANY).remove(0);
    assert_eq!(declared.object.to_string(), "LoadBalancer shop/web");
    assert_eq!((&*declared.id, declared.lb_info.len()), ("u-1", 0));
    assert_eq!(declared.attributes["a"], "1");
    assert_eq!(of_load_balancer(&new, &named("other")), []);
    assert_eq!(of_load_balancer(&new, &named("mock")).len(), 1);
    let deleting = json!({
        "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": spec, "status": {"lbInfo": {"lbID": "lb-1"}},
    });
    let declared = of_load_balancer(&object("web", &deleting), &ANY).remove(0);
    assert!(declared.is_deleting);
    assert_eq!(declared.lb_info["lbID"], "lb-1");
}

#[test]
fn d81_load_balancers_of_a_bind_are_those_in_spec_and_status() {
    let bind = json!({
        "spec": {"loadBalancers": [
            {"name": "new", "driver": "mock", "spec": {}, "attributes": {"a": "1"}},
            {"name": "other", "driver": "another", "spec": {}},
        ]},
        "status": {"loadBalancerStatuses": [
            {"name": "new", "driver": "mock", "lbInfo": {"lbID": "lb-1"}},
            {"name": "removed", "driver": "mock", "lbInfo": {"lbID": "lb-2"}},
        ]},
    });
    let declared = of_bind(&object("web", &bind), &named("mock"));
    let short = |it: &ClusterLoadBalancer| {
        let id = it.lb_info["lbID"].clone();
        (it.object.name.clone(), it.id.clone(), id, it.is_deleting)
    };
    let expected = [
        ("web/new", "u-1-new", "lb-1", false),
        ("web/removed", "u-1-removed", "lb-2", true),
    ];
    let expected = expected.map(|(name, id, lb, it)| (name.into(), id.into(), lb.into(), it));
    assert_eq!(Vec::from_iter(declared.iter().map(short)), expected);
    assert_eq!(declared[0].attributes["a"], "1");
    assert_eq!(of_bind(&object("web", &bind), &ANY).len(), 3);
}

#[test]
fn d81_records_declare_their_address_and_whether_they_are_registered() {
    let spec = json!({"lbDriver": "mock", "lbName": "web", "lbInfo": {"lbID": "lb-1"},
        "parameters": {"weight": 50}});
    let new: BackendRecord = object("r1", &json!({ "spec": spec }));
    let declared = backends(&new, &ANY).remove(0);
    assert_eq!(declared.object.to_string(), "BackendRecord shop/r1");
    assert_eq!((&*declared.address, declared.is_registered), ("", false));
    assert_eq!(declared.parameters["weight"], "50");
    assert_eq!(backends(&new, &named("other")), []);
    for (status, is_registered) in [("True", true), ("False", false), ("Unknown", false)] {
        let conditions = json!([{"type": "Registered", "status": status}]);
        let status = json!({"backendAddr": "10.0.0.1:80", "conditions": conditions});
        let record = object("r1", &json!({"spec": spec, "status": status}));
        let declared = backends(&record, &ANY).remove(0);
        assert_eq!(declared.address, "10.0.0.1:80");
        assert_eq!(declared.is_registered, is_registered);
    }
}
