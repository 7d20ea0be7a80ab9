use super::*;
use crate::admission::tests::fixture::{driver, with};
use serde_json::json;

fn check(new: &Value, old: Option<&Value>) -> Vec<String> {
    let new_spec = spec(Kind::Driver, new);
    let old = old.map(|old| spec(Kind::Driver, old).read);
    texts(&validate_driver(&key_of(new), &new_spec.read, old.as_ref()))
}

#[test]
fn b53_b67_the_prefix_belongs_to_the_systems_namespace() {
    for (namespace, name, is_good) in [
        ("kube-system", "lbcf-d", true),
        ("ns", "d", true),
        ("kube-system", "d", false),
        ("ns", "lbcf-d", false),
    ] {
        let object = with(
            driver("d"),
            [
                ("/metadata/namespace", json!(namespace)),
                ("/metadata/name", json!(name)),
            ],
        );
        let errors = check(&object, None);
        if is_good {
            assert_eq!(errors, [""; 0]);
        } else {
            assert_refused(&errors, "metadata.name", &[name, namespace, "lbcf-"]);
        }
    }
}

#[test]
fn b67_u26_what_a_driver_may_say() {
    let webhooks = |webhooks: Value| ("/spec/webhooks", webhooks);
    let timeout = |timeout: &str| webhooks(json!([{"name": "ensureBackend", "timeout": timeout}]));
    for (change, field, says) in [
        (
            ("/spec/driverType", json!("Socket")),
            "spec.driverType",
            &["\"Socket\"", "Webhook"][..],
        ),
        (("/spec/url", json!("")), "spec.url", &["http"]),
        (
            ("/spec/url", json!("driver.svc")),
            "spec.url",
            &["driver.svc", "http"],
        ),
        (
            ("/spec/url", json!("ftp://driver")),
            "spec.url",
            &["ftp", "http"],
        ),
        (
            webhooks(json!([{"name": "ensureBackends"}])),
            "spec.webhooks[0].name",
            &["ensureBackends", "judgePodDeregister"],
        ),
        (
            webhooks(json!([{"name": "healthz"}, {"name": "healthz"}])),
            "spec.webhooks[1].name",
            &["healthz", "duplicate"],
        ),
        (timeout("0s"), "spec.webhooks[0].timeout", &["\"0s\"", "1m"]),
        (
            timeout("61s"),
            "spec.webhooks[0].timeout",
            &["\"61s\"", "1m"],
        ),
        (
            timeout("-1s"),
            "spec.webhooks[0].timeout",
            &["\"-1s\"", "10s"],
        ),
        (
            timeout("soon"),
            "spec.webhooks[0].timeout",
            &["\"soon\"", "10s"],
        ),
    ] {
        assert_refused(&check(&with(driver("d"), [change]), None), field, says);
    }
    for good in ["1m", "15s", "1ms"] {
        assert_eq!(check(&with(driver("d"), [timeout(good)]), None), [""; 0]);
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let object = with(
        driver("d"),
        [
            ("/spec/driverType", json!("x")),
            ("/spec/url", json!("")),
            ("/metadata/name", json!("lbcf-d")),
        ],
    );
    assert_eq!(check(&object, None).len(), 3);
}

#[test]
fn u25_judge_pod_deregister_can_have_a_timeout() {
    let named = json!([{"name": "judgePodDeregister", "timeout": "30s"}]);
    assert_eq!(
        check(&with(driver("d"), [("/spec/webhooks", named)]), None),
        [""; 0]
    );
}

#[test]
fn u24_a_driver_from_before_healthz_can_be_changed_and_drained() {
    // As an earlier release stored it, and mutation never ran again.
    let old = with(
        driver("d"),
        [(
            "/spec/webhooks",
            json!([{"name": "ensureBackend", "timeout": "10s"}]),
        )],
    );
    let new = with(
        old.clone(),
        [(
            "/spec/webhooks",
            json!([{"name": "ensureBackend", "timeout": "20s"}]),
        )],
    );
    let raw = |object: &Value| -> crate::api::LoadBalancerDriverSpec {
        serde_json::from_value(object["spec"].clone()).unwrap()
    };
    assert_eq!(
        validate_driver(&key_of(&new), &raw(&new), Some(&raw(&old))),
        FieldErrors::default()
    );
}

#[test]
fn b68_d11_where_and_how_a_driver_is_reached_never_changes() {
    let old = driver("d");
    for (change, field) in [
        (("/spec/url", json!("http://elsewhere")), "spec.url"),
        (("/spec/driverType", json!("Socket")), "spec.driverType"),
    ] {
        let errors = check(&with(old.clone(), [change]), Some(&old));
        assert!(
            errors
                .iter()
                .any(|error| { error.starts_with(field) && error.contains("immutable") }),
            "{errors:?}"
        );
    }
    let new = with(
        old.clone(),
        [
            (
                "/spec/webhooks",
                json!([{"name": "validateBackend", "timeout": "5s"}]),
            ),
            ("/spec/acceptDryRunCall", json!(true)),
        ],
    );
    assert_eq!(check(&new, Some(&old)), [""; 0]);
    assert_eq!(check(&old, Some(&new)), [""; 0]);
}

#[test]
fn a_password_in_the_url_is_not_shown() {
    let old = with(
        driver("d"),
        [("/spec/url", json!("http://u:old-secret@driver"))],
    );
    let new = with(
        driver("d"),
        [("/spec/url", json!("http://u:new-secret@driver"))],
    );
    assert_refused(
        &check(&new, Some(&old)),
        "spec.url",
        &["http://driver", "immutable"],
    );
    assert!(!check(&new, Some(&old))[0].contains("secret"));
    let wrong = with(
        driver("d"),
        [("/spec/url", json!("ftp://u:new-secret@driver"))],
    );
    assert!(!check(&wrong, Some(&old)).join("").contains("secret"));
}

#[test]
fn what_the_original_let_pass_does_not_keep_timeouts_from_changing() {
    let old = with(
        driver("d"),
        [
            ("/spec/url", json!("")),
            (
                "/spec/webhooks",
                json!([{"name": "healthz", "timeout": "-1s"}, {"name": "ensureBackend", "timeout": "10s"}]),
            ),
        ],
    );
    let new = with(
        old.clone(),
        [(
            "/spec/webhooks/1",
            json!({"name": "ensureBackend", "timeout": "1m"}),
        )],
    );
    assert_eq!(check(&new, Some(&old)), [""; 0]);
}

#[test]
fn b69_d12_u27_a_driver_is_deleted_after_its_users() {
    let key = ObjectKey::new("kube-system", "lbcf-d");
    let draining = Labels::from([(names::LABEL_DRIVER_DRAINING.into(), "true".into())]);
    let check = |labels: &Labels, users: usize| {
        let users: Vec<String> = (0..users).map(|i| format!("Bind ns/b{i}")).collect();
        validate_driver_deletion(&key, labels, &users).map_err(|denial| {
            assert!(matches!(denial, Denial::Forbidden(_)));
            denial.message().to_owned()
        })
    };
    assert_eq!(check(&draining, 0), Ok(()));
    let missing = check(&Labels::new(), 0).unwrap_err();
    assert!(
        missing.contains("lbcf.tkestack.io/driver-draining: \"true\""),
        "{missing}"
    );
    let one = check(&draining, 1).unwrap_err();
    assert!(
        one.contains("kube-system/lbcf-d")
            && one.contains("1 object is")
            && one.ends_with("Bind ns/b0"),
        "{one}"
    );
    assert!(check(&draining, 5).unwrap_err().ends_with("Bind ns/b4"));
    let many = check(&draining, 8).unwrap_err();
    assert!(
        many.contains("8 objects are") && many.ends_with("Bind ns/b4 and 3 more"),
        "{many}"
    );
    let both = check(&Labels::new(), 1).unwrap_err();
    assert!(
        both.contains("driver-draining") && both.contains("Bind ns/b0"),
        "{both}"
    );
}

#[test]
fn d72_d75_what_a_service_class_may_say() {
    let class = |change: Value| {
        let mut class = json!({"name": "lbcf.tkestack.io/clb", "lbSpec": {"id": "$(name)"}});
        json_patch::merge(&mut class, &change);
        let object = with(driver("d"), [("/spec/serviceClass", class)]);
        check(&object, None)
    };
    assert_eq!(class(json!({})), [""; 0]);
    assert_eq!(
        class(json!({"lbSpec": {"port": "$(port)"}, "serviceFields": {"loadBalancerIP": "vip"}})),
        [""; 0]
    );
    for (change, field, says) in [
        (
            json!({"name": "a/b/c"}),
            "spec.serviceClass.name",
            &["a/b/c"][..],
        ),
        (
            json!({"lbSpec": {"port": "$(prot)"}}),
            "spec.serviceClass.lbSpec[port]",
            &["$(prot)", "$(protocol)"],
        ),
        (
            json!({"parameters": {"port": "$(port"}}),
            "spec.serviceClass.parameters[port]",
            &["$(port"],
        ),
        (
            json!({"loadBalancers": "PerService", "lbSpec": {"port": "$(port)"}}),
            "spec.serviceClass.lbSpec[port]",
            &["PerPort"],
        ),
        (
            json!({"serviceFields": {"ports": "x"}}),
            "spec.serviceClass.serviceFields",
            &["ports", "loadBalancerSourceRanges"],
        ),
    ] {
        assert_refused(&class(change), field, says);
    }
}
