use super::*;
use crate::api::{
    BindSpec, Condition, PodSelection, PortSelector, SelectPodByLabel, ServiceMode,
    ServicePortSelector, ServiceSelection, TargetLoadBalancer,
};
use crate::index::ServiceView;
use k8s_openapi::api::core::v1::Service;
use lbcf_driver_sdk::webhook::Protocol;
use serde_json::json;
use std::sync::Arc;

fn bind() -> Bind {
    let declared = |name: &str| TargetLoadBalancer {
        name: name.to_owned(),
        ..TargetLoadBalancer::default()
    };
    let spec = BindSpec {
        load_balancers: vec![declared("a"), declared("b")],
        pods: Some(PodSelection {
            ports: vec![PortSelector::new(80, Protocol::Tcp)],
            by_label: Some(SelectPodByLabel::default()),
            ..PodSelection::default()
        }),
        ..BindSpec::default()
    };
    Bind::new("bind", spec)
}

fn entry(name: &str, conditions: Vec<Condition>) -> TargetLoadBalancerStatus {
    TargetLoadBalancerStatus {
        name: name.to_owned(),
        conditions,
        ..TargetLoadBalancerStatus::default()
    }
}

fn is_ready(name: &str) -> TargetLoadBalancerStatus {
    entry(
        name,
        ["Created", "Ready"]
            .map(|it| Condition::met(it, None))
            .to_vec(),
    )
}

fn status(entries: Vec<TargetLoadBalancerStatus>, backends: [i32; 2]) -> BindStatus {
    BindStatus {
        load_balancer_statuses: entries,
        backends: backends[0],
        registered_backends: backends[1],
        ..BindStatus::default()
    }
}

fn wait(status: &BindStatus, owner: OwnerView) -> Option<(&'static str, String)> {
    let counts = OwnerCounts {
        pods: usize::try_from(status.backends).unwrap(),
        ..OwnerCounts::default()
    };
    reason(&bind(), status, &SelectedService::default(), counts, owner)
}

fn reason(
    bind: &Bind,
    status: &BindStatus,
    service: &SelectedService,
    counts: OwnerCounts,
    owner: OwnerView,
) -> Option<(&'static str, String)> {
    let view = BindView {
        service,
        counts: &counts,
        owner,
    };
    let wait = waiting(bind, status, &view)?;
    Some((wait.reason, wait.message))
}

#[test]
fn d44_a_bind_names_the_load_balancers_that_are_not_ready() {
    let unmet = |type_, message| Condition::unmet(type_, "CreateFailed", message, None);
    let failed = entry("b", vec![unmet("Created", "the quota is used up")]);
    let (reason, message) =
        wait(&status(vec![failed], [1, 0]), OwnerView::default()).expect("it waits");
    assert_eq!(reason, "LoadBalancersNotReady");
    assert_eq!(message, "a: is not created yet, b: the quota is used up");
    let mut leaving = is_ready("a");
    leaving.deletion_timestamp = Some("2026-01-01T00:00:00Z".to_owned());
    let ensuring = entry(
        "b",
        vec![Condition::met("Created", None), unmet("Ready", "not today")],
    );
    let entries = vec![leaving, ensuring];
    let (_, message) = wait(&status(entries, [1, 1]), OwnerView::default()).expect("it waits");
    assert_eq!(message, "a: is being deleted, b: not today");
    let bare = vec![is_ready("a"), entry("b", Vec::new())];
    let (_, message) = wait(&status(bare, [1, 1]), OwnerView::default()).expect("it waits");
    assert_eq!(message, "b: is not ready");
}

#[test]
fn d44_a_bind_whose_load_balancers_are_ready_waits_for_its_backends() {
    let with = |backends, has_unready_pods| {
        let view = OwnerView {
            has_unready_pods,
            ..OwnerView::default()
        };
        let entries = vec![is_ready("a"), is_ready("b")];
        wait(&status(entries, backends), view).map(|(reason, _)| reason)
    };
    assert_eq!(with([2, 2], false), None);
    assert_eq!(with([0, 0], false), Some("NoPodsSelected"));
    assert_eq!(with([2, 1], true), Some("PodsNotReady"));
    assert_eq!(with([2, 1], false), Some("Registering"));
}

/// A Bind of a Service whose load balancers are ready, after a change of the Service.
fn of_service(
    mode: ServiceMode,
    change: impl FnOnce(&mut Service),
) -> Option<(&'static str, String)> {
    let mut bind = bind();
    bind.metadata.namespace = Some("ns".into());
    bind.spec.pods = None;
    bind.spec.service = Some(ServiceSelection {
        name: "svc".into(),
        mode: Some(mode),
        port: ServicePortSelector::named("http"),
        ..ServiceSelection::default()
    });
    let mut service: Service = serde_json::from_value(json!({
        "metadata": {"name": "svc", "namespace": "ns"},
        "spec": {"type": "NodePort", "ports": [{"name": "http", "port": 80, "nodePort": 30080}]},
    }))
    .unwrap();
    change(&mut service);
    let is_absent = service.metadata.name.is_none();
    let service = SelectedService {
        service: (!is_absent).then(|| Arc::new(ServiceView::of(&service))),
        slices: Vec::new(),
    };
    let status = status(vec![is_ready("a"), is_ready("b")], [0, 0]);
    let counts = OwnerCounts::default();
    reason(&bind, &status, &service, counts, OwnerView::default())
}

#[test]
fn d44_d77_a_bind_names_what_its_service_lacks() {
    use ServiceMode::{Endpoints, NodePort};
    let absent = |service: &mut Service| service.metadata.name = None;
    let external = |service: &mut Service| {
        service.spec.as_mut().unwrap().type_ = Some("ExternalName".to_owned());
    };
    let cluster_ip = |service: &mut Service| {
        service.spec.as_mut().unwrap().type_ = Some("ClusterIP".to_owned());
    };
    let other_port = |service: &mut Service| {
        let ports = service.spec.as_mut().unwrap().ports.as_mut().unwrap();
        ports[0].name = Some("web".to_owned());
    };
    let says = |wait: Option<(&str, String)>, reason: &str, message: &str| {
        let (is, text) = wait.unwrap();
        assert_eq!((is, text.as_str()), (reason, message));
    };
    says(
        of_service(NodePort, absent),
        "ServiceNotFound",
        "Service ns/svc not found, or being deleted",
    );
    says(
        of_service(NodePort, cluster_ip),
        "NoNodePort",
        "Service ns/svc has no node ports: its type must be NodePort or LoadBalancer",
    );
    says(
        of_service(NodePort, other_port),
        "NoNodePort",
        "Service ns/svc has no node port for port \"http\"",
    );
    says(
        of_service(NodePort, |_| {}),
        "NoNodesSelected",
        "Service ns/svc: there is no node that load balancers may use",
    );
    says(
        of_service(Endpoints, absent),
        "ServiceNotFound",
        "spec.service.name: Service ns/svc not found, or being deleted",
    );
    says(
        of_service(Endpoints, external),
        "NoEndpoints",
        "spec.service.name: Service ns/svc has the type ExternalName, which has no endpoints",
    );
    says(
        of_service(Endpoints, other_port),
        "NoServicePort",
        "spec.service.port: Service ns/svc has no port \"http\"; it has \"web\" (80/TCP)",
    );
    says(
        of_service(Endpoints, |_| {}),
        "NoEndpoints",
        "spec.service.name: Service ns/svc has neither a selector nor an EndpointSlice with the label kubernetes.io/service-name",
    );
}

#[test]
fn d77_a_bind_with_neither_pods_nor_service_says_so() {
    let mut bind = bind();
    bind.spec.pods = None;
    let status = status(vec![is_ready("a"), is_ready("b")], [0, 0]);
    let none = SelectedService::default();
    let counts = OwnerCounts::default();
    let wait = reason(&bind, &status, &none, counts, OwnerView::default());
    assert_eq!(
        wait,
        Some((
            "NoPodsSelected",
            "spec: one of pods and service is required".to_owned()
        ))
    );
}
