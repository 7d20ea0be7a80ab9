//! The public IP of a service.

use super::Service;
use crate::azure::naming::{FRONTEND_TAG, SERVICE_TAG, Side};
use crate::resources::azure::{PublicIp, ResourceId};
use lbcf_driver_sdk::HookError;
use std::collections::BTreeMap;

/// The public IPs of a service that it should not have: all but the one with the right name, and that
/// one, too, if the service is internal or goes. Only those whose tags name it are its own.
pub(in crate::azure) fn surplus(
    service: &Service,
    wanted: bool,
    observed: &BTreeMap<ResourceId, PublicIp>,
) -> Vec<ResourceId> {
    let keeps = wanted && service.side() == Side::Public;
    let is_surplus = |(id, public_ip): &(&ResourceId, &PublicIp)| {
        is_owned(service, public_ip) && !(keeps && **id == service.public_ip())
    };
    let surplus = observed.iter().filter(is_surplus);
    surplus.map(|(id, _)| id.clone()).collect()
}

/// The public IP of a service that is reached from the internet.
///
/// # Errors
/// If somebody else has one with this name.
pub(in crate::azure) fn present(
    service: &Service,
    found: Option<PublicIp>,
) -> Result<PublicIp, HookError> {
    if let Some(other) = found.as_ref().filter(|found| !is_owned(service, found)) {
        return Err(HookError::fail(format!(
            "public IP {} exists and has the tags {:?}: it belongs to somebody else",
            service.public_ip(),
            other.tags
        )));
    }
    let mut public_ip = found.unwrap_or_default();
    let label = service.attributes.azure_dns_label_name.as_ref();
    public_ip.dns_label = label.map(|label| label.as_str().to_owned());
    let tags = [
        (SERVICE_TAG, service.spec.service.as_str()),
        (FRONTEND_TAG, &service.frontend),
    ];
    let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned()));
    public_ip.tags.extend(tags);
    Ok(public_ip)
}

fn is_owned(service: &Service, public_ip: &PublicIp) -> bool {
    let has = |tag: &str, value: &str| public_ip.tags.get(tag).is_some_and(|it| it == value);
    has(SERVICE_TAG, service.spec.service.as_str()) && has(FRONTEND_TAG, &service.frontend)
}

/// Tells by the tags whether it is for this frontend.
pub(in crate::azure) fn is_of(frontend: &str, public_ip: &PublicIp) -> bool {
    public_ip
        .tags
        .get(FRONTEND_TAG)
        .is_some_and(|it| it == frontend)
}
