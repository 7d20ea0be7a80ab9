use super::*;
use crate::admission::tests::fixture::{load_balancer, with};
use serde_json::json;

fn check(new: &Value, old: Option<&Value>) -> Vec<String> {
    let new_spec = spec(Kind::LoadBalancer, new);
    let old = old.map(|old| spec(Kind::LoadBalancer, old).read);
    texts(&validate_load_balancer(
        &key_of(new),
        &new_spec.read,
        old.as_ref(),
    ))
}

fn named(namespace: &str, name: &str, scope: &Value) -> Value {
    with(
        load_balancer("lb"),
        [
            ("/metadata/namespace", json!(namespace)),
            ("/metadata/name", json!(name)),
            ("/spec/scope", scope.clone()),
        ],
    )
}

#[test]
fn b72_a_load_balancer_names_its_driver() {
    assert_eq!(check(&load_balancer("lb"), None), [""; 0]);
    for name in ["", " ", "../secrets/x", "A", "a/b"] {
        let object = with(load_balancer("lb"), [("/spec/lbDriver", json!(name))]);
        assert_refused(
            &check(&object, None),
            "spec.lbDriver",
            &[&format!("{name:?}"), "a-z"],
        );
    }
}

#[test]
fn b55_b58_scope_needs_the_prefix_and_the_systems_namespace() {
    let scope = json!(["ns-a", "*"]);
    for (namespace, name, scope, field) in [
        ("kube-system", "lbcf-lb", &scope, None),
        ("kube-system", "lbcf-lb", &json!([]), None),
        ("kube-system", "lb", &json!(null), None),
        ("ns", "lb", &json!([]), None),
        // The documents' third example breaks its own rule.
        (
            "kube-system",
            "my-load-balancer-1",
            &scope,
            Some("spec.scope"),
        ),
        ("ns", "lb", &scope, Some("spec.scope")),
        ("ns", "lbcf-lb", &json!([]), Some("metadata.name")),
    ] {
        let errors = check(&named(namespace, name, scope), None);
        match field {
            None => assert_eq!(errors, [""; 0], "{namespace}/{name}"),
            Some(field) => assert_refused(&errors, field, &[name, "lbcf-", "kube-system"]),
        }
    }
    assert_eq!(check(&named("ns", "lbcf-lb", &scope), None).len(), 2);
}

#[test]
fn b55_the_name_is_validated_on_creation_only() {
    let old = named("ns", "lbcf-lb", &json!([]));
    let new = with(old.clone(), [("/spec/attributes", json!({"a": "b"}))]);
    assert_eq!(check(&new, Some(&old)), [""; 0]);
    // A scope still needs a proper name.
    let scoped = named("ns", "lbcf-lb", &json!(["ns-a"]));
    assert_refused(&check(&scoped, Some(&old)), "spec.scope", &["ns/lbcf-lb"]);
}

#[test]
fn b56_scope_lists_namespaces() {
    for bad in ["", "Ns", "a.b", "**"] {
        let object = named("kube-system", "lbcf-lb", &json!(["ok", bad]));
        assert_refused(
            &check(&object, None),
            "spec.scope[1]",
            &[&format!("{bad:?}"), "*", "a-z"],
        );
    }
}

#[test]
fn b17_b73_periods_are_for_always_and_thirty_seconds_at_least() {
    for (policy, good) in [
        (json!({"policy": "IfNotSucc"}), true),
        (json!({"policy": "Always"}), true),
        (json!({"policy": "Always", "minPeriod": "30s"}), true),
        (json!({"policy": ""}), true),
        (json!({"policy": "IfNotSucc", "minPeriod": "1m"}), false),
        (json!({"policy": "", "minPeriod": "1m"}), false),
        (json!({"policy": "Always", "minPeriod": "29.9s"}), false),
        (json!({"policy": "Always", "minPeriod": "-1m"}), false),
        (json!({"policy": "Always", "minPeriod": "soon"}), false),
        (json!({"policy": "Always", "minPeriod": ""}), false),
    ] {
        let object = with(
            load_balancer("lb"),
            [("/spec/ensurePolicy", policy.clone())],
        );
        let errors = check(&object, None);
        if good {
            assert_eq!(errors, [""; 0], "{policy}");
        } else {
            let period = policy["minPeriod"].to_string();
            assert_refused(&errors, "spec.ensurePolicy.minPeriod", &[&period]);
        }
    }
}

#[test]
fn b74_d10_attributes_ensure_policy_and_scope_may_change() {
    let old = named("kube-system", "lbcf-lb", &json!(["a"]));
    let new = with(
        old.clone(),
        [
            ("/spec/attributes", json!({"a": "b"})),
            ("/spec/ensurePolicy", json!({"policy": "Always"})),
            ("/spec/scope", json!(["a", "b"])),
        ],
    );
    assert_eq!(check(&new, Some(&old)), [""; 0]);
    let other_driver = with(old.clone(), [("/spec/lbDriver", json!("other"))]);
    assert_refused(
        &check(&other_driver, Some(&old)),
        "spec.lbDriver",
        &["\"other\"", "\"lbcf-d\"", "immutable", "scope"],
    );
    let other_spec = with(old.clone(), [("/spec/lbSpec", json!({"lbID": "2"}))]);
    assert_refused(
        &check(&other_spec, Some(&old)),
        "spec.lbSpec",
        &["\"2\"", "immutable", "attributes"],
    );
    // A number is its text (d20).
    let (number, text) = (json!({"p": 80}), json!({"p": "80"}));
    let [number, text] =
        [number, text].map(|lb_spec| with(old.clone(), [("/spec/lbSpec", lb_spec)]));
    assert_eq!(check(&text, Some(&number)), [""; 0]);
}
