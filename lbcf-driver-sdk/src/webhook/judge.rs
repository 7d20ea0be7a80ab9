//! `judgePodDeregister`.

use super::KubernetesObject;
use super::verdict::verdict_response;
use serde::{Deserialize, Serialize};

/// Asks which of these pods stay registered although they are not ready.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct JudgePodDeregister {
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
    /// The pods that are neither ready nor being deleted.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(required, value_type = Vec<super::schemas::Pod>))]
    pub not_ready_pods: Vec<KubernetesObject>,
}

verdict_response! {
    /// The pods that stay registered.
    JudgePodDeregisterResponse => Vec<KubernetesObject> {
        /// Pods of the request that stay registered; their names and namespaces suffice.
        #[serde(default, deserialize_with = "crate::wire::null_as_default")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<super::schemas::Pod>>))]
        do_not_deregister: Vec<KubernetesObject>
    }
}
