mod announced;

use super::*;
use crate::api::names::{ANNOTATION_SERVICE_CLASS, FINALIZER_SERVICE};
use crate::api::{ObjectKey, ServiceMode, StringMap};
use crate::index::ServicePortView;
use serde_json::{Value, json};

const CLASS: &str = "lbcf.tkestack.io/clb";

fn port(name: &str, port: i32, node_port: i32) -> ServicePortView {
    ServicePortView {
        name: name.into(),
        port,
        protocol: "TCP".into(),
        node_port,
        target_port: Some(8080),
    }
}

/// A Service of the class with two ports that is marked.
fn service() -> ServiceView {
    let part = ServiceLoadBalancer {
        uid: "uid-1".into(),
        class: Some(CLASS.into()),
        is_load_balancer: true,
        annotations: [
            (ANNOTATION_SERVICE_CLASS.to_owned(), CLASS.to_owned()),
            ("example.com/charge".to_owned(), "MONTHLY".to_owned()),
        ]
        .into(),
        finalizers: vec![FINALIZER_SERVICE.into()],
        ingress: Vec::new(),
        fields: BTreeMap::from([
            ("externalTrafficPolicy", "Local".to_owned()),
            (
                "loadBalancerSourceRanges",
                "10.0.0.0/8,192.0.2.0/24".to_owned(),
            ),
        ]),
        has_node_ports: true,
    };
    ServiceView {
        key: ObjectKey::new("ns", "web"),
        version: 1,
        is_external_name: false,
        has_node_ports: true,
        ports: vec![port("http", 80, 30080), port("https", 443, 30443)],
        selector: BTreeMap::new(),
        is_local: false,
        deleting: false,
        addresses: Vec::new(),
        load_balancer: Some(Box::new(part)),
    }
}

fn part_of(service: &mut ServiceView) -> &mut ServiceLoadBalancer {
    service.load_balancer.as_mut().unwrap()
}

fn driver(class: &Value) -> Arc<LoadBalancerDriver> {
    let mut whole = json!({
        "name": CLASS,
        "lbSpec": {"vpc": "vpc-1", "port": "$(port)", "protocol": "$(protocol)", "of": "$(namespace)/$(name)/$(uid)"},
        "attributes": {"example.com/charge": "chargeType", "example.com/other": "other"},
    });
    json_patch::merge(&mut whole, class);
    Arc::new(
        serde_json::from_value(json!({
            "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "LoadBalancerDriver",
            "metadata": {"name": "lbcf-clb", "namespace": "kube-system"},
            "spec": {"driverType": "Webhook", "url": "http://driver", "serviceClass": whole},
        }))
        .unwrap(),
    )
}

fn state(service: ServiceView) -> ServiceState {
    ServiceState {
        refused: BTreeMap::new(),
        service: Arc::new(service),
        driver: Some(driver(&json!({}))),
        load_balancers: BTreeMap::new(),
        groups: BTreeMap::new(),
    }
}

/// The state with everything that the Service should have, created, after the decided writes.
fn settled(service: ServiceView, class: &Value) -> ServiceState {
    let mut state = state(service);
    state.driver = Some(driver(class));
    for _ in 0..3 {
        for action in decide(&state).actions {
            perform(&mut state, action);
        }
    }
    state
}

/// What a write does to the state.
fn perform(state: &mut ServiceState, action: ServiceAction) {
    let mut service = ServiceView::clone(&state.service);
    let part = part_of(&mut service);
    match action {
        ServiceAction::Mark => {
            let class = part.class.clone().unwrap();
            part.annotations
                .insert(ANNOTATION_SERVICE_CLASS.to_owned(), class);
            if !part.has_finalizer() {
                part.finalizers.push(FINALIZER_SERVICE.to_owned());
            }
        }
        ServiceAction::CreateLoadBalancer(mut lb) => {
            lb.status = serde_json::from_value(json!({
                "lbInfo": {"address": format!("10.0.0.{}", state.load_balancers.len() + 1)},
                "lastSyncedDigest": lb.spec.attributes.digest(),
                "conditions": [
                    {"type": "Created", "status": "True"},
                    {"type": "AttributesSynced", "status": "True"},
                ],
            }))
            .unwrap();
            let name = name_of(&lb.metadata).to_owned();
            state.load_balancers.insert(name, Arc::new(lb));
        }
        ServiceAction::UpdateLoadBalancer(_, lb) => {
            let name = name_of(&lb.metadata).to_owned();
            state.load_balancers.insert(name, Arc::new(lb));
        }
        ServiceAction::CreateGroup(group) | ServiceAction::UpdateGroup(_, group) => {
            let name = name_of(&group.metadata).to_owned();
            state.groups.insert(name, Arc::new(group));
        }
        ServiceAction::DeleteLoadBalancer(lb) => {
            state.load_balancers.remove(name_of(&lb.metadata));
        }
        ServiceAction::DeleteGroup(group) => {
            state.groups.remove(name_of(&group.metadata));
        }
        ServiceAction::SetIngress(ingress) => part.ingress = ingress,
        ServiceAction::Release { keeps_finalizer } => {
            part.annotations.remove(ANNOTATION_SERVICE_CLASS);
            if !keeps_finalizer {
                part.finalizers.clear();
            }
        }
    }
    state.service = Arc::new(service);
}

/// The decided writes, in short.
fn writes(state: &ServiceState) -> Vec<String> {
    let actions = decide(state).actions.into_iter();
    let name =
        |metadata: &ObjectMeta| name_of(metadata).rsplitn(3, '-').collect::<Vec<_>>()[1].to_owned();
    let shown = actions.map(|action| match action {
        ServiceAction::Mark => "mark".to_owned(),
        ServiceAction::CreateLoadBalancer(lb) => format!("create lb {}", name(&lb.metadata)),
        ServiceAction::UpdateLoadBalancer(_, lb) => format!("update lb {}", name(&lb.metadata)),
        ServiceAction::DeleteLoadBalancer(lb) => format!("delete lb {}", name(&lb.metadata)),
        ServiceAction::CreateGroup(group) => format!("create group {}", name(&group.metadata)),
        ServiceAction::UpdateGroup(_, group) => format!("update group {}", name(&group.metadata)),
        ServiceAction::DeleteGroup(group) => format!("delete group {}", name(&group.metadata)),
        ServiceAction::SetIngress(ingress) => {
            let ips: Vec<_> = ingress.into_iter().map(|it| it.ip).collect();
            format!("ingress {}", ips.join(","))
        }
        ServiceAction::Release {
            keeps_finalizer: false,
        } => "release".to_owned(),
        ServiceAction::Release {
            keeps_finalizer: true,
        } => "release, keep finalizer".to_owned(),
    });
    shown.collect()
}

#[test]
fn d73_the_finalizer_is_first_and_load_balancers_are_before_groups() {
    let mut service = service();
    let part = part_of(&mut service);
    part.annotations.clear();
    part.finalizers.clear();
    let mut state = state(service);
    for expected in [
        &["mark"][..],
        &["create lb 80", "create lb 443"],
        &[
            "create group 80",
            "create group 443",
            "ingress 10.0.0.1,10.0.0.2",
        ],
        &[],
    ] {
        assert_eq!(writes(&state), expected);
        for action in decide(&state).actions {
            perform(&mut state, action);
        }
    }
    let plan = decide(&state);
    assert!(plan.is_complete && plan.problems.is_empty());
}

#[test]
fn d73_a_service_that_is_deleted_loses_groups_then_load_balancers_then_its_finalizer() {
    let mut state = settled(service(), &json!({}));
    Arc::make_mut(&mut state.service).deleting = true;
    for expected in [
        &["delete group 443", "delete group 80"][..],
        &["delete lb 443", "delete lb 80"],
        &["ingress "],
        &["release"],
        &[],
    ] {
        assert_eq!(writes(&state), expected);
        for action in decide(&state).actions {
            perform(&mut state, action);
        }
    }
}

#[test]
fn d73_a_service_of_another_type_or_class_loses_what_it_had() {
    for (class, is_load_balancer, last) in [
        (None, false, &["ingress ", "release"][..]),
        (None, true, &["release, keep finalizer"]),
        (Some("other"), true, &["release, keep finalizer"]),
    ] {
        let mut state = settled(service(), &json!({}));
        let part = part_of(Arc::make_mut(&mut state.service));
        part.class = class.map(str::to_owned);
        part.is_load_balancer = is_load_balancer;
        state.driver = None;
        let mut done = Vec::new();
        for _ in 0..8 {
            done.extend(writes(&state));
            for action in decide(&state).actions {
                perform(&mut state, action);
            }
        }
        let expected = [
            "delete group 443",
            "delete group 80",
            "delete lb 443",
            "delete lb 80",
        ];
        assert_eq!(done[..4], expected);
        assert_eq!(done[4..], *last, "{class:?}");
    }
}

#[test]
fn d73_services_of_others_are_never_written() {
    let mut plain = service();
    let part = part_of(&mut plain);
    part.annotations.clear();
    // Another controller's finalizer is no reason.
    for (class, driver, deleting, is_load_balancer) in [
        (None, false, false, true),
        (None, false, true, true),
        (None, false, false, false),
        (Some("other"), false, false, true),
        (Some("other"), false, true, true),
    ] {
        let mut service = plain.clone();
        service.deleting = deleting;
        let part = part_of(&mut service);
        part.class = class.map(str::to_owned);
        part.is_load_balancer = is_load_balancer;
        let mut state = state(service);
        if !driver {
            state.driver = None;
        }
        assert_eq!(decide(&state), ServicePlan::default(), "{class:?}");
    }
    // One of this class that is deleted before it was marked is not written either.
    let part = part_of(&mut plain);
    part.finalizers.clear();
    plain.deleting = true;
    assert_eq!(decide(&state(plain)), ServicePlan::default());
}

#[test]
fn d73_without_the_annotation_the_finalizer_of_this_class_is_removed() {
    let mut service = service();
    part_of(&mut service).annotations.clear();
    service.deleting = true;
    assert_eq!(writes(&state(service)), ["release"]);
}

#[test]
fn d72_a_class_that_has_no_driver_any_more_changes_nothing_until_the_service_is_deleted() {
    let mut state = settled(service(), &json!({}));
    state.driver = None;
    let plan = decide(&state);
    assert!(plan.actions.is_empty());
    assert!(
        plan.problems[0].contains("no LoadBalancerDriver has the class"),
        "{:?}",
        plan.problems
    );
    Arc::make_mut(&mut state.service).deleting = true;
    assert_eq!(writes(&state), ["delete group 443", "delete group 80"]);
}

#[test]
fn d72_a_port_that_is_removed_loses_its_group_then_its_load_balancer() {
    let mut state = settled(service(), &json!({}));
    Arc::make_mut(&mut state.service).ports.truncate(1);
    for expected in [
        &["delete group 443", "ingress 10.0.0.1"][..],
        &["delete lb 443"],
        &[],
    ] {
        assert_eq!(writes(&state), expected);
        for action in decide(&state).actions {
            perform(&mut state, action);
        }
    }
}

#[test]
fn d72_what_a_user_edits_is_put_back_with_one_write() {
    let mut state = settled(service(), &json!({}));
    let lb = state.load_balancers.values_mut().last().unwrap();
    let lb = Arc::make_mut(lb);
    lb.spec.attributes = StringMap::from([("chargeType", "FREE")]);
    lb.spec.scope = vec!["*".into()];
    lb.metadata.owner_references = None;
    let group = Arc::make_mut(state.groups.values_mut().last().unwrap());
    group.spec.parameters = StringMap::from([("weight", "0")]);
    assert_eq!(writes(&state), ["update lb 80", "update group 80"]);
    for action in decide(&state).actions {
        perform(&mut state, action);
    }
    assert_eq!(writes(&state), [""; 0]);
    assert_eq!(
        *state
            .load_balancers
            .values()
            .last()
            .unwrap()
            .spec
            .attributes,
        BTreeMap::from([("chargeType".to_owned(), "MONTHLY".to_owned())])
    );
}

#[test]
fn d72_a_name_that_another_controller_has_taken_is_a_problem() {
    let mut state = settled(service(), &json!({}));
    let lb = Arc::make_mut(state.load_balancers.values_mut().last().unwrap());
    lb.metadata.owner_references.as_mut().unwrap()[0].uid = "another".into();
    let plan = decide(&state);
    assert!(plan.actions.is_empty());
    assert!(
        plan.problems[0].ends_with("the name is taken: its controller is Service web"),
        "{:?}",
        plan.problems
    );
}

#[test]
fn d72_an_annotation_that_the_class_names_becomes_an_attribute() {
    let mut state = settled(service(), &json!({}));
    let part = part_of(Arc::make_mut(&mut state.service));
    part.annotations
        .insert("example.com/other".into(), "x".into());
    assert_eq!(writes(&state), ["update lb 80", "update lb 443"]);
    part_of(Arc::make_mut(&mut state.service))
        .annotations
        .remove("example.com/other");
    assert_eq!(writes(&state), [""; 0]);
}

#[test]
fn d72_one_load_balancer_for_the_service_has_all_ports() {
    let class = json!({
        "loadBalancers": "PerService", "mode": "Endpoints",
        "lbSpec": {"port": null, "protocol": null},
        "parameters": {"listener": "$(port)/$(protocol)"},
    });
    let state = settled(service(), &class);
    let lb = state.load_balancers.values().next().unwrap();
    assert_eq!((state.load_balancers.len(), state.groups.len()), (1, 2));
    assert_eq!(lb.spec.lb_spec["of"], "ns/web/uid-1");
    assert_eq!(lb.spec.lb_driver, "lbcf-clb");
    for group in state.groups.values() {
        let service = group.spec.service.as_ref().unwrap();
        assert_eq!(service.mode, Some(ServiceMode::Endpoints));
        let port = service.port.numbered().number();
        assert_eq!(group.spec.parameters["listener"], format!("{port}/TCP"));
        assert_eq!(group.spec.load_balancers, [name_of(&lb.metadata)]);
    }
    let part = state.service.load_balancer.as_ref().unwrap();
    assert_eq!(
        part.ingress[0].ports,
        [(80, "TCP".to_owned()), (443, "TCP".to_owned())]
    );
}

#[test]
fn d72_a_change_of_lb_spec_concerns_only_load_balancers_that_are_created_later() {
    let mut state = settled(service(), &json!({}));
    state.driver = Some(driver(&json!({"lbSpec": {"vpc": "vpc-2"}})));
    assert_eq!(writes(&state), [""; 0]);
    Arc::make_mut(&mut state.service)
        .ports
        .push(port("new", 81, 30081));
    let plan = decide(&state);
    let ServiceAction::CreateLoadBalancer(lb) = &plan.actions[0] else {
        panic!("{plan:?}");
    };
    assert_eq!(lb.spec.lb_spec["vpc"], "vpc-2");
}

#[test]
fn d72_an_unknown_placeholder_changes_nothing() {
    let mut state = settled(service(), &json!({}));
    state.driver = Some(driver(&json!({"lbSpec": {"port": "$(prot)"}})));
    let plan = decide(&state);
    assert!(plan.actions.is_empty() && !plan.is_complete);
    assert_eq!(
        plan.problems,
        [
            "spec.serviceClass.lbSpec[port] of LoadBalancerDriver lbcf-clb has the unknown placeholder $(prot)"
        ]
    );
}

#[test]
fn d72_a_port_without_a_node_port_is_a_problem_only_in_the_mode_node_port() {
    let mut service = service();
    part_of(&mut service).has_node_ports = false;
    service.ports[1].node_port = 0;
    let state = settled(service.clone(), &json!({}));
    assert_eq!((state.load_balancers.len(), state.groups.len()), (1, 1));
    let plan = decide(&state);
    assert!(
        plan.problems[0].starts_with("spec.allocateLoadBalancerNodePorts is false and 443/TCP"),
        "{:?}",
        plan.problems
    );
    let state = settled(service, &json!({"mode": "Endpoints"}));
    assert_eq!((state.load_balancers.len(), state.groups.len()), (2, 2));
    assert!(decide(&state).problems.is_empty());
}

#[test]
fn d72_sctp_needs_the_mode_endpoints() {
    let mut service = service();
    service.ports[1].protocol = "SCTP".into();
    let state = settled(service.clone(), &json!({}));
    assert_eq!(
        decide(&state).problems,
        ["spec.ports: 443/SCTP needs a class with the mode Endpoints"]
    );
    let state = settled(service, &json!({"mode": "Endpoints"}));
    assert_eq!(state.groups.len(), 2);
}

#[test]
fn d74_a_load_balancer_that_fails_is_a_problem_of_the_service() {
    let mut state = settled(service(), &json!({}));
    let lb = Arc::make_mut(state.load_balancers.values_mut().last().unwrap());
    lb.status = serde_json::from_value(json!({"conditions": [
        {"type": "Created", "status": "False", "reason": "OperationFailed", "message": "no quota"},
    ]}))
    .unwrap();
    let plan = decide(&state);
    assert!(plan.problems[0].ends_with(": no quota") && !plan.is_complete);
    assert_eq!(writes(&state), ["ingress 10.0.0.2"]);
}

#[test]
fn d75_a_driver_sees_the_fields_that_its_class_names() {
    let attributes = |class: Value| {
        let state = settled(service(), &class);
        let lb = state.load_balancers.values().next().unwrap();
        BTreeMap::clone(&lb.spec.attributes)
    };
    let charge = ("chargeType".to_owned(), "MONTHLY".to_owned());
    assert_eq!(attributes(json!({})), BTreeMap::from([charge.clone()]));
    let fields = json!({"serviceFields": {
        "loadBalancerSourceRanges": "clients", "sessionAffinity": "sticky",
    }});
    let ranges = ("clients".to_owned(), "10.0.0.0/8,192.0.2.0/24".to_owned());
    assert_eq!(attributes(fields), BTreeMap::from([charge, ranges]));
}

#[test]
fn d97_a_class_has_the_policies_of_its_services() {
    let class = json!({
        "ensurePolicy": {"policy": "Always", "minPeriod": "1m"},
        "deregisterPolicy": "Webhook",
        "minRegistered": 2,
    });
    let state = settled(service(), &class);
    let always = json!(class["ensurePolicy"]);
    for lb in state.load_balancers.values() {
        assert_eq!(json!(lb.spec.ensure_policy), always);
    }
    for group in state.groups.values() {
        let spec = &group.spec;
        assert_eq!(json!(spec.ensure_policy), always);
        assert_eq!(spec.min_registered, Some(2));
        let webhook = json!(spec.deregister_webhook);
        assert_eq!(webhook, json!({"driverName": "lbcf-clb"}), "its own driver");
    }
    assert_eq!((state.load_balancers.len(), state.groups.len()), (2, 2));
}

#[test]
fn d97_annotations_set_the_policies_that_the_class_allows() {
    let class = json!({
        "ensurePolicy": {"policy": "IfNotSucc", "minPeriod": "2m"},
        "minRegistered": 2,
        "policyAnnotations": {"a/e": "ensurePolicy", "a/d": "deregisterPolicy", "a/m": "minRegistered"},
    });
    let with = |annotations: Value, class: &Value| {
        let mut service = service();
        let annotations: BTreeMap<String, String> = serde_json::from_value(annotations).unwrap();
        part_of(&mut service).annotations.extend(annotations);
        let state = settled(service, class);
        let group = &state.groups.values().next().unwrap().spec;
        let policies = json!([
            group.ensure_policy,
            group.deregister_policy,
            group.min_registered
        ]);
        (policies, decide(&state).problems)
    };
    let annotations = json!({"a/e": "Always", "a/d": "IfNotRunning", "a/m": "0", "b/m": "7"});
    let always = json!({"policy": "Always", "minPeriod": "2m"});
    let set = (json!([always, "IfNotRunning", 0]), vec![]);
    assert_eq!(with(annotations, &class), set);
    let annotations = json!({"a/e": "always", "a/d": "", "a/m": "-1"});
    let (policies, problems) = with(annotations.clone(), &class);
    assert_eq!(policies, json!([class["ensurePolicy"], "IfNotReady", 2]));
    assert_eq!(
        problems,
        [
            "metadata.annotations[a/d]: \"\" is not IfNotReady, IfNotRunning or Webhook",
            "metadata.annotations[a/e]: \"always\" is not Always or IfNotSucc",
            "metadata.annotations[a/m]: \"-1\" is not a number from 0 to 2147483647",
        ]
    );
    let (policies, problems) = with(annotations, &json!({}));
    assert_eq!(
        (policies, problems),
        (json!([null, "IfNotReady", null]), vec![])
    );
}
