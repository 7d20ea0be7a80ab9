//! The fields that reconciling needs of a Service that has, had or may get load balancers of a class.
//! Other Services cost no memory for it.

use crate::api::names::{ANNOTATION_SERVICE_CLASS, FINALIZER_SERVICE};
use k8s_openapi::api::core::v1::{LoadBalancerIngress, ServiceSpec, ServiceStatus};
use kube::api::ObjectMeta;
use std::collections::BTreeMap;

/// The annotation in which kubectl keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServiceLoadBalancer {
    pub uid: String,
    /// `spec.loadBalancerClass` if the type is LoadBalancer.
    pub class: Option<String>,
    /// False if the type of a Service that had a load balancer of a class was changed: the load
    /// balancer must be deleted.
    pub is_load_balancer: bool,
    pub annotations: BTreeMap<String, String>,
    pub finalizers: Vec<String>,
    pub ingress: Vec<Ingress>,
    /// The fields of its spec that a class may pass to its driver, by name (d75).
    pub fields: BTreeMap<&'static str, String>,
    pub has_node_ports: bool,
}

/// An address in `status.loadBalancer.ingress`, with its ports.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ingress {
    pub ip: String,
    pub hostname: String,
    /// Numbers and protocols.
    pub ports: Vec<(i32, String)>,
}

impl ServiceLoadBalancer {
    pub(super) fn of(
        metadata: &ObjectMeta,
        spec: Option<&ServiceSpec>,
        status: Option<&ServiceStatus>,
    ) -> Option<Box<Self>> {
        let is_load_balancer = spec.and_then(|spec| spec.type_.as_deref()) == Some("LoadBalancer");
        let class = spec.and_then(|spec| spec.load_balancer_class.clone());
        let class = class.filter(|_| is_load_balancer);
        let finalizers = metadata.finalizers.clone().unwrap_or_default();
        let mut annotations = metadata.annotations.clone().unwrap_or_default();
        let is_marked = annotations.contains_key(ANNOTATION_SERVICE_CLASS)
            || finalizers.iter().any(|it| it == FINALIZER_SERVICE);
        if class.is_none() && !is_marked {
            return None;
        }
        annotations.remove(LAST_APPLIED);
        let balancer = status.and_then(|status| status.load_balancer.as_ref());
        let ingress = balancer.and_then(|balancer| balancer.ingress.as_ref());
        let allocates = spec.and_then(|spec| spec.allocate_load_balancer_node_ports);
        Some(Box::new(Self {
            uid: metadata.uid.clone().unwrap_or_default(),
            class,
            is_load_balancer,
            annotations,
            finalizers,
            ingress: ingress.into_iter().flatten().map(Ingress::of).collect(),
            fields: spec.map(fields_of).unwrap_or_default(),
            has_node_ports: allocates != Some(false),
        }))
    }

    /// The class whose load balancers the Service has or had, as far as the controller has stored it.
    pub(crate) fn marked_class(&self) -> Option<&str> {
        let class = self.annotations.get(ANNOTATION_SERVICE_CLASS);
        class.map(String::as_str)
    }

    pub(crate) fn has_finalizer(&self) -> bool {
        self.finalizers.iter().any(|it| it == FINALIZER_SERVICE)
    }
}

/// The fields of [`SERVICE_FIELDS`](crate::api::allowed::SERVICE_FIELDS) that are set.
fn fields_of(spec: &ServiceSpec) -> BTreeMap<&'static str, String> {
    let list = |items: &Option<Vec<String>>| items.as_ref().map(|items| items.join(","));
    let port = spec.health_check_node_port.filter(|port| *port != 0);
    let fields = [
        (
            "externalTrafficPolicy",
            spec.external_traffic_policy.clone(),
        ),
        ("healthCheckNodePort", port.map(|port| port.to_string())),
        ("ipFamilies", list(&spec.ip_families)),
        ("ipFamilyPolicy", spec.ip_family_policy.clone()),
        ("loadBalancerIP", spec.load_balancer_ip.clone()),
        (
            "loadBalancerSourceRanges",
            list(&spec.load_balancer_source_ranges),
        ),
        ("sessionAffinity", spec.session_affinity.clone()),
    ];
    let set = fields.into_iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some((name, value))
    });
    set.collect()
}

impl Ingress {
    fn of(ingress: &LoadBalancerIngress) -> Self {
        let ports = ingress.ports.iter().flatten();
        Self {
            ip: ingress.ip.clone().unwrap_or_default(),
            hostname: ingress.hostname.clone().unwrap_or_default(),
            ports: ports
                .map(|port| (port.port, port.protocol.clone()))
                .collect(),
        }
    }
}
