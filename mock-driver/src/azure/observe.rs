//! The services of LBCF in this cloud, by the identities that the controller stores.

use super::cloud::{AzureState, Frontend, ResourceId, SharedLoadBalancer};
use super::fields::AzureLbInfo;
use super::naming::FrontendTag;
use crate::cloud::{ObservedBackend, ObservedLoadBalancer};
use lbcf_driver_sdk::fields;

/// Every frontend whose tag says that LBCF asked for it.
pub(crate) fn observed(state: &AzureState) -> Vec<ObservedLoadBalancer> {
    let all = state.load_balancers.iter();
    all.flat_map(|(id, it)| {
        let names = it.resource.pools.keys();
        names.filter_map(|name| service(id, &it.resource, name))
    })
    .collect()
}

fn service(
    id: &ResourceId,
    load_balancer: &SharedLoadBalancer,
    name: &str,
) -> Option<ObservedLoadBalancer> {
    let tag = FrontendTag::read(load_balancer.tags.get(name)?)?;
    let frontend: Option<&Frontend> = load_balancer.frontends.get(name);
    let address = frontend.map(|it| it.address.clone()).unwrap_or_default();
    let lb_info = AzureLbInfo::new(name.to_owned(), id.group.clone(), tag.spec, address);
    let members = load_balancer.pools.get(name).into_iter();
    let members = members.flat_map(|pool| &pool.members);
    Some(ObservedLoadBalancer {
        lb_info: fields::write("lbInfo", &lb_info).ok()?,
        attributes: tag.attributes,
        backends: members
            .map(|(addr, member)| ObservedBackend {
                addr: addr.clone(),
                parameters: member.parameters.clone(),
            })
            .collect(),
    })
}
