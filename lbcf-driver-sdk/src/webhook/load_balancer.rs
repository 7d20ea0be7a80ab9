//! The four webhooks about load balancers.

use super::operation::{operation_request, operation_response};
use super::verdict::verdict_response;
use super::{Operation, StringMap, VerdictRequest};
use serde::{Deserialize, Serialize};

/// Are these specification and attributes acceptable? Sent when a user creates or changes a
/// load balancer, before anything is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ValidateLoadBalancerRequest {
    /// Whether the controller only rehearses.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub dry_run: bool,
    /// What identifies the load balancer, or what one is created from.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        serialize_with = "crate::wire::empty_map_as_null"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub lb_spec: StringMap,
    /// Whether it is new or changed.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub operation: Operation,
    /// Settings that do not identify it.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        serialize_with = "crate::wire::empty_map_as_null"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub attributes: StringMap,
    /// The settings before the change.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "StringMap::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, String>))]
    pub old_attributes: StringMap,
}

impl VerdictRequest for ValidateLoadBalancerRequest {
    fn unknown_value(&self) -> Option<String> {
        self.operation.unknown()
    }
}

verdict_response! {
    /// Whether the load balancer is acceptable.
    ValidateLoadBalancerResponse => () {}
}

operation_request! {
    /// Make this load balancer, or take the existing one that `lbSpec` names into use. Called
    /// until it succeeds, and again with the same `recordID` when an answer was lost.
    CreateLoadBalancerRequest of Wanted(lb_spec) {
        /// What identifies the load balancer, or what it is created from.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", serialize_with = "crate::wire::empty_map_as_null")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_spec: StringMap,
        /// Settings that do not identify it.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", serialize_with = "crate::wire::empty_map_as_null")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub attributes: StringMap,
    }
}

operation_response! {
    /// What creating came to.
    CreateLoadBalancerResponse => StringMap {
        /// The load balancer's identity from now on; when empty, `lbSpec` is (b19).
        #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "StringMap::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, String>))]
        lb_info: StringMap
    }
}

operation_request! {
    /// Bring the load balancer's attributes to these.
    EnsureLoadBalancerRequest of Created(lb_info) {
        /// The load balancer's identity; always sent, also where the original forgets it (d5).
        #[serde(default, deserialize_with = "crate::wire::null_as_default", serialize_with = "crate::wire::empty_map_as_null")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: StringMap,
        /// The settings that it shall have.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", serialize_with = "crate::wire::empty_map_as_null")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub attributes: StringMap,
    }
}

operation_response! {
    /// What ensuring came to.
    EnsureLoadBalancerResponse => () {}
}

operation_request! {
    /// Delete the load balancer. One that does not exist is deleted already.
    DeleteLoadBalancerRequest of Created(lb_info) {
        /// The load balancer's identity; empty when it was never created.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", serialize_with = "crate::wire::empty_map_as_null")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: StringMap,
        /// Its settings.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", serialize_with = "crate::wire::empty_map_as_null")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub attributes: StringMap,
    }
}

operation_response! {
    /// What deleting came to.
    DeleteLoadBalancerResponse => () {}
}
