//! Changes behind the driver's back, as users make them in the cloud's portal.

use super::cloud::{Member, Pool, SharedLoadBalancer};
use super::fields::AzureLbInfo;
use super::naming::FrontendTag;
use crate::cloud::Cloud;
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;

/// A service, to be changed by hand.
#[derive(Debug)]
pub(crate) struct ByHand<'a> {
    cloud: &'a Cloud,
    lb_info: AzureLbInfo,
}

impl<'a> ByHand<'a> {
    /// # Errors
    /// Why `lbInfo` names no service.
    pub(crate) fn new(cloud: &'a Cloud, lb_info: &StringMap) -> Result<Self, String> {
        let lb_info: AzureLbInfo =
            fields::read("lbInfo", lb_info).map_err(|error| error.to_string())?;
        let by_hand = Self { cloud, lb_info };
        match by_hand.change(|_| ()) {
            Some(()) => Ok(by_hand),
            None => Err(format!("no frontend {}", by_hand.lb_info.frontend)),
        }
    }

    /// Adds a backend, and returns whether it was not there.
    pub(crate) fn bind(&self, address: &str) -> bool {
        let member = Member::default();
        let bound = self.pool(|pool| pool.members.insert(address.to_owned(), member));
        bound.is_none()
    }

    /// Removes a backend, and returns whether it was there.
    pub(crate) fn unbind(&self, address: &str) -> bool {
        self.pool(|pool| pool.members.remove(address)).is_some()
    }

    /// Changes what the tag says about the attributes.
    pub(crate) fn set_attributes(&self, attributes: StringMap) {
        let tag = FrontendTag {
            spec: self.lb_info.spec(),
            attributes,
        };
        let name = &self.lb_info.frontend;
        self.change(|it| it.tags.insert(name.clone(), tag.write()));
    }

    fn pool<R>(&self, change: impl FnOnce(&mut Pool) -> Option<R>) -> Option<R> {
        let name = &self.lb_info.frontend;
        self.change(|it| it.pools.get_mut(name).and_then(change))
            .flatten()
    }

    fn change<R>(&self, change: impl FnOnce(&mut SharedLoadBalancer) -> R) -> Option<R> {
        let name = &self.lb_info.frontend;
        self.cloud
            .with_azure(|state| state.edit(|it| it.pools.contains_key(name), change))
    }
}
