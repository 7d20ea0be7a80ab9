//! Changes of both clouds behind the driver's back, as users make them in a provider's console.

use crate::azure::{AzureLbInfo, FrontendTag};
use crate::cloud::Cloud;
use crate::fields::LbInfo;
use crate::resources::azure::SharedLoadBalancer;
use crate::resources::{Target, TargetGroup};
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;

/// A change of one load balancer.
#[derive(Debug)]
pub(crate) enum ChangeByHand {
    /// Binds a backend that LBCF has not registered, unless the address is bound.
    Bind(String),
    Unbind(String),
    /// Replaces all attributes.
    Attributes(StringMap),
}

impl ChangeByHand {
    /// Makes the change, and returns whether it changed anything.
    ///
    /// # Errors
    /// Why `lbInfo` names no load balancer.
    pub(crate) fn apply(self, cloud: &Cloud, lb_info: &StringMap) -> Result<bool, String> {
        if !cloud.is_azure() {
            let lb_info: LbInfo = read(lb_info)?;
            let changed = cloud.change_by_hand(&lb_info.into(), |group| self.clb(group));
            return changed.map_err(|error| error.to_string());
        }
        let lb_info: AzureLbInfo = read(lb_info)?;
        let name = &lb_info.frontend;
        let fits = |it: &SharedLoadBalancer| it.pools.contains_key(name);
        cloud
            .with_azure(|state| state.edit(fits, |it| self.azure(it, &lb_info)))
            .ok_or_else(|| format!("no frontend {name}"))
    }

    fn clb(self, group: &mut TargetGroup) -> bool {
        match self {
            Self::Bind(address) if group.targets.contains_key(&address) => false,
            Self::Bind(address) => {
                let foreign = Target {
                    weight: 100,
                    parameters: StringMap::new(),
                    record_id: None,
                };
                group.targets.insert(address, foreign).is_none()
            }
            Self::Unbind(address) => group.targets.remove(&address).is_some(),
            Self::Attributes(attributes) => {
                group.attributes = attributes;
                true
            }
        }
    }

    fn azure(self, load_balancer: &mut SharedLoadBalancer, lb_info: &AzureLbInfo) -> bool {
        let pool = load_balancer.pools.entry(lb_info.frontend.clone());
        let members = &mut pool.or_default().members;
        match self {
            Self::Bind(address) if members.contains_key(&address) => false,
            Self::Bind(address) => members.insert(address, Default::default()).is_none(),
            Self::Unbind(address) => members.remove(&address).is_some(),
            Self::Attributes(attributes) => {
                let spec = lb_info.spec();
                let tag = FrontendTag { spec, attributes }.write();
                load_balancer.tags.insert(lb_info.frontend.clone(), tag);
                true
            }
        }
    }
}

fn read<T: fields::Fields>(lb_info: &StringMap) -> Result<T, String> {
    fields::read("lbInfo", lb_info).map_err(|error| error.to_string())
}
