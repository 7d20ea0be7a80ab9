//! The pods, and the groups that register them.

use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_controller::api::BackendGroup;
use lbcf_e2e::manifests::{self, GROUP, LB};

/// How many services the endpoints belong to.
const SERVICES: usize = 5;
/// The label by which a service selects its pods.
const PART: &str = "part";

/// By what the groups select the pods.
#[derive(Clone, Copy)]
pub(crate) enum Workload {
    /// One group selects all pods.
    Pods,
    /// The pods are the endpoints of five services, each with a group.
    Endpoints,
}

impl Workload {
    pub(crate) fn pod(number: usize) -> Pod {
        let mut pod = manifests::pod(&format!("web-{number}"));
        let labels = pod.metadata.labels.get_or_insert_default();
        labels.insert(PART.to_owned(), (number % SERVICES).to_string());
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
            Self::Pods => Vec::new(),
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
        }
    }
}

fn service_name(number: usize) -> String {
    format!("web-{number}")
}
