use super::*;
use crate::admission::tests::fixture::{bind, with};
use serde_json::json;

fn check(new: &Value, old: Option<&Value>) -> Vec<String> {
    let new = spec(Kind::Bind, new);
    let old = old.map(|old| spec(Kind::Bind, old));
    texts(&validate_bind(&new, old.as_ref()))
}

#[test]
fn b93_each_load_balancer_has_a_name_a_driver_and_a_spec() {
    assert_eq!(check(&bind(), None), [""; 0]);
    for (change, field, says) in [
        (
            ("/spec/loadBalancers", json!([])),
            "spec.loadBalancers",
            &["name:"][..],
        ),
        (
            ("/spec/loadBalancers/1/name", json!("")),
            "spec.loadBalancers[1].name",
            &["\"\""],
        ),
        (
            ("/spec/loadBalancers/1/name", json!("A")),
            "spec.loadBalancers[1].name",
            &["\"A\"", "a-z"],
        ),
        // The original lets it pass, and then no record can have it as label.
        (
            ("/spec/loadBalancers/1/name", json!("a-")),
            "spec.loadBalancers[1].name",
            &["\"a-\""],
        ),
        (
            ("/spec/loadBalancers/1/name", json!("foo")),
            "spec.loadBalancers[1].name",
            &["foo", "duplicate"],
        ),
        (
            ("/spec/loadBalancers/1/driver", json!(" ")),
            "spec.loadBalancers[1].driver",
            &["\" \""],
        ),
        (
            ("/spec/loadBalancers/1/spec", json!({})),
            "spec.loadBalancers[1].spec",
            &["required"],
        ),
    ] {
        assert_refused(&check(&with(bind(), [change]), None), field, says);
    }
}

#[test]
fn b94_b34_u26_pods_and_ports_of_a_bind() {
    for (change, field, says) in [
        (
            ("/spec/pods/byLabel", json!(null)),
            "spec.pods",
            &["is required"][..],
        ),
        (
            ("/spec/pods/byName", json!(["a"])),
            "spec.pods.byName",
            &["not both"],
        ),
        (
            ("/spec/pods/byLabel", json!({"selector": {}})),
            "spec.pods.byLabel.selector",
            &["at least one label"],
        ),
        (
            ("/spec/pods/ports", json!([])),
            "spec.pods.ports",
            &["at least one is required"],
        ),
        (
            ("/spec/pods/ports/0/port", json!(0)),
            "spec.pods.ports[0].port",
            &["0"],
        ),
        (
            ("/spec/pods/ports/0/port", json!(-80)),
            "spec.pods.ports[0].port",
            &["-80", "65535"],
        ),
        (
            ("/spec/pods/ports/0/port", json!(65536)),
            "spec.pods.ports[0].port",
            &["65536"],
        ),
        (
            ("/spec/pods/ports/0/protocol", json!("")),
            "spec.pods.ports[0].protocol",
            &["\"\"", "TCP or UDP"],
        ),
        (
            ("/spec/pods/ports/0/protocol", json!("sctp")),
            "spec.pods.ports[0].protocol",
            &["sctp"],
        ),
    ] {
        assert_refused(&check(&with(bind(), [change]), None), field, says);
    }
    let missing = with(bind(), [("/spec/pods/ports/0", json!({"port": 80}))]);
    assert_refused(
        &check(&missing, None),
        "spec.pods.ports[0].protocol",
        &["TCP or UDP"],
    );
    for protocol in ["tcp", "TCP", "uDp"] {
        let object = with(bind(), [("/spec/pods/ports/0/protocol", json!(protocol))]);
        assert_eq!(check(&object, None), [""; 0]);
    }
}

fn of_service(service: Value) -> Value {
    with(
        bind(),
        [("/spec/pods", Value::Null), ("/spec/service", service)],
    )
}

#[test]
fn d77_a_bind_has_either_pods_or_a_service() {
    let service = json!({"name": "web", "port": {"port": 80}});
    assert_eq!(check(&of_service(service.clone()), None), [""; 0]);
    let neither = with(bind(), [("/spec/pods", Value::Null)]);
    assert_refused(
        &check(&neither, None),
        "spec",
        &["one of pods and service is required"],
    );
    let both = with(bind(), [("/spec/service", service.clone())]);
    assert_refused(
        &check(&both, None),
        "spec",
        &["pods", "service", "only one of pods and service can be set"],
    );
    // One may replace the other.
    assert_eq!(check(&of_service(service.clone()), Some(&bind())), [""; 0]);
    assert_eq!(check(&bind(), Some(&of_service(service))), [""; 0]);
    assert_refused(&check(&both, Some(&bind())), "spec", &["only one"]);
    assert_refused(&check(&neither, Some(&bind())), "spec", &["required"]);
}

#[test]
fn d60_d63_d65_d77_the_service_of_a_bind() {
    let service = |change: Value| {
        let mut service = json!({"name": "web", "port": {"port": 80}});
        json_patch::merge(&mut service, &change);
        of_service(service)
    };
    for (change, field, says) in [
        (
            json!({"name": "Web"}),
            "spec.service.name",
            &["\"Web\""][..],
        ),
        (
            json!({"port": {"name": "HTTP", "port": null}}),
            "spec.service.port.name",
            &["\"HTTP\"", "a-z"],
        ),
        (
            json!({"port": {"name": "http"}}),
            "spec.service.port",
            &["a name can be set only alone"],
        ),
        (
            json!({"port": {"port": 70000}}),
            "spec.service.port.port",
            &["70000"],
        ),
        (
            json!({"port": {"port": null}}),
            "spec.service.port.port",
            &["required"],
        ),
        (
            json!({"port": {"protocol": "SCTP"}}),
            "spec.service.port.protocol",
            &["SCTP", "TCP or UDP"],
        ),
        (
            json!({"zones": ["a"]}),
            "spec.service.zones",
            &["only allowed with spec.service.mode Endpoints"],
        ),
        (
            json!({"addressFamilies": ["IPv4"]}),
            "spec.service.addressFamilies",
            &["only allowed with spec.service.mode Endpoints"],
        ),
        (
            json!({"mode": "Endpoints", "nodeSelector": {"pool": "web"}}),
            "spec.service.nodeSelector",
            &["only allowed with spec.service.mode NodePort"],
        ),
    ] {
        assert_refused(&check(&service(change), None), field, says);
    }
    for good in [
        json!({"mode": "Endpoints", "port": {"port": 80, "protocol": "SCTP"}, "zones": ["a"]}),
        json!({"mode": "NodePort", "port": {"port": null, "portNumber": 80}, "nodeSelector": {"pool": "web"}}),
        json!({"port": {"name": "http", "port": null}}),
    ] {
        assert_eq!(check(&service(good), None), [""; 0]);
    }
    let unknown = service(json!({"mode": "Pods"}));
    let error = Spec::<crate::api::BindSpec>::read(Kind::Bind, &unknown).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("spec.service.mode: unknown variant `Pods`"),
        "{text}"
    );
}

#[test]
fn u2_b95_every_valid_policy_passes_for_a_bind() {
    for policy in ["IfNotReady", "IfNotRunning"] {
        let object = with(bind(), [("/spec/deregisterPolicy", json!(policy))]);
        assert_eq!(check(&object, None), [""; 0], "{policy}");
    }
    let alone = with(bind(), [("/spec/deregisterPolicy", json!("Webhook"))]);
    assert_refused(
        &check(&alone, None),
        "spec.deregisterWebhook",
        &["driverName"],
    );
    for failure in ["DoNothing", "IfNotReady", "IfNotRunning"] {
        let webhook = json!({"driverName": "d", "failurePolicy": failure});
        let object = with(alone.clone(), [("/spec/deregisterWebhook", webhook)]);
        assert_eq!(check(&object, None), [""; 0], "{failure}");
    }
    // Nonsense does not even parse.
    for change in [
        ("/spec/deregisterPolicy", json!("Sometimes")),
        (
            "/spec/deregisterWebhook",
            json!({"driverName": "d", "failurePolicy": "Sometimes"}),
        ),
        ("/spec/ensurePolicy", json!({"policy": "Sometimes"})),
    ] {
        let object = with(bind(), [change.clone()]);
        let error = Spec::<crate::api::BindSpec>::read(Kind::Bind, &object).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(&change.0[1..].replace('/', ".")), "{text}");
        assert!(
            text.contains("Sometimes") && text.contains("IfNot"),
            "{text}"
        );
    }
}

#[test]
fn b96_d14_either_period_ten_seconds_at_least() {
    for (policy, refused) in [
        (json!({"policy": "Always"}), None),
        (
            json!({"policy": "Always", "resyncPeriodInSeconds": 10}),
            None,
        ),
        (json!({"policy": "Always", "minPeriod": "10s"}), None),
        (
            json!({"policy": "Always", "minPeriod": "1m", "resyncPeriodInSeconds": 30}),
            None,
        ),
        (
            json!({"policy": "IfNotSucc", "resyncPeriodInSeconds": 10}),
            None,
        ),
        (
            json!({"policy": "Always", "resyncPeriodInSeconds": 9}),
            Some("resyncPeriodInSeconds"),
        ),
        (
            json!({"policy": "Always", "resyncPeriodInSeconds": -1}),
            Some("resyncPeriodInSeconds"),
        ),
        (
            json!({"policy": "Always", "minPeriod": "9s"}),
            Some("minPeriod"),
        ),
        (
            json!({"policy": "IfNotSucc", "minPeriod": "1m"}),
            Some("minPeriod"),
        ),
    ] {
        let object = with(bind(), [("/spec/ensurePolicy", policy)]);
        let errors = check(&object, None);
        match refused {
            None => assert_eq!(errors, [""; 0], "{object}"),
            Some(field) => assert_refused(&errors, &format!("spec.ensurePolicy.{field}"), &[]),
        }
    }
}

#[test]
fn d13_b40_u8_what_identifies_a_load_balancer_stays() {
    let old = bind();
    let other_driver = with(
        old.clone(),
        [("/spec/loadBalancers/1/driver", json!("lbcf-d"))],
    );
    assert_refused(
        &check(&other_driver, Some(&old)),
        "spec.loadBalancers[1].driver",
        &["\"lbcf-e\"", "bar", "immutable"],
    );
    let other_spec = with(
        old.clone(),
        [("/spec/loadBalancers/0/spec", json!({"lbID": "x"}))],
    );
    assert_refused(
        &check(&other_spec, Some(&old)),
        "spec.loadBalancers[0].spec",
        &["lb-foo", "foo", "immutable"],
    );
    for good in [
        (
            "/spec/loadBalancers/0/attributes",
            json!({"payment": "monthly"}),
        ),
        // The order does not matter; a load balancer of another name is another one.
        (
            "/spec/loadBalancers",
            json!([
                old["spec"]["loadBalancers"][1],
                old["spec"]["loadBalancers"][0]
            ]),
        ),
        ("/spec/loadBalancers/0/name", json!("new")),
        (
            "/spec/loadBalancers",
            json!([old["spec"]["loadBalancers"][1]]),
        ),
        ("/spec/parameters", json!({"weight": "1"})),
    ] {
        assert_eq!(check(&with(old.clone(), [good]), Some(&old)), [""; 0]);
    }
}

#[test]
fn what_the_original_let_pass_does_not_keep_parameters_from_changing() {
    let old = with(
        bind(),
        [
            ("/spec/loadBalancers/0/name", json!("foo-")),
            ("/spec/pods/byName", json!(["a"])),
            ("/spec/pods/ports/0/port", json!(-80)),
        ],
    );
    let new = with(old.clone(), [("/spec/parameters", json!({"weight": "1"}))]);
    assert_eq!(check(&new, Some(&old)), [""; 0]);
}
