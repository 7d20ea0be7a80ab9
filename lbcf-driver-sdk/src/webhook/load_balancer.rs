//! The four webhooks about load balancers.

use super::operation::{operation_request, operation_response};
use super::verdict::verdict_response;
use super::{Operation, StringMap};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// Validates a load balancer. Sent when a user creates or updates one, before it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(
    rename_all = "camelCase",
    bound(
        serialize = "S: Borrow<StringMap>, A: Borrow<StringMap>, O: Borrow<StringMap> + Serialize",
        deserialize = "S: Default + From<StringMap>, A: Default + From<StringMap>, O: Default + Deserialize<'de>"
    )
)]
pub struct ValidateLoadBalancer<S = StringMap, A = StringMap, O = StringMap> {
    /// True if this is part of a dry run of the controller.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub dry_run: bool,
    /// The namespace of the object that the call is about: a LoadBalancer or a Bind. Empty if the controller does not send it.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub namespace: String,
    /// The name of that object.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub name: String,
    /// Identifies the load balancer, or the parameters to create it.
    #[serde(default, with = "crate::wire::nullable_map")]
    #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub lb_spec: S,
    /// Tells a creation from an update.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub operation: Operation,
    /// Settings that do not identify the load balancer.
    #[serde(default, with = "crate::wire::nullable_map")]
    #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub attributes: A,
    /// The settings before the update.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "crate::wire::is_empty_map"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub old_attributes: O,
}

verdict_response! {
    /// The result of the validation.
    ValidateLoadBalancerResponse => () {}
}

operation_request! {
    /// Creates a load balancer, or adopts the existing one that `lbSpec` names. Called until it
    /// succeeds, and again with the same `recordID` if a response was lost.
    CreateLoadBalancer<S, A> of Wanted(lb_spec),
    written if "S: Borrow<StringMap>, A: Borrow<StringMap>", read if "S: Default + From<StringMap>, A: Default + From<StringMap>"
    {
        /// Identifies the load balancer, or the parameters to create it.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_spec: S,
        /// Settings that do not identify the load balancer.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub attributes: A,
    }
}

operation_response! {
    /// The outcome of a creation.
    CreateLoadBalancerResponse => StringMap {
        /// The load balancer's identity; if empty, `lbSpec` is the identity.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "StringMap::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        lb_info: StringMap
    }
}

operation_request! {
    /// Updates a load balancer's attributes.
    EnsureLoadBalancer<I, A> of Created(lb_info),
    written if "I: Borrow<StringMap>, A: Borrow<StringMap>", read if "I: Default + From<StringMap>, A: Default + From<StringMap>"
    {
        /// The load balancer's identity; always sent, unlike by the original controller.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: I,
        /// The desired settings; `null` or a missing field is an empty map.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub attributes: A,
    }
}

operation_response! {
    /// The outcome of an update.
    EnsureLoadBalancerResponse => () {}
}

operation_request! {
    /// Deletes a load balancer. Succeeds if it does not exist.
    DeleteLoadBalancer<I, A> of Created(lb_info),
    written if "I: Borrow<StringMap>, A: Borrow<StringMap>", read if "I: Default + From<StringMap>, A: Default + From<StringMap>"
    {
        /// The load balancer's identity; empty if it was never created.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: I,
        /// The load balancer's settings.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub attributes: A,
    }
}

operation_response! {
    /// The outcome of a deletion.
    DeleteLoadBalancerResponse => () {}
}
