//! What somebody does in the provider's console, behind the driver's back. It is for tests of how
//! a driver gets along with that, and works during an outage of the API too.

use super::Cloud;
use super::endpoint::Endpoint;
use super::error::NotFound;
use super::model::Target;
use lbcf_driver_sdk::webhook::StringMap;

impl Cloud {
    /// Binds a target that LBCF has not registered. Gives no for an address that is bound already,
    /// by whomever: that one stays as it is.
    pub(crate) fn bind_by_hand(
        &self,
        endpoint: &Endpoint,
        address: &str,
    ) -> Result<bool, NotFound> {
        let foreign = Target {
            weight: 100,
            parameters: StringMap::new(),
        };
        self.with(|model, _| {
            if model.group_mut(endpoint)?.targets.contains_key(address) {
                return Ok(false);
            }
            model.bind(endpoint, address, foreign)?;
            Ok(true)
        })
    }

    /// Unbinds a target; gives whether it was bound.
    pub(crate) fn unbind_by_hand(
        &self,
        endpoint: &Endpoint,
        address: &str,
    ) -> Result<bool, NotFound> {
        self.with(|model, _| model.unbind(endpoint, address))
    }

    /// Replaces an endpoint's attributes.
    pub(crate) fn set_attributes_by_hand(
        &self,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<(), NotFound> {
        self.with(|model, _| model.set_attributes(endpoint, attributes))
    }
}
