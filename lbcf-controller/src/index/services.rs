//! Services, reduced to what reconciling needs.

use super::store::{Versioned, version_of};
use crate::api::names::{ANNOTATION_SERVICE_CLASS, FINALIZER_SERVICE};
use crate::api::{ObjectKey, ServicePortSelector, key_of};
use k8s_openapi::api::core::v1::{LoadBalancerIngress, Service, ServiceSpec, ServiceStatus};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::ObjectMeta;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;
use std::net::IpAddr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceView {
    pub key: ObjectKey,
    pub version: u64,
    /// Its type is ExternalName: a name in DNS, without endpoints.
    pub is_external_name: bool,
    /// True if its type is NodePort or LoadBalancer.
    pub has_node_ports: bool,
    pub ports: Vec<ServicePortView>,
    pub selector: BTreeMap<String, String>,
    /// `externalTrafficPolicy: Local`: a node forwards only to its own pods.
    pub is_local: bool,
    pub deleting: bool,
    /// Those of the cluster and of its load balancers, as text.
    pub addresses: Vec<String>,
    /// The part that concerns its load balancers, if it may have any of a class.
    pub load_balancer: Option<Box<ServiceLoadBalancer>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServicePortView {
    /// Empty if it has none, as the only port of a service may.
    pub name: String,
    pub port: i32,
    pub protocol: String,
    /// 0 if there is none.
    pub node_port: i32,
    /// The port of a pod that it forwards to; none if that is a name, which means another number in
    /// each pod.
    pub target_port: Option<i32>,
}

impl ServiceView {
    pub(crate) fn of(service: &Service) -> Self {
        let (spec, status) = (service.spec.as_ref(), service.status.as_ref());
        Self::new(&service.metadata, spec, status)
    }

    pub(crate) fn new(
        metadata: &ObjectMeta,
        spec: Option<&ServiceSpec>,
        status: Option<&ServiceStatus>,
    ) -> Self {
        let type_ = spec.and_then(|spec| spec.type_.as_deref());
        let ports = spec.and_then(|spec| spec.ports.as_ref());
        Self {
            key: key_of(metadata),
            version: version_of(metadata),
            is_external_name: type_ == Some("ExternalName"),
            has_node_ports: matches!(type_, Some("NodePort" | "LoadBalancer")),
            ports: ports
                .into_iter()
                .flatten()
                .map(|port| ServicePortView {
                    name: port.name.clone().unwrap_or_default(),
                    port: port.port,
                    protocol: port.protocol.clone().unwrap_or_else(|| "TCP".to_owned()),
                    node_port: port.node_port.unwrap_or(0),
                    target_port: match &port.target_port {
                        // Go clients write 0 for an absent number.
                        None | Some(IntOrString::Int(0)) => Some(port.port),
                        Some(IntOrString::Int(number)) => Some(*number),
                        Some(IntOrString::String(text)) => text.parse().ok(),
                    },
                })
                .collect(),
            selector: spec
                .and_then(|spec| spec.selector.clone())
                .unwrap_or_default(),
            is_local: spec.and_then(|spec| spec.external_traffic_policy.as_deref())
                == Some("Local"),
            deleting: metadata.deletion_timestamp.is_some(),
            addresses: addresses(spec, status),
            load_balancer: ServiceLoadBalancer::of(metadata, spec, status),
        }
    }

    /// The port that a group selects, by name or by number.
    pub(crate) fn port(&self, selector: &ServicePortSelector) -> Option<&ServicePortView> {
        let numbered = selector.numbered();
        let (number, protocol) = (numbered.number(), numbered.protocol());
        let mut ports = self.ports.iter();
        match selector.name() {
            Some(name) => ports.find(|port| port.name == name),
            None => ports.find(|port| port.port == number && port.protocol == protocol.as_str()),
        }
    }

    /// The port on each node that forwards to a port of the service.
    pub(crate) fn node_port(&self, port: i32, protocol: &str) -> Option<i32> {
        if self.deleting || !self.has_node_ports {
            return None;
        }
        self.ports
            .iter()
            .find(|known| known.port == port && known.protocol == protocol)
            .map(|known| known.node_port)
            .filter(|node_port| *node_port != 0)
    }

    /// True if nothing changed that concerns groups.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        let bare = |view: &Self| Self {
            version: 0,
            addresses: Vec::new(),
            load_balancer: None,
            ..view.clone()
        };
        bare(self) == bare(other)
    }
}

/// In the spelling in which drivers' addresses are shown. Without external addresses, which any user may write.
fn addresses(spec: Option<&ServiceSpec>, status: Option<&ServiceStatus>) -> Vec<String> {
    let of_cluster = spec.and_then(|spec| spec.cluster_ips.as_ref());
    let of_cluster = of_cluster.into_iter().flatten();
    let balancer = status.and_then(|status| status.load_balancer.as_ref());
    let ingress = balancer.and_then(|balancer| balancer.ingress.as_ref());
    let ingress = ingress.into_iter().flatten();
    let announced = ingress.flat_map(|it| [&it.ip, &it.hostname]).flatten();
    let all = of_cluster.chain(announced).filter(|it| *it != "None");
    let spelt = |address: &String| match address.parse::<IpAddr>() {
        Ok(ip) => ip.to_canonical().to_string(),
        Err(_) => address.to_ascii_lowercase(),
    };
    all.map(spelt).collect()
}

impl Versioned for ServiceView {
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }
}

impl ServicePortView {
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol.parse().unwrap_or_default()
    }
}

/// The annotation in which kubectl keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServiceLoadBalancer {
    pub uid: String,
    /// `spec.loadBalancerClass` if the type is LoadBalancer.
    pub class: Option<String>,
    /// True if the type is LoadBalancer.
    pub is_load_balancer: bool,
    pub annotations: BTreeMap<String, String>,
    pub finalizers: Vec<String>,
    pub ingress: Vec<Ingress>,
    /// The fields of its spec that a class may pass to its driver, by name.
    pub fields: BTreeMap<&'static str, String>,
    /// True if node ports are allocated.
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
