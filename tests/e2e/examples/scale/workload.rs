//! The pods, and the groups that register them.

use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_controller::api::{BackendGroup, LoadBalancer};
use lbcf_e2e::manifests::{self, GROUP, LB};

/// How many services the endpoints belong to.
const SERVICES: usize = 5;
/// The label by which a service selects its pods.
const PART: &str = "part";
/// Load balancers, each with a group.
const LOAD_BALANCERS: usize = 20;
/// The label by which the group of one of them selects its pods.
const SHARD: &str = "shard";

/// By what the groups select the pods.
#[derive(Clone, Copy)]
pub(crate) enum Workload {
    /// One group selects all pods.
    Pods,
    /// The pods are the endpoints of five services, each with a group.
    Endpoints,
    /// 20 groups, each with a load balancer of its own, select the pods.
    LoadBalancers,
}

impl Workload {
    pub(crate) fn pod(number: usize) -> Pod {
        let mut pod = manifests::pod(&format!("web-{number}"));
        let labels = pod.metadata.labels.get_or_insert_default();
        labels.insert(PART.to_owned(), (number % SERVICES).to_string());
        labels.insert(SHARD.to_owned(), (number % LOAD_BALANCERS).to_string());
        pod
    }

    pub(crate) fn services(self) -> Vec<Service> {
        let number = |number: usize| {
            let mut service = manifests::service_without_selector(&service_name(number));
            let selector = [(PART.to_owned(), number.to_string())];
            service.spec.get_or_insert_default().selector = Some(selector.into());
            service
        };
        match self {
            Self::Pods | Self::LoadBalancers => Vec::new(),
            Self::Endpoints => (0..SERVICES).map(number).collect(),
        }
    }

    pub(crate) fn groups(self) -> Vec<BackendGroup> {
        let of_service = |number| {
            let service = service_name(number);
            manifests::endpoint_group(&service, &service, &[LB])
        };
        match self {
            Self::Pods => vec![manifests::group(GROUP, &[LB])],
            Self::Endpoints => (0..SERVICES).map(of_service).collect(),
            Self::LoadBalancers => (0..LOAD_BALANCERS).map(of_shard).collect(),
        }
    }

    pub(crate) fn load_balancers(self) -> Vec<LoadBalancer> {
        let names = match self {
            Self::Pods | Self::Endpoints => vec![LB.to_owned()],
            Self::LoadBalancers => (0..LOAD_BALANCERS).map(lb_name).collect(),
        };
        names
            .iter()
            .map(|name| manifests::load_balancer(name))
            .collect()
    }
}

fn of_shard(number: usize) -> BackendGroup {
    let lb = lb_name(number);
    let mut group = manifests::group(&lb, &[&lb]);
    let selection = group.spec.pods.as_mut().and_then(|it| it.by_label.as_mut());
    let selector = selection.map(|it| &mut it.selector);
    selector.map(|it| it.insert(SHARD.to_owned(), number.to_string()));
    group
}

fn lb_name(number: usize) -> String {
    format!("{LB}-{number}")
}

fn service_name(number: usize) -> String {
    format!("web-{number}")
}
