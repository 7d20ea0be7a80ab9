use super::*;
use serde_json::json;

pub(super) fn service(version: u64) -> ServiceView {
    ServiceView {
        key: key("svc"),
        version,
        is_external_name: false,
        has_node_ports: true,
        ports: vec![ServicePortView {
            name: "http".into(),
            port: 80,
            protocol: "TCP".into(),
            node_port: 30080,
            target_port: Some(8080),
        }],
        selector: BTreeMap::from([("app".into(), "web".into())]),
        is_local: false,
        deleting: false,
        addresses: Vec::new(),
        load_balancer: None,
    }
}

fn service_group(node_selector: &[(&str, &str)], version: u64) -> BackendGroup {
    let mut group = group("web", &[], version);
    group.spec.pods = None;
    group.spec.service = Some(ServiceSelection {
        name: "svc".into(),
        node_selector: node_selector
            .iter()
            .map(|&(label, value)| (label.into(), value.into()))
            .collect(),
        ..ServiceSelection::default()
    });
    group
}

pub(super) fn node(name: &str, pool: &str, version: u64) -> NodeView {
    NodeView {
        key: ObjectKey::new("", name),
        version,
        labels: BTreeMap::from([("pool".into(), pool.into())]),
        addresses: Vec::new(),
        usable: true,
    }
}

#[test]
fn d100_the_addresses_of_a_service_have_one_spelling() {
    let service = json!({
        "metadata": {"name": "svc", "namespace": "ns"},
        "spec": {"clusterIPs": ["10.0.0.1", "FD00::1"], "externalIPs": ["192.0.2.1"]},
        "status": {"loadBalancer": {"ingress": [{"ip": "::ffff:203.0.113.1"}, {"hostname": "LB.example.com"}]}},
    });
    let service = serde_json::from_value(service).unwrap();
    let expected = ["10.0.0.1", "fd00::1", "203.0.113.1", "lb.example.com"];
    assert_eq!(ServiceView::of(&service).addresses, expected);
    let headless = serde_json::from_value(json!({"spec": {"clusterIPs": ["None"]}}));
    assert!(ServiceView::of(&headless.unwrap()).addresses.is_empty());
}

#[test]
fn u14_b118_a_service_change_is_detected_by_its_content() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 1)));
    Indexed::apply(&mut index, StoreEvent::Apply(service(2)));
    Indexed::apply(&mut index, StoreEvent::Apply(service_group(&[], 3)));
    assert_eq!(pending(&mut index), ["n0"]);
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(service(4))).is_empty());
    let mut moved = service(5);
    moved.ports[0].node_port = 30081;
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(moved));
    assert_eq!(requests, [Request::high(RequestKey::Group(key("web")))]);
    assert_eq!(pending(&mut index), ["n0"]);
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Delete(service(6))).len(),
        1
    );
}

#[test]
fn u15_b22_a_node_enqueues_the_groups_that_select_it() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(service(1)));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(service_group(&[("pool", "a")], 2)),
    );
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "b", 3))).is_empty());
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 4))).len(),
        1
    );
    assert!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 5))).is_empty(),
        "a heartbeat"
    );
    let mut excluded = node("n0", "a", 6);
    excluded.usable = false;
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(excluded));
    assert_eq!(requests, [Request::high(RequestKey::Group(key("web")))]);
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "b", 7))).len(),
        1,
        "it no longer matches the group"
    );
}

#[test]
fn u16_the_nodes_of_a_local_services_pods_are_indexed() {
    let mut index = Index::default();
    let owner = of_group("web");
    Indexed::apply(&mut index, StoreEvent::Apply(service_group(&[], 1)));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("p0", &[("app", "web")], 2)),
    );
    Indexed::apply(&mut index, StoreEvent::Apply(service(3)));
    assert!(
        !index.selections.has_available_on(&owner, "n0"),
        "it is not needed"
    );
    let mut local = service(4);
    local.is_local = true;
    Indexed::apply(&mut index, StoreEvent::Apply(local));
    assert!(index.selections.has_available_on(&owner, "n0"));
    pending(&mut index);
    let mut not_ready = pod("p0", &[("app", "web")], 5);
    not_ready.ready = false;
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(not_ready));
    assert_eq!(requests, [Request::high(RequestKey::Group(key("web")))]);
    assert_eq!(pending(&mut index), ["n0"], "the node, not the pod");
    assert!(!index.selections.has_available_on(&owner, "n0"));
}
