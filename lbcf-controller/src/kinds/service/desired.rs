//! The LoadBalancers and BackendGroups that a Service of a class should have. No I/O, no clock.

use super::policies::with_annotations;
use crate::api::placeholders::{OF_PORT, OF_SERVICE, expand, first_unknown};
use crate::api::{
    BackendGroup, BackendGroupSpec, DeregisterPolicy, DeregisterWebhook, LoadBalancer,
    LoadBalancerDriver, LoadBalancerSpec, LoadBalancersOfService, ServiceClass, ServiceMode,
    ServicePortSelector, ServiceSelection, StringMap, names,
};
use crate::index::{ServiceLoadBalancer, ServicePortView, ServiceView};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

/// The objects that a Service should have. Both lists are in the order of its ports.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DesiredObjects {
    pub(super) load_balancers: Vec<LoadBalancer>,
    pub(super) groups: Vec<BackendGroup>,
    /// The ports of each load balancer, as the status shows them.
    pub(super) ports: BTreeMap<String, Vec<(i32, String)>>,
    /// Why some ports have nothing.
    pub(super) problems: Vec<String>,
}

/// # Errors
/// Why it is unknown what the Service should have, so that what it has stays.
pub(super) fn desired(
    service: &ServiceView,
    part: &ServiceLoadBalancer,
    driver: &LoadBalancerDriver,
) -> Result<DesiredObjects, String> {
    let mut desired = DesiredObjects::default();
    let Some(class) = &driver.spec.service_class else {
        return Err("its driver does not have the class any more".to_owned());
    };
    // Admission refuses them, but may not be installed.
    let is_known = |name: &str| OF_SERVICE.contains(&name) || OF_PORT.contains(&name);
    for (field, map) in [
        ("lbSpec", &class.lb_spec),
        ("parameters", &class.parameters),
    ] {
        if let Some((key, name)) = first_unknown(map, is_known) {
            let driver = driver.metadata.name.as_deref().unwrap_or_default();
            return Err(format!(
                "spec.serviceClass.{field}[{key}] of LoadBalancerDriver {driver} has the unknown placeholder $({name})"
            ));
        }
    }
    let class = with_annotations(class, &part.annotations, &mut desired.problems);
    let plan = Plan {
        service,
        part,
        class: &class,
        driver: driver.metadata.name.clone().unwrap_or_default(),
    };
    for port in &service.ports {
        match plan.problem(port) {
            Some(problem) => desired.problems.push(problem),
            None => plan.add(port, &mut desired),
        }
    }
    Ok(desired)
}

struct Plan<'a> {
    service: &'a ServiceView,
    part: &'a ServiceLoadBalancer,
    class: &'a ServiceClass,
    driver: String,
}

impl Plan<'_> {
    /// Why a port cannot have backends.
    fn problem(&self, port: &ServicePortView) -> Option<String> {
        let (number, protocol) = (port.port, &port.protocol);
        if self.class.mode() == ServiceMode::Endpoints {
            return None;
        }
        if protocol == "SCTP" {
            return Some(format!(
                "spec.ports: {number}/SCTP needs a class with the mode Endpoints"
            ));
        }
        if !self.part.has_node_ports && port.node_port == 0 {
            return Some(format!(
                "spec.allocateLoadBalancerNodePorts is false and {number}/{protocol} has no node port, which the class needs because its mode is NodePort"
            ));
        }
        None
    }

    fn add(&self, port: &ServicePortView, desired: &mut DesiredObjects) {
        let (key, uid) = (&self.service.key, &self.part.uid);
        let of_port = Some((port.port, port.protocol.as_str()));
        let values = self.values(port);
        let name = match self.class.load_balancers() {
            LoadBalancersOfService::PerPort => names::of_service(&key.name, uid, of_port),
            LoadBalancersOfService::PerService => names::of_service(&key.name, uid, None),
        };
        let ports = desired.ports.entry(name.clone()).or_default();
        if ports.is_empty() {
            desired.load_balancers.push(LoadBalancer {
                metadata: self.metadata(name.clone()),
                spec: LoadBalancerSpec {
                    lb_driver: self.driver.clone(),
                    lb_spec: expand(&self.class.lb_spec, &values),
                    attributes: self.attributes(),
                    ensure_policy: self.class.ensure_policy.clone(),
                    ..LoadBalancerSpec::default()
                },
                status: None,
            });
        }
        ports.push((port.port, port.protocol.clone()));
        let group = names::of_service(&key.name, uid, of_port);
        desired.groups.push(self.group(group, name, port, &values));
    }

    fn group(
        &self,
        name: String,
        load_balancer: String,
        port: &ServicePortView,
        values: &[(&str, String)],
    ) -> BackendGroup {
        let protocol: Protocol = port.protocol();
        let policy = self.class.deregister_policy.unwrap_or_default();
        BackendGroup {
            metadata: self.metadata(name),
            spec: BackendGroupSpec {
                load_balancers: vec![load_balancer],
                service: Some(ServiceSelection {
                    name: self.service.key.name.to_string(),
                    mode: Some(self.class.mode()),
                    port: ServicePortSelector::new(port.port, protocol),
                    ..ServiceSelection::default()
                }),
                parameters: expand(&self.class.parameters, values),
                // As admission would set it: what is stored has to be equal.
                deregister_policy: Some(policy),
                deregister_webhook: (policy == DeregisterPolicy::Webhook).then(|| {
                    DeregisterWebhook {
                        driver_name: self.driver.clone(),
                        failure_policy: None,
                    }
                }),
                min_registered: self.class.min_registered,
                ensure_policy: self.class.ensure_policy.clone(),
                ..BackendGroupSpec::default()
            },
            status: None,
        }
    }

    fn values(&self, port: &ServicePortView) -> [(&'static str, String); 5] {
        let key = &self.service.key;
        [
            ("port", port.port.to_string()),
            ("protocol", port.protocol.clone()),
            ("namespace", key.namespace.to_string()),
            ("name", key.name.to_string()),
            ("uid", self.part.uid.clone()),
        ]
    }

    fn attributes(&self) -> StringMap {
        let attributes = self.class.attributes.iter();
        let present = attributes.filter_map(|(annotation, attribute)| {
            let value = self.part.annotations.get(annotation)?;
            Some((attribute.clone(), value.clone()))
        });
        let fields = self.class.service_fields.iter();
        let fields = fields.filter_map(|(field, attribute)| {
            let value = self.part.fields.get(field.as_str())?;
            Some((attribute.clone(), value.clone()))
        });
        present.chain(fields).collect::<BTreeMap<_, _>>().into()
    }

    fn metadata(&self, name: String) -> ObjectMeta {
        let key = &self.service.key;
        let label = (
            names::LABEL_SERVICE.to_owned(),
            names::label_value(&key.name),
        );
        ObjectMeta {
            name: Some(name),
            namespace: Some(key.namespace.to_string()),
            labels: Some(BTreeMap::from([label])),
            owner_references: Some(vec![owner(self.service, self.part)]),
            ..ObjectMeta::default()
        }
    }
}

/// The reference of the objects to their Service. They do not block its deletion, which its finalizer does, so
/// that no permission for `services/finalizers` is needed.
fn owner(service: &ServiceView, part: &ServiceLoadBalancer) -> OwnerReference {
    OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Service".to_owned(),
        name: service.key.name.to_string(),
        uid: part.uid.clone(),
        controller: Some(true),
        block_owner_deletion: None,
    }
}
