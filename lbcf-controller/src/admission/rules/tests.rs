use super::*;
use crate::admission::table::Kind;
use crate::admission::tests::fixture::{bind, driver, group, load_balancer, with};
use serde_json::json;

fn key_of(object: &Value) -> ObjectKey {
    let text = |field: &str| object["metadata"][field].as_str().unwrap().to_owned();
    ObjectKey::new(text("namespace"), text("name"))
}

/// The errors of an object that is created, or updated from `old`.
fn check(new: &Value, old: Option<&Value>) -> Vec<String> {
    fn spec<S: serde::de::DeserializeOwned>(kind: Kind, object: &Value) -> Spec<S> {
        Spec::read(kind, object).unwrap()
    }
    let key = key_of(new);
    let errors = match new["kind"].as_str().unwrap() {
        "LoadBalancerDriver" => validate_driver(&key, &spec(Kind::Driver, new).read),
        "LoadBalancer" => {
            let old = old.map(|old| spec(Kind::LoadBalancer, old).read);
            validate_load_balancer(&key, &spec(Kind::LoadBalancer, new).read, old.as_ref())
        }
        "BackendGroup" => {
            let old = old.map(|old| spec(Kind::BackendGroup, old));
            validate_backend_group(&spec(Kind::BackendGroup, new), old.as_ref())
        }
        _ => {
            let old = old.map(|old| spec(Kind::Bind, old));
            validate_bind(&spec(Kind::Bind, new), old.as_ref())
        }
    };
    errors.0.iter().map(ToString::to_string).collect()
}

/// Asserts that there is one error, about this field and with these parts, or none.
#[track_caller]
fn assert_errors(errors: &[String], field: Option<&str>, parts: &[&str]) {
    let Some(field) = field else {
        assert_eq!(errors, [""; 0]);
        return;
    };
    let [error] = errors else {
        panic!("not one error about {field}: {errors:#?}");
    };
    assert!(error.starts_with(&format!("{field}: ")), "{field}: {error}");
    for text in parts {
        assert!(error.contains(text), "{text}: {error}");
    }
}

fn named(object: Value, namespace: &str, name: &str) -> Value {
    let (namespace, name) = (json!(namespace), json!(name));
    with(
        object,
        [("/metadata/namespace", namespace), ("/metadata/name", name)],
    )
}

#[test]
fn b53_b67_the_prefix_of_a_driver_belongs_to_the_systems_namespace() {
    for (namespace, name, is_good) in [
        ("kube-system", "lbcf-d", true),
        ("ns", "d", true),
        ("kube-system", "d", false),
        ("ns", "lbcf-d", false),
    ] {
        let errors = check(&named(driver("d"), namespace, name), None);
        let field = (!is_good).then_some("metadata.name");
        assert_errors(&errors, field, &[name, namespace, "lbcf-"]);
    }
}

#[test]
fn b67_u26_the_url_of_a_driver_is_parsed_and_no_password_is_shown() {
    for (url, part) in [
        ("", "http"),
        ("driver.svc", "driver.svc"),
        ("ftp://u:secret@driver", "http"),
        ("http://driver:99999", "99999"),
    ] {
        let errors = check(&with(driver("d"), [("/spec/url", json!(url))]), None);
        assert_errors(&errors, Some("spec.url"), &[part]);
        assert!(!errors[0].contains("secret"), "{errors:?}");
    }
    // All errors are reported at once.
    let both = with(
        named(driver("d"), "ns", "lbcf-d"),
        [("/spec/url", json!(""))],
    );
    assert_eq!(check(&both, None).len(), 2);
}

#[test]
fn b55_b58_a_scope_needs_the_systems_namespace_and_the_prefix_is_reserved_for_it() {
    let scoped = |namespace: &str, name: &str, scope: Value| {
        with(
            named(load_balancer("lb"), namespace, name),
            [("/spec/scope", scope)],
        )
    };
    let scope = || json!(["ns-a", "*"]);
    for (namespace, name, scope, field) in [
        ("kube-system", "lbcf-lb", scope(), None),
        ("kube-system", "lb", json!(null), None),
        ("ns", "lb", json!([]), None),
        ("ns", "lb", scope(), Some("spec.scope")),
        ("ns", "lbcf-lb", json!([]), Some("metadata.name")),
    ] {
        let errors = check(&scoped(namespace, name, scope), None);
        assert_errors(&errors, field, &[name, "lbcf-", "kube-system"]);
    }
    assert_eq!(check(&scoped("ns", "lbcf-lb", scope()), None).len(), 2);
    // The name is validated on creation only, and a scope that was stored stays.
    let old = scoped("ns", "lbcf-lb", json!([]));
    let new = with(old.clone(), [("/spec/attributes", json!({"a": "b"}))]);
    assert_errors(&check(&new, Some(&old)), None, &[]);
    let new = scoped("ns", "lbcf-lb", scope());
    assert_errors(
        &check(&new, Some(&old)),
        Some("spec.scope"),
        &["ns/lbcf-lb"],
    );
    assert_errors(&check(&new, Some(&new)), None, &[]);
}

#[test]
fn b81_d21_labels_belong_into_the_selector() {
    for object in [group(), bind()] {
        let by_label = |by_label: Value| with(object.clone(), [("/spec/pods/byLabel", by_label)]);
        for (stray, parts) in [
            // The documents' second example: labels beside `except`.
            (
                json!({"app": "my-web-server", "except": ["my-pod-3"]}),
                &["[\"app\"]", "byLabel: {selector: {app: my-web-server}}"][..],
            ),
            (
                json!({"selector": {"a": "b"}, "expect": ["x"]}),
                &["expect", "except"],
            ),
        ] {
            let stray = by_label(stray);
            assert_errors(&check(&stray, None), Some("spec.pods.byLabel"), parts);
            // What the original stored keeps nothing else from changing.
            let new = with(stray.clone(), [("/spec/parameters", json!({"a": "b"}))]);
            assert_errors(&check(&new, Some(&stray)), None, &[]);
        }
        let good = by_label(json!({"selector": {"app": "web"}, "except": ["a"]}));
        assert_errors(&check(&good, None), None, &[]);
    }
}

#[test]
fn b81_the_last_name_of_a_groups_pods_can_be_removed_and_a_selector_cannot() {
    let by_name =
        |names: Value| json!({"ports": [{"port": 80, "protocol": "TCP"}], "byName": names});
    for (object, last_name) in [(group(), None), (bind(), Some("spec.pods"))] {
        let pods = |names| with(object.clone(), [("/spec/pods", by_name(names))]);
        let (some, none) = (pods(json!(["a"])), pods(json!([])));
        for (old, new, field) in [
            (&some, &none, last_name),
            (&none, &some, None),
            (&none, &none, None),
            (&object, &none, Some("spec.pods")),
            (&object, &some, None),
        ] {
            assert_errors(&check(new, Some(old)), field, &["is required"]);
        }
    }
}

#[test]
fn b93_b94_d48_what_the_rules_of_a_bind_tolerate_is_refused_when_it_is_new() {
    for (change, field, parts) in [
        // The name becomes a label's value.
        (
            ("/spec/loadBalancers/1/name", json!("a-")),
            "spec.loadBalancers[1].name",
            &["\"a-\"", "a-z"][..],
        ),
        (
            ("/spec/pods/ports/0", json!({"port": 80})),
            "spec.pods.ports[0].protocol",
            &["TCP or UDP"],
        ),
        (
            ("/spec/pods/ports/0/protocol", json!("")),
            "spec.pods.ports[0].protocol",
            &["\"\"", "TCP or UDP"],
        ),
        (
            ("/spec/pods/ports", json!([])),
            "spec.pods.ports",
            &["at least one is required"],
        ),
    ] {
        let tolerated = with(bind(), [change]);
        assert_errors(&check(&tolerated, None), Some(field), parts);
        assert_errors(&check(&tolerated, Some(&bind())), Some(field), parts);
        let new = with(tolerated.clone(), [("/spec/parameters", json!({}))]);
        assert_errors(&check(&new, Some(&tolerated)), None, &[]);
    }
    assert_errors(&check(&bind(), None), None, &[]);
}

#[test]
fn b13_only_true_in_any_case_means_draining() {
    let labels = |value: &str| Labels::from([(LABEL_DRIVER_DRAINING.into(), value.into())]);
    for value in ["true", "TRUE", "True"] {
        assert!(is_draining(Some(&labels(value))), "{value}");
    }
    for value in ["yes", ""] {
        assert!(!is_draining(Some(&labels(value))), "{value}");
    }
    assert!(!is_draining(None));
}

#[test]
fn b76_b86_what_is_labelled_stays() {
    let key = ObjectKey::new("ns", "lb");
    for value in ["", "false", "true"] {
        let labels = Labels::from([(LABEL_DO_NOT_DELETE.into(), value.into())]);
        let denial = validate_deletion("LoadBalancer", &key, &labels).unwrap_err();
        for text in ["LoadBalancer ns/lb", "lbcf.tkestack.io/do-not-delete"] {
            assert!(denial.message().contains(text), "{denial:?}");
        }
    }
    let unlabelled = validate_deletion("LoadBalancer", &key, &Labels::new());
    assert_eq!(unlabelled, Ok(()));
}

#[test]
fn b69_d12_u27_a_driver_is_deleted_after_its_users() {
    let key = ObjectKey::new("kube-system", "lbcf-d");
    let draining = Labels::from([(LABEL_DRIVER_DRAINING.into(), "true".into())]);
    assert_eq!(validate_driver_deletion(&key, &draining, &[]), Ok(()));
    for (labels, users, parts) in [
        (
            Labels::new(),
            0,
            &["lbcf.tkestack.io/driver-draining: \"true\""][..],
        ),
        (
            draining.clone(),
            1,
            &["kube-system/lbcf-d", "1 object is", "first: Bind ns/b0"],
        ),
        (draining.clone(), 5, &["5 objects are", "Bind ns/b4"]),
        (draining, 8, &["8 objects are", "Bind ns/b4 and 3 more"]),
        (Labels::new(), 1, &["driver-draining", "Bind ns/b0"]),
    ] {
        let listed: Vec<String> = (0..users).map(|i| format!("Bind ns/b{i}")).collect();
        let denial = validate_driver_deletion(&key, &labels, &listed).unwrap_err();
        assert!(matches!(denial, Denial::Forbidden(_)));
        for text in parts {
            assert!(denial.message().contains(text), "{text}: {denial:?}");
        }
        assert!(!denial.message().contains("b5"), "{denial:?}");
    }
}
