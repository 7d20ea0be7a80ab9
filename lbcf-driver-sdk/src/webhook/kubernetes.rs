//! Pods and services as the wire has them.

use super::StringMap;
use crate::wire;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A pod or a service of the cluster: what drivers need of it, and its JSON.
///
/// The SDK knows no version of Kubernetes. Whatever else a driver needs it [reads](Self::read) into a type of
/// its own, such as the `Pod` of the crate `k8s_openapi` in the version that the driver chooses:
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use lbcf_driver_sdk::webhook::KubernetesObject;
/// use serde_json::json;
///
/// let object: KubernetesObject = serde_json::from_value(json!({
///     "metadata": {"name": "web-0", "namespace": "shop"},
///     "spec": {"containers": [], "serviceAccountName": "web"},
///     "status": {"podIP": "10.0.0.7"},
/// }))?;
/// assert_eq!((object.name.as_str(), object.ips.as_slice()), ("web-0", &["10.0.0.7".to_owned()][..]));
/// let pod: Pod = object.read()?;
/// assert_eq!(pod.spec.unwrap().service_account_name.as_deref(), Some("web"));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Fields that the object does not have are empty. Changes of the fields are not written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct KubernetesObject {
    /// The namespace.
    pub namespace: String,
    /// The name, unique in the namespace for this kind at a time.
    pub name: String,
    /// The UID, unique in the cluster for ever.
    pub uid: String,
    /// The labels, by which objects are selected.
    pub labels: StringMap,
    /// The annotations.
    pub annotations: StringMap,
    /// True if the object is being deleted.
    pub deleting: bool,
    /// The node of a pod; empty until it is scheduled.
    pub node_name: String,
    /// The address of a pod's node.
    pub host_ip: String,
    /// The addresses of a pod, at most one for each IP family; the first one is `podIP`.
    pub ips: Vec<String>,
    /// The phase of a pod, such as `Running`.
    pub phase: String,
    /// True if a pod has the condition `Ready`.
    pub ready: bool,
    /// The ports of a service.
    pub ports: Vec<ServicePort>,
    json: Box<str>,
}

/// A port of a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ServicePort {
    /// The number that clients in the cluster use.
    #[serde(deserialize_with = "crate::wire::whole_number")]
    pub port: i32,
    /// The number on each node; 0 if there is none.
    #[serde(deserialize_with = "crate::wire::whole_number")]
    pub node_port: i32,
    /// The protocol as it is written; empty means TCP.
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    pub protocol: String,
    /// The name; empty if it has none.
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    pub name: String,
}

/// An address of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeAddress {
    /// The address: an IP address or a name.
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    pub address: String,
    /// The type, such as `InternalIP`.
    #[serde(rename = "type", deserialize_with = "crate::wire::null_as_default")]
    pub kind: String,
}

impl KubernetesObject {
    /// The object in this form, such as a `Pod` of `k8s_openapi`.
    ///
    /// # Errors
    /// Those of its `Serialize`, and if it is no object of Kubernetes.
    pub fn of(object: &impl Serialize) -> serde_json::Result<Self> {
        Self::from_json(serde_json::to_string(object)?)
    }

    /// Reads the whole object as a type of the driver's own.
    ///
    /// # Errors
    /// Those of the type's `Deserialize`.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.json())
    }

    fn json(&self) -> &str {
        match &*self.json {
            // That of the default.
            "" => "{}",
            json => json,
        }
    }

    fn from_json(json: String) -> serde_json::Result<Self> {
        let View {
            metadata,
            spec,
            status,
        } = serde_json::from_str(&json)?;
        let mut ips: Vec<String> = status.pod_ips.into_iter().map(|it| it.ip).collect();
        if !status.pod_ip.is_empty() && ips.first() != Some(&status.pod_ip) {
            ips.insert(0, status.pod_ip);
        }
        let is_ready = |it: &Condition| it.kind == "Ready" && it.status == "True";
        Ok(Self {
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            labels: metadata.labels,
            annotations: metadata.annotations,
            deleting: metadata.deletion_timestamp.is_some(),
            node_name: spec.node_name,
            host_ip: status.host_ip,
            ips,
            phase: status.phase,
            ready: status.conditions.iter().any(is_ready),
            ports: spec.ports,
            json: json.into(),
        })
    }

    /// The JSON in canonical form.
    fn canonical(&self) -> Value {
        self.read().unwrap_or_default()
    }
}

/// Equal JSON, however it is spaced and sorted.
impl PartialEq for KubernetesObject {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json || self.canonical() == other.canonical()
    }
}

impl Serialize for KubernetesObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json: &RawValue = serde_json::from_str(self.json()).map_err(S::Error::custom)?;
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KubernetesObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = wire::json_of_object(deserializer)?;
        Self::from_json(json).map_err(D::Error::custom)
    }
}

/// The part of a pod or a service that is read from its JSON.
#[derive(Default, Deserialize)]
#[serde(default)]
struct View {
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    metadata: Metadata,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    spec: Spec,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    namespace: String,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    name: String,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    uid: String,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    labels: StringMap,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    annotations: StringMap,
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    node_name: String,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    ports: Vec<ServicePort>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    #[serde(rename = "hostIP", deserialize_with = "crate::wire::null_as_default")]
    host_ip: String,
    #[serde(rename = "podIP", deserialize_with = "crate::wire::null_as_default")]
    pod_ip: String,
    #[serde(rename = "podIPs", deserialize_with = "crate::wire::null_as_default")]
    pod_ips: Vec<PodIp>,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    phase: String,
    #[serde(deserialize_with = "crate::wire::null_as_default")]
    conditions: Vec<Condition>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PodIp {
    ip: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}
