//! Which load balancer a call is about. The controller sends back the `lbInfo` that it was given,
//! so this is the only thing by which a driver finds its way in the cloud: it keeps no memory of
//! its own (b158).

use super::field::{DOMAIN, FieldError, IDENTITY, LB_ID, LISTENER_ID, URL};
use crate::cloud::Endpoint;
use lbcf_driver_sdk::webhook::StringMap;

/// The identity of an existing load balancer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// Where it is in the cloud.
    pub(super) endpoint: Endpoint,
    /// The identifying fields in the user's spelling.
    pub(super) lb_info: StringMap,
}

impl Identity {
    /// Reads it from `lbInfo`.
    pub(super) fn from_lb_info(lb_info: &StringMap) -> Result<Self, FieldError> {
        if lb_info.is_empty() {
            return Err(FieldError::Missing(
                "lbInfo is empty: the load balancer has not been created".to_owned(),
            ));
        }
        Self::read("lbInfo", lb_info)
    }

    /// Reads it from a map that the user knows by this name; other fields are ignored.
    pub(super) fn read(map_name: &'static str, map: &StringMap) -> Result<Self, FieldError> {
        let text = |field: super::field::Field| {
            let given = field.read(map_name, map)?;
            Ok::<_, FieldError>(given.map(|given| given.value.to_owned()))
        };
        let missing = |field: super::field::Field| {
            FieldError::Missing(format!(
                "{map_name}.{} is missing: an existing load balancer is named by {} and {}",
                field.names(),
                LB_ID.names(),
                LISTENER_ID.names()
            ))
        };
        let endpoint = Endpoint {
            load_balancer: text(LB_ID)?.ok_or_else(|| missing(LB_ID))?,
            listener: text(LISTENER_ID)?.ok_or_else(|| missing(LISTENER_ID))?,
            domain: text(DOMAIN)?,
            url: text(URL)?,
        };
        let lb_info = map
            .iter()
            .filter(|(name, value)| {
                !value.is_empty() && IDENTITY.iter().any(|field| field.is_called(name))
            })
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        Ok(Self { endpoint, lb_info })
    }

    /// The CLB instance alone, for when the listener is not known (yet).
    pub(super) fn load_balancer(lb_info: &StringMap) -> Option<String> {
        let given = LB_ID.read("lbInfo", lb_info).ok()??;
        Some(given.value.to_owned())
    }
}
