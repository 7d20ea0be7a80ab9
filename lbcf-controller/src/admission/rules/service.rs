//! The selection of a Service (b80, d60, d63, d65).

use super::pods::{ProtocolCase, labels, port};
use super::{reference, sizes};
use crate::admission::field_error::FieldErrors;
use crate::api::{ServiceMode, ServicePortSelector, ServiceSelection, allowed, syntax};

pub(super) fn service(service: &ServiceSelection, errors: &mut FieldErrors) {
    reference(&service.name, "spec.service.name", errors);
    service_port(&service.port, service.mode(), errors);
    let selector = "spec.service.nodeSelector";
    labels(&service.node_selector, selector, errors);
    let families = "spec.service.addressFamilies";
    let zones = "spec.service.zones";
    match service.mode() {
        ServiceMode::NodePort => {
            if !service.address_families.is_empty() {
                errors.push(families, allowed::ONLY_WITH_ENDPOINTS);
            }
            if !service.zones.is_empty() {
                errors.push(zones, allowed::ONLY_WITH_ENDPOINTS);
            }
        }
        ServiceMode::Endpoints => {
            if !service.node_selector.is_empty() {
                errors.push(selector, allowed::ONLY_WITH_NODE_PORT);
            }
        }
    }
    sizes::count(
        service.address_families.len(),
        allowed::FAMILIES,
        families,
        errors,
    );
    sizes::count(service.zones.len(), allowed::ZONES, zones, errors);
    for (i, zone) in service.zones.iter().enumerate() {
        if zone.is_empty() || !syntax::is_label_value(zone) {
            errors.invalid(format!("{zones}[{i}]"), zone, allowed::IS_ZONE);
        }
    }
}

fn service_port(selector: &ServicePortSelector, mode: ServiceMode, errors: &mut FieldErrors) {
    let at = "spec.service.port";
    let numbered = selector.numbered();
    if let Some(name) = selector.name() {
        if !syntax::is_dns_label(name) {
            errors.invalid(format!("{at}.name"), name, allowed::IS_DNS_LABEL);
        }
        if numbered.number() != 0 || numbered.protocol.is_some() {
            errors.push(at, allowed::NAME_OR_NUMBER);
        }
        return;
    }
    let case = match mode {
        ServiceMode::NodePort => ProtocolCase::Upper,
        ServiceMode::Endpoints => ProtocolCase::UpperOrSctp,
    };
    port(&numbered, at, case, errors);
}
