use super::*;
use crate::api::{
    BackendGroupSpec, ObjectKey, PodSelection, PortSelector, SelectPodByLabel, ServicePortSelector,
    ServiceSelection, StringMap,
};
use crate::index::{ServicePortView, ServiceView, UsableLoadBalancer};
use lbcf_driver_sdk::webhook::Protocol;
use std::sync::Arc;

struct Case {
    group: BackendGroup,
    load_balancers: BTreeMap<String, LoadBalancerUse>,
    service: Option<ServiceView>,
    counts: OwnerCounts,
    owner: OwnerView,
    /// Backends, and registered ones.
    status: (i32, i32),
}

/// A group of one pod that is registered at one load balancer.
fn case() -> Case {
    let mut group = BackendGroup::new(
        "web",
        BackendGroupSpec {
            pods: Some(PodSelection {
                ports: vec![PortSelector::new(80, Protocol::Tcp)],
                by_label: Some(SelectPodByLabel {
                    selector: [("app".to_owned(), "web".to_owned())].into(),
                    except: Vec::new(),
                }),
                ..PodSelection::default()
            }),
            ..BackendGroupSpec::default()
        },
    );
    group.metadata.namespace = Some("ns".into());
    Case {
        group,
        load_balancers: BTreeMap::from([("a".to_owned(), usable())]),
        service: None,
        counts: OwnerCounts {
            load_balancers: 1,
            pods: 1,
            records: 1,
            registered: 1,
            ..OwnerCounts::default()
        },
        owner: OwnerView::default(),
        status: (1, 1),
    }
}

/// A group of a service on no node.
fn case_of_service() -> Case {
    let mut case = case();
    case.group.spec.pods = None;
    case.group.spec.service = Some(ServiceSelection {
        name: "svc".into(),
        port: ServicePortSelector::new(80, Protocol::Tcp),
        ..ServiceSelection::default()
    });
    case.service = Some(ServiceView {
        key: ObjectKey::new("ns", "svc"),
        version: 1,
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
        load_balancer: None,
    });
    case.counts.records = 0;
    case.status = (1, 0);
    case
}

fn usable() -> LoadBalancerUse {
    LoadBalancerUse::Usable(UsableLoadBalancer {
        driver: "driver".into(),
        lb_info: StringMap::default(),
        attributes: StringMap::default(),
    })
}

impl Case {
    fn wait(&self) -> Option<Wait> {
        let status = BackendGroupStatus {
            backends: self.status.0,
            registered_backends: self.status.1,
            ..BackendGroupStatus::default()
        };
        let view = GroupView {
            load_balancers: &self.load_balancers,
            service: &SelectedService {
                service: self.service.clone().map(Arc::new),
                slices: Vec::new(),
            },
            counts: &OwnerCounts {
                load_balancers: self.counts.load_balancers,
                pods: self.counts.pods,
                records: self.counts.records,
                registered: self.counts.registered,
                ..OwnerCounts::default()
            },
            owner: OwnerView {
                has_unready_pods: self.owner.has_unready_pods,
                conflict: self.owner.conflict.clone(),
                is_refused: self.owner.is_refused,
            },
        };
        waiting(&self.group, &status, &view)
    }

    fn reason_and_message(&self) -> (&'static str, String) {
        let wait = self.wait().expect("it waits");
        (wait.reason, wait.message)
    }

    fn reason(&self) -> Option<&'static str> {
        self.wait().map(|wait| wait.reason)
    }
}

#[test]
fn d44_a_group_with_all_backends_registered_does_not_wait() {
    assert_eq!(case().reason(), None);
    let mut kept = case();
    // A pod that is not Ready and stays registered by its policy.
    kept.owner.has_unready_pods = true;
    assert_eq!(kept.reason(), None);
}

#[test]
fn d44_a_group_names_the_load_balancers_that_it_cannot_use() {
    use UnusableLoadBalancer::{Deleting, Missing, NotCreated, OutOfScope};
    for (lb, reason, message) in [
        (
            LoadBalancerUse::Unusable(Missing),
            "LoadBalancerNotFound",
            "LoadBalancer ns/b not found",
        ),
        (
            LoadBalancerUse::Unusable(Deleting),
            "LoadBalancerDeleting",
            "LoadBalancer ns/b is being deleted",
        ),
        (
            LoadBalancerUse::Unusable(NotCreated),
            "LoadBalancerNotCreated",
            "LoadBalancer ns/b is not created yet; its condition Created has the reason",
        ),
        (
            LoadBalancerUse::Unusable(OutOfScope),
            "LoadBalancerOutOfScope",
            "LoadBalancer ns/b cannot be used: its spec.scope does not include ns",
        ),
        (
            LoadBalancerUse::Unknown,
            "LoadBalancerUnreadable",
            "LoadBalancer ns/b cannot be parsed; what is registered with it stays so",
        ),
    ] {
        let mut case = case();
        case.load_balancers.insert("b".into(), lb);
        assert_eq!(case.reason_and_message(), (reason, message.to_owned()));
    }
    let mut several = case();
    let lbs = [
        ("b", LoadBalancerUse::Unusable(NotCreated)),
        ("lbcf-c", LoadBalancerUse::Unusable(Missing)),
    ];
    let lbs = lbs.map(|(name, lb)| (name.to_owned(), lb));
    several.load_balancers.extend(lbs);
    let (reason, message) = several.reason_and_message();
    assert_eq!(reason, "LoadBalancerNotFound", "a user has to act");
    assert!(
        message.starts_with("LoadBalancer kube-system/lbcf-c not found, LoadBalancer ns/b "),
        "{message}"
    );
    several.load_balancers.clear();
    assert_eq!(several.reason(), Some("NoLoadBalancers"));
}

#[test]
fn d44_a_group_names_what_its_service_lacks() {
    let mut case = case_of_service();
    assert_eq!(case.reason(), Some("NoNodesSelected"));
    assert_eq!(
        case.reason_and_message().1,
        "Service ns/svc: there is no node that load balancers may use"
    );
    if let Some(service) = &mut case.service {
        service.is_local = true;
    }
    if let Some(service) = &mut case.group.spec.service {
        service.node_selector = BTreeMap::from([("pool".into(), "web".into())]);
    }
    assert_eq!(
        case.reason_and_message().1,
        "Service ns/svc: there is no node with the labels pool=web that load balancers may use, and a Ready \
         pod of the Service, which has externalTrafficPolicy Local"
    );
    if let Some(service) = &mut case.group.spec.service {
        service.port = ServicePortSelector::named("https");
    }
    assert_eq!(
        case.reason_and_message().1,
        "Service ns/svc has no node port for port \"https\""
    );
    if let Some(service) = &mut case.group.spec.service {
        service.port = ServicePortSelector::new(81, Protocol::Tcp);
    }
    let (reason, message) = case.reason_and_message();
    assert_eq!(reason, "NoNodePort");
    assert_eq!(message, "Service ns/svc has no node port for port 81/TCP");
    if let Some(service) = &mut case.service {
        service.has_node_ports = false;
    }
    let (reason, message) = case.reason_and_message();
    assert_eq!(reason, "NoNodePort");
    assert!(message.contains("NodePort or LoadBalancer"), "{message}");
    case.service = None;
    assert_eq!(case.reason(), Some("ServiceNotFound"));
}

#[test]
fn d44_a_service_whose_records_cannot_be_written_has_nodes() {
    let mut case = case_of_service();
    case.owner.is_refused = true;
    assert_eq!(case.reason(), Some("BackendRecordsRefused"));
    case.owner.conflict = Some("taken".into());
    assert_eq!(case.reason(), Some("BackendRecordConflict"));
    let mut registering = case_of_service();
    registering.counts.records = 2;
    assert_eq!(registering.reason(), Some("Registering"));
}

#[test]
fn d44_a_group_without_addresses_or_pods_says_so() {
    let mut addresses = case();
    addresses.group.spec.pods = None;
    addresses.status = (0, 0);
    assert_eq!(addresses.reason(), Some("NoAddresses"));
    addresses.status = (2, 1);
    assert_eq!(addresses.reason(), Some("Registering"));
    let mut pods = case();
    (pods.counts.pods, pods.status) = (0, (0, 0));
    assert_eq!(pods.reason(), Some("NoPodsSelected"));
    (pods.counts.pods, pods.status) = (2, (2, 1));
    pods.owner.has_unready_pods = true;
    assert_eq!(pods.reason(), Some("PodsNotReady"));
}
