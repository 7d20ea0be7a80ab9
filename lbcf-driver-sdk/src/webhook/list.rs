//! `listBackends`.

use super::StringMap;
use super::operation::{operation_request, operation_response};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

operation_request! {
    /// Lists the backends that are registered with a load balancer. Changes nothing. The `recordID`
    /// is another one for each listing, and the same until the listing is done.
    ListBackends<I> of Created(lb_info),
    written if "I: Borrow<StringMap>", read if "I: Default + From<StringMap>"
    {
        /// The load balancer's identity.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: I,
    }
}

operation_response! {
    /// The registered backends.
    ListBackendsResponse => Vec<ListedBackend> {
        /// Every backend that is registered, also those that were registered by hand or by other
        /// clusters.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "Vec::is_empty")]
        backends: Vec<ListedBackend>
    }
}

/// A backend that is registered with a load balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(
    rename_all = "camelCase",
    bound(
        serialize = "P: Borrow<StringMap>, B: Serialize",
        deserialize = "P: Default + From<StringMap>, B: Default + Deserialize<'de>"
    )
)]
pub struct ListedBackend<P = StringMap, B = String> {
    /// The backend's address, as returned by `generateBackendAddr`.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub backend_addr: B,
    /// The parameters with which the backend is registered, as far as the driver knows them.
    #[serde(default, with = "crate::wire::nullable_map")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub parameters: P,
    /// The `recordID` of the `ensureBackend` that registered the backend, if the load balancer's API
    /// can store it, for example in a tag: it proves to the controller whose backend it is. Empty where
    /// it is not known or a user registered the backend.
    #[serde(
        rename = "recordID",
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub record_id: String,
}
