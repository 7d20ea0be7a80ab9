//! Objects as watches and writes return them: what nothing reads is not parsed.
//!
//! That is `managedFields`, which are most of an object's size, and most of a pod. One type for all kinds
//! also lets the code of watches be compiled once. A spec or status that cannot be parsed does not stop
//! the watch of all others.

use crate::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, ObjectKey};
use crate::index::{
    NodeView, PodCondition, PodReadiness, PodView, ServiceView, SliceParts, SliceView,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::Resource;
use kube::api::{ApiResource, ObjectMeta};
use kube::core::DynamicResourceScope;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// An object of any kind, with its spec and status as text, and what an EndpointSlice has instead.
///
/// serde_json can keep text only while it reads from text itself: in a watch event `type` has to come
/// before `object`, as every API server writes it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Watched {
    #[serde(deserialize_with = "read_metadata")]
    metadata: ObjectMeta,
    spec: Option<Box<RawValue>>,
    status: Option<Box<RawValue>>,
    #[serde(rename = "addressType")]
    address_type: Option<Box<RawValue>>,
    endpoints: Option<Box<RawValue>>,
    ports: Option<Box<RawValue>>,
}

/// Why an object cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("{field}: {source}")]
pub(crate) struct ParseError {
    field: &'static str,
    source: serde_json::Error,
}

impl Watched {
    pub(super) fn key(&self) -> ObjectKey {
        ObjectKey::of(self)
    }

    fn spec<T: DeserializeOwned>(&self) -> Result<Option<T>, ParseError> {
        parsed("spec", self.spec.as_deref())
    }

    fn status<T: DeserializeOwned>(&self) -> Result<Option<T>, ParseError> {
        parsed("status", self.status.as_deref())
    }
}

fn parsed<T: DeserializeOwned>(
    field: &'static str,
    text: Option<&RawValue>,
) -> Result<Option<T>, ParseError> {
    let value = text.map(|text| serde_json::from_str(text.get()));
    value
        .transpose()
        .map_err(|source| ParseError { field, source })
}

impl Resource for Watched {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&kind.kind)
    }

    fn group(kind: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&kind.group)
    }

    fn version(kind: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&kind.version)
    }

    fn api_version(kind: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&kind.api_version)
    }

    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&kind.plural)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The metadata that the controller reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadMetadata {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
    finalizers: Option<Vec<String>>,
}

fn read_metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let read = ReadMetadata::deserialize(deserializer)?;
    Ok(ObjectMeta {
        name: read.name,
        namespace: read.namespace,
        uid: read.uid,
        resource_version: read.resource_version,
        generation: read.generation,
        creation_timestamp: read.creation_timestamp,
        deletion_timestamp: read.deletion_timestamp,
        deletion_grace_period_seconds: read.deletion_grace_period_seconds,
        labels: read.labels,
        annotations: read.annotations,
        owner_references: read.owner_references,
        finalizers: read.finalizers,
        ..ObjectMeta::default()
    })
}

/// The part of an object of a kind that is kept.
pub(crate) trait FromWatched: Sized {
    fn from_watched(object: Watched) -> Result<Self, ParseError>;
}

macro_rules! custom_kinds {
    ($($kind:ident)+) => {$(
        impl FromWatched for $kind {
            fn from_watched(object: Watched) -> Result<Self, ParseError> {
                let missing = || serde_json::Error::custom("missing");
                let spec = object.spec()?.ok_or_else(missing);
                Ok(Self {
                    spec: spec.map_err(|source| ParseError { field: "spec", source })?,
                    status: object.status()?,
                    metadata: object.metadata,
                })
            }
        }
    )+};
}

custom_kinds!(LoadBalancerDriver LoadBalancer BackendGroup BackendRecord Bind);

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodSpecPart {
    node_name: Option<String>,
    readiness_gates: Option<Vec<ReadinessGatePart>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadinessGatePart {
    condition_type: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodStatusPart {
    phase: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    conditions: Option<Vec<PodConditionPart>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodConditionPart {
    #[serde(rename = "type")]
    type_: String,
    status: String,
    reason: Option<String>,
    last_transition_time: Option<Time>,
}

impl FromWatched for PodView {
    fn from_watched(object: Watched) -> Result<Self, ParseError> {
        let spec: PodSpecPart = object.spec()?.unwrap_or_default();
        let status: PodStatusPart = object.status()?.unwrap_or_default();
        let conditions = status.conditions.iter().flatten().map(|it| PodCondition {
            type_: &it.type_,
            status: &it.status,
            reason: it.reason.as_deref().unwrap_or_default(),
            since: it.last_transition_time.as_ref().map(|time| time.0),
        });
        let conditions: Vec<PodCondition<'_>> = conditions.collect();
        let gates = spec.readiness_gates.iter().flatten();
        let gates = gates.map(|gate| gate.condition_type.as_str());
        Ok(Self::new(
            &object.metadata,
            spec.node_name,
            status.pod_ip,
            status.phase.as_deref(),
            PodReadiness::of(gates, &conditions),
        ))
    }
}

impl FromWatched for ServiceView {
    fn from_watched(object: Watched) -> Result<Self, ParseError> {
        let (spec, status) = (object.spec()?, object.status()?);
        Ok(Self::new(&object.metadata, spec.as_ref(), status.as_ref()))
    }
}

impl FromWatched for SliceView {
    /// A malformed part is noted in the view, as the rest counts.
    fn from_watched(object: Watched) -> Result<Self, ParseError> {
        let parts = SliceParts {
            address_type: object.address_type.as_deref(),
            endpoints: object.endpoints.as_deref(),
            ports: object.ports.as_deref(),
        };
        Ok(Self::read(&object.metadata, parts))
    }
}

impl FromWatched for NodeView {
    fn from_watched(object: Watched) -> Result<Self, ParseError> {
        let (spec, status) = (object.spec()?, object.status()?);
        Ok(Self::new(&object.metadata, spec.as_ref(), status.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::GateStatus;
    use kube::core::WatchEvent;
    use serde_json::{Value, json};

    fn watched(object: &Value) -> Watched {
        let event = format!(r#"{{"type":"ADDED","object":{object}}}"#);
        match serde_json::from_str(&event) {
            Ok(WatchEvent::Added(object)) => object,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn managed_fields_are_not_kept() {
        let object = watched(&json!({
            "kind": "BackendRecord",
            "metadata": {
                "namespace": "ns", "name": "r", "resourceVersion": "7",
                "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
            },
            "spec": {"lbDriver": "d", "lbName": "lb", "lbInfo": {"id": "1"}},
            "status": null,
        }));
        assert_eq!(object.key(), ObjectKey::new("ns", "r"));
        let record = BackendRecord::from_watched(object).unwrap();
        assert_eq!(record.metadata.managed_fields, None);
        assert_eq!(record.metadata.resource_version.as_deref(), Some("7"));
        assert_eq!(
            (record.spec.lb_name.as_str(), &record.status),
            ("lb", &None)
        );
    }

    #[test]
    fn u9_what_cannot_be_parsed_has_a_key_and_an_error_that_names_the_field() {
        let spec = json!({"lbDriver": "d"});
        for (part, expected) in [
            (json!({}), "spec: missing"),
            (
                json!({"spec": {"lbDriver": 7}}),
                "spec: invalid type: integer `7`",
            ),
            (
                json!({"spec": spec, "status": "on"}),
                "status: invalid type: string",
            ),
        ] {
            let mut object = json!({"metadata": {"namespace": "ns", "name": "lb"}});
            let fields = part.as_object().unwrap().clone();
            object.as_object_mut().unwrap().extend(fields);
            let object = watched(&object);
            assert_eq!(object.key(), ObjectKey::new("ns", "lb"));
            let error = LoadBalancer::from_watched(object).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_pod_is_reduced_as_a_whole_one_is() {
        let pod = json!({
            "metadata": {
                "namespace": "ns", "name": "p", "uid": "u", "resourceVersion": "3",
                "labels": {"app": "web"}, "deletionTimestamp": "2026-01-01T00:00:00Z",
                "deletionGracePeriodSeconds": 30,
            },
            "spec": {
                "nodeName": "n", "containers": [],
                "readinessGates": [{"conditionType": "lbcf.tkestack.io/registered"}],
            },
            "status": {
                "phase": "Running", "podIP": "10.0.0.1",
                "conditions": [
                    {"type": "ContainersReady", "status": "True"},
                    {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"},
                    {"type": "lbcf.tkestack.io/registered", "status": "False"},
                ],
            },
        });
        let whole: k8s_openapi::api::core::v1::Pod = serde_json::from_value(pod.clone()).unwrap();
        let view = PodView::from_watched(watched(&pod)).unwrap();
        assert_eq!(view, PodView::of(&whole));
        assert!(view.ready && view.running && view.deleting);
        assert_eq!(view.gate, Some(GateStatus::False));
        assert_eq!(view.since, "2025-12-31T23:59:30Z".parse().ok());
        let mut kept = pod;
        let metadata = kept["metadata"].as_object_mut().unwrap();
        metadata.remove("deletionTimestamp").unwrap();
        kept["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-01-01T00:00:07Z");
        let whole: k8s_openapi::api::core::v1::Pod = serde_json::from_value(kept.clone()).unwrap();
        let view = PodView::from_watched(watched(&kept)).unwrap();
        assert_eq!(view, PodView::of(&whole));
        assert_eq!(view.since, "2026-01-01T00:00:07Z".parse().ok());
        let empty = watched(&json!({"metadata": {"name": "p"}}));
        assert!(!PodView::from_watched(empty).unwrap().is_available());
    }
}
