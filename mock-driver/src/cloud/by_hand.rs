//! Changes that a user makes in the provider's console, for tests of how a driver copes with them.
//! They work during an outage of the API, too.

use super::Cloud;
use super::changes::Scope;
use super::endpoint::Endpoint;
use super::error::NotFound;
use super::model::Target;
use lbcf_driver_sdk::webhook::StringMap;

impl Cloud {
    /// Binds a target that LBCF has not registered. Returns false, and changes nothing, if the
    /// address is bound already.
    pub(crate) fn bind_by_hand(
        &self,
        endpoint: &Endpoint,
        address: &str,
    ) -> Result<bool, NotFound> {
        let foreign = Target {
            weight: 100,
            parameters: StringMap::new(),
            record_id: None,
        };
        self.with_scope(Scope::Target(endpoint, address), |model, _| {
            if model.group_mut(endpoint)?.targets.contains_key(address) {
                return Ok(false);
            }
            model.bind(endpoint, address, foreign)?;
            Ok(true)
        })
    }

    /// Unbinds a target, and returns whether it was bound.
    pub(crate) fn unbind_by_hand(
        &self,
        endpoint: &Endpoint,
        address: &str,
    ) -> Result<bool, NotFound> {
        self.with_scope(Scope::Target(endpoint, address), |model, _| {
            model.unbind(endpoint, address)
        })
    }

    pub(crate) fn set_attributes_by_hand(
        &self,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<(), NotFound> {
        self.with(|model, _| model.set_attributes(endpoint, attributes))
    }

    /// Completes the creations with this client token or instance ID that have not completed, or all
    /// of them, and returns the IDs of the instances.
    pub fn release_creations(&self, token_or_id: Option<&str>) -> Vec<String> {
        self.with(|model, now| {
            let released = model.release_creations(|id, origin| {
                token_or_id.is_none_or(|text| text == id || text == origin.token)
            });
            model.advance(now);
            released
        })
    }
}
