//! The four webhooks about backends.

use super::operation::{operation_request, operation_response};
use super::verdict::{open_enum, verdict_response};
use super::{BackendPort, EndpointBackend, KubernetesObject, NodeAddress, Operation, StringMap};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Borrow;
use std::time::SystemTime;

/// The kind of a group's backends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum BackendType {
    /// Pods with their own addresses, or endpoints of a service.
    #[default]
    Pod,
    /// Node ports of a service.
    Service,
    /// Addresses listed in the group.
    Static,
    /// A value that this edition of the specification does not define. The SDK's router refuses it
    /// before it calls the driver.
    Other(String),
}

open_enum!(BackendType: Pod, Service, Static);

#[cfg(any(test, feature = "server"))]
impl BackendType {
    /// A message for the user about a value that this edition of the specification does not define.
    pub(crate) fn unknown(&self) -> Option<String> {
        match self {
            Self::Pod | Self::Service | Self::Static => None,
            Self::Other(text) => Some(format!(
                "backendType: {text:?}: must be Pod, Service or Static"
            )),
        }
    }
}

/// A pod as a backend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodBackend {
    /// The pod, whole, as an object.
    #[cfg_attr(feature = "openapi", schema(value_type = super::schemas::Pod))]
    pub pod: KubernetesObject,
    /// The port to register.
    pub port: BackendPort,
}

/// A service's node port on one node as a backend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", from = "ServiceOnTheWire")]
pub struct ServiceBackend {
    /// The service, whole, as an object.
    #[cfg_attr(feature = "openapi", schema(value_type = super::schemas::Service))]
    pub service: KubernetesObject,
    /// The port to register.
    pub port: BackendPort,
    /// The name of the node.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub node_name: String,
    /// The node's addresses; `nodeAddress` is read too.
    #[cfg_attr(feature = "openapi", schema(required = false, value_type = Vec<super::schemas::NodeAddress>))]
    pub node_addresses: Vec<NodeAddress>,
}

/// A [`ServiceBackend`] as received. An alias would reject requests with both names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServiceOnTheWire {
    service: KubernetesObject,
    port: BackendPort,
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    node_name: String,
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    node_addresses: Vec<NodeAddress>,
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    node_address: Vec<NodeAddress>,
}

impl From<ServiceOnTheWire> for ServiceBackend {
    fn from(wire: ServiceOnTheWire) -> Self {
        Self {
            service: wire.service,
            port: wire.port,
            node_name: wire.node_name,
            node_addresses: if wire.node_addresses.is_empty() {
                wire.node_address
            } else {
                wire.node_addresses
            },
        }
    }
}

/// Validates the parameters of backends. Sent when a user creates or updates a BackendGroup or a
/// Bind, before it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(
    rename_all = "camelCase",
    bound = "I: Default + From<StringMap>, P: Default + From<StringMap>, O: Default + Deserialize<'de>"
)]
pub struct ValidateBackend<I = StringMap, P = StringMap, O = StringMap> {
    /// True if this is part of a dry run of the controller.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub dry_run: bool,
    /// The namespace of the object that the call is about: a BackendGroup or a Bind. Empty if the controller does not send it.
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
    /// The kind of the group's backends.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub backend_type: BackendType,
    /// The load balancer's identity; empty until it is created.
    #[serde(default, with = "crate::wire::nullable_map")]
    #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub lb_info: I,
    /// Tells a creation of the group from an update.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub operation: Operation,
    /// The parameters with which backends are registered.
    #[serde(default, with = "crate::wire::nullable_map")]
    #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub parameters: P,
    /// The parameters before the update. The original controller writes `OldParameters`, others write both;
    /// either is read.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub old_parameters: O,
}

impl Serialize for ValidateBackend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let maybe = |map| Some(map).filter(|map: &&StringMap| !map.is_empty());
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("dryRun", &self.dry_run)?;
        for (field, value) in [("namespace", &self.namespace), ("name", &self.name)] {
            if !value.is_empty() {
                object.serialize_entry(field, value)?;
            }
        }
        object.serialize_entry("backendType", &self.backend_type)?;
        object.serialize_entry("lbInfo", &maybe(&self.lb_info))?;
        object.serialize_entry("operation", &self.operation)?;
        object.serialize_entry("parameters", &maybe(&self.parameters))?;
        if let Some(old) = maybe(&self.old_parameters) {
            object.serialize_entry("oldParameters", old)?;
            object.serialize_entry("OldParameters", old)?;
        }
        object.end()
    }
}

verdict_response! {
    /// The result of the validation.
    ValidateBackendResponse => () {}
}

operation_request! {
    /// Returns the address that identifies a backend, which is the same in every call. Registers
    /// nothing.
    GenerateBackendAddr<I, A, P> of Created(lb_info),
    written if "I: Borrow<StringMap>, A: Borrow<StringMap>, P: Borrow<StringMap>", read if "I: Default + From<StringMap>, A: Default + From<StringMap>, P: Default + From<StringMap>"
    {
        /// The load balancer's identity.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: I,
        /// The load balancer's attributes.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_attributes: A,
        /// The parameters of the registration; the original controller never sends them.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub parameters: P,
        /// The backend, if it is a pod.
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(required))]
        pub pod_backend: Option<PodBackend>,
        /// The backend, if it is a service's node port.
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(required))]
        pub service_backend: Option<ServiceBackend>,
        /// The backend, if it is an endpoint of a service. An endpoint that is a pod is in `podBackend`
        /// too; one without a pod, such as an address outside of the cluster, is only here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub endpoint_backend: Option<EndpointBackend>,
    }
}

operation_response! {
    /// The address of the backend.
    GenerateBackendAddrResponse => String {
        /// The address, which `Succ` needs: opaque to the controller, not empty, at most 1,024 characters, and none of
        /// them a control character.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "String::is_empty")]
        #[cfg_attr(feature = "openapi", schema(max_length = 1024))]
        backend_addr: String
    }
}

operation_request! {
    /// Registers a backend, or updates its parameters if it is registered. If `healthz` names the feature
    /// `cancel`, it cancels a deregistration of the same load balancer and address that is `Running`.
    EnsureBackend<I, P; B> of Created(lb_info) at backend_addr,
    written if "I: Borrow<StringMap>, P: Borrow<StringMap>, B: Serialize", read if "I: Default + From<StringMap>, P: Default + From<StringMap>, B: Default + Deserialize<'de>"
    {
        /// The load balancer's identity.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: I,
        /// The backend's address, as returned by `generateBackendAddr`.
        #[serde(default, deserialize_with = "crate::wire::null_as_default")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = String, min_length = 1, max_length = 1024))]
        pub backend_addr: B,
        /// The desired parameters; `null` or a missing field is an empty map.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub parameters: P,
        /// The map that the last successful call returned.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub injected_info: StringMap,
    }
}

operation_response! {
    /// The outcome of a registration.
    EnsureBackendResponse => StringMap {
        /// Stored by the controller and sent in later calls; an empty map leaves the stored one
        /// unchanged.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "StringMap::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
        injected_info: StringMap
    }
}

operation_request! {
    /// Deregisters a backend. Succeeds if it is not registered, or its load balancer does not exist.
    DeregisterBackend<I, P; B> of Created(lb_info) at backend_addr,
    written if "I: Borrow<StringMap>, P: Borrow<StringMap>, B: Serialize", read if "I: Default + From<StringMap>, P: Default + From<StringMap>, B: Default + Deserialize<'de>"
    {
        /// The load balancer's identity.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: I,
        /// The backend's address, as returned by `generateBackendAddr`.
        #[serde(default, deserialize_with = "crate::wire::null_as_default")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = String, min_length = 1, max_length = 1024))]
        pub backend_addr: B,
        /// The parameters in the BackendRecord; `null` or a missing field is an empty map.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub parameters: P,
        /// The map that the last successful `ensureBackend` returned.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub injected_info: StringMap,
        /// When the controller first requested this deregistration, in RFC 3339: the same in every call about
        /// it, also of another controller process, so that a driver which returns `Running` while
        /// connections drain needs no memory of its own for a deadline. Absent if it is not known.
        #[serde(default, with = "crate::wire::rfc3339", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
        pub first_requested_at: Option<SystemTime>,
    }
}

operation_response! {
    /// The outcome of a deregistration.
    DeregisterBackendResponse => () {}
}
