//! Which kind of cloud it is: of CLB instances, or one like Azure. Clock, outages, fault rules, journal and
//! state file are the same for both.

use super::changes::Scope;
use super::model::Model;
use super::{Clock, Cloud, CloudError, Start};
use crate::azure::{AzureError, AzureState};
use std::time::Duration;

impl Cloud {
    /// A cloud with the profile `azure`, whose cluster has three availability sets.
    #[must_use]
    pub fn azure() -> Self {
        Self::new(Start::Azure, Clock::system())
    }

    /// Whether it has the profile `azure`.
    #[must_use]
    pub fn is_azure(&self) -> bool {
        self.read(|model, _| model.azure.is_some())
    }

    /// A call of the API, which fails during an outage.
    pub(crate) fn call_azure<R>(
        &self,
        changes: bool,
        operation: impl FnOnce(&mut AzureState, Duration) -> Result<R, AzureError>,
    ) -> Result<R, CloudError<AzureError>> {
        let scope = if changes {
            Scope::Everything
        } else {
            Scope::Nothing
        };
        self.call_within(scope, |model, now| operation(azure(model), now))
    }

    /// Reads or changes the resources, also during an outage.
    pub(crate) fn with_azure<R>(&self, operation: impl FnOnce(&mut AzureState) -> R) -> R {
        self.with(|model, _| operation(azure(model)))
    }
}

fn azure(model: &mut Model) -> &mut AzureState {
    model.azure.get_or_insert_default()
}
