use super::*;
use crate::finding::Fix;
use lbcf_controller::ObjectKey;
use serde_json::{Value, json};

fn object(kind: Kind, name: &str) -> ObjectRef {
    ObjectRef::new(kind, ObjectKey::new("ns", name))
}

fn group(selector: &Value, ready: &Value) -> (ObjectRef, Value) {
    let group = json!({
        "metadata": {"generation": 1},
        "spec": {"loadBalancers": ["lb"], "pods": {"byLabel": {"selector": selector}}},
        "status": {"conditions": [ready]},
    });
    (object(Kind::BackendGroup, "web"), group)
}

fn pod(labels: &Value) -> (ObjectRef, Value) {
    let status = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let pod = json!({"metadata": {"labels": labels}, "status": status});
    (object(Kind::Pod, "web-0"), pod)
}

#[test]
fn lines_for_a_shell_are_safe_whatever_an_object_holds() {
    let ready = json!({
        "type": "Ready", "status": "True", "observedGeneration": 1, "reason": "AllRegistered", "message": "",
    });
    let hostile = "web-frontend-service-main$(w)';w";
    let cluster = Cluster::of([
        group(&json!({"app": hostile}), &ready),
        pod(&json!({"app": "web-frontend-service-main"})),
    ]);
    let chains = why(&cluster, &object(Kind::Pod, "web-0"));
    let Fix::Run(line) = &chains[0][0].fix else {
        panic!("{chains:?}");
    };
    let words = shlex::split(line).unwrap();
    assert_eq!(words.last().unwrap(), &format!("app={hostile}"));
}

#[test]
fn texts_of_others_do_not_act_on_the_terminal() {
    let message = "none\n  fix: reboot \u{1b}[2J";
    let ready = json!({
        "type": "Ready", "status": "False", "observedGeneration": 1, "reason": "NoPodsSelected", "message": message,
    });
    let cluster = Cluster::of([group(&json!({"app": "x"}), &ready)]);
    let printed = text(&why(&cluster, &object(Kind::BackendGroup, "web")), &[]);
    assert!(
        printed
            .lines()
            .all(|line| !line.chars().any(char::is_control)),
        "{printed:?}"
    );
    assert_eq!(printed.matches("\n  fix: ").count(), 1, "{printed}");
}

#[test]
fn objects_that_refer_to_each_other_end_and_other_kinds_have_no_reports() {
    let unknown = json!({"type": "Odd", "status": "Perhaps", "reason": 7});
    for kind in [Kind::EndpointSlice, Kind::Lease, Kind::Event, Kind::Node] {
        let status = json!({"conditions": [unknown], "addresses": ["a"]});
        let cluster = Cluster::of([(
            object(kind, "it"),
            json!({"metadata": {}, "status": status}),
        )]);
        assert_eq!(
            why(&cluster, &object(kind, "it")),
            Vec::<Chain>::new(),
            "{kind}"
        );
    }
    let record = |name: &str, other: &str| {
        let registered = json!({
            "type": "Registered", "status": "False", "reason": "DelayedEnsureBackend",
            "message": format!("waiting: BackendRecord {other} is deregistering the same address"),
        });
        (
            object(Kind::BackendRecord, name),
            json!({"metadata": {}, "status": {"conditions": [registered]}}),
        )
    };
    let cluster = Cluster::of([record("one", "two"), record("two", "one")]);
    let chains = why(&cluster, &object(Kind::BackendRecord, "one"));
    assert_eq!(chains.len(), 1, "{chains:?}");
    assert_eq!(chains[0].len(), 2, "{chains:?}");
}

/// Lines that would take traffic to other pods, or delete what a cloud has.
#[test]
fn dangerous_lines_are_not_proposed() {
    let ready = json!({
        "type": "Ready", "status": "False", "observedGeneration": 1, "reason": "NoPodsSelected", "message": "none",
    });
    let selector = json!({"app": "web", "track": "canary"});
    let pods = [
        json!({"app": "db", "track": "canary"}),
        json!({"app": "web", "track": "stable"}),
    ];
    for labels in pods {
        let cluster = Cluster::of([group(&selector, &ready), pod(&labels)]);
        for asked in [
            object(Kind::BackendGroup, "web"),
            object(Kind::Pod, "web-0"),
        ] {
            let chains = why(&cluster, &asked);
            assert!(
                matches!(chains[0][0].fix, Fix::Advice(_)),
                "{labels} {chains:?}"
            );
        }
    }
    let missing = json!({"type": "AttributesSynced", "status": "False", "reason": "DriverNotFound", "message": "no"});
    let created = json!({"type": "Created", "status": "True"});
    let driver = (
        object(Kind::LoadBalancerDriver, "clb"),
        json!({"metadata": {}}),
    );
    for (kind, conditions, is_line) in [
        (Kind::LoadBalancer, json!([missing]), true),
        (Kind::LoadBalancer, json!([created, missing]), false),
        (Kind::BackendRecord, json!([missing]), false),
    ] {
        let spec = json!({"lbDriver": "clbb"});
        let lb = json!({"metadata": {}, "spec": spec, "status": {"conditions": conditions}});
        let cluster = Cluster::of([(object(kind, "lb"), lb), driver.clone()]);
        let chains = why(&cluster, &object(kind, "lb"));
        assert_eq!(
            matches!(chains[0][0].fix, Fix::Run(_)),
            is_line,
            "{chains:?}"
        );
    }
    let served = json!({
        "metadata": {}, "spec": {"type": "LoadBalancer"},
        "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}]}},
    });
    let class = json!({"metadata": {}, "spec": {"serviceClass": {"name": "example.com/clb"}}});
    let service = object(Kind::Service, "web");
    let cluster = Cluster::of([
        (service.clone(), served),
        (object(Kind::LoadBalancerDriver, "clb"), class),
    ]);
    assert_eq!(why(&cluster, &service), Vec::<Chain>::new());
}

#[test]
fn a_driver_that_does_not_respond_comes_before_its_class() {
    let unmet = |type_: &str, reason: &str| json!({"type": type_, "status": "False", "reason": reason, "message": "", "observedGeneration": 1});
    let class = unmet("ServiceClass", "ServiceClassTaken");
    let health = unmet("Healthy", "WebhookError");
    for conditions in [json!([class, health]), json!([health, class])] {
        let driver = json!({
            "metadata": {"generation": 1}, "spec": {"url": "http://127.0.0.1:1"}, "status": {"conditions": conditions},
        });
        let asked = object(Kind::LoadBalancerDriver, "d");
        let chains = why(&Cluster::of([(asked.clone(), driver)]), &asked);
        assert!(
            chains[0][0].message.contains("does not respond"),
            "{chains:?}"
        );
        assert_eq!(chains.len(), 2);
    }
}
