//! Names that are stored in a cluster: labels, annotations, finalizers, prefixes, names of records.
//!
//! They are exactly those of the original controller, so that one can replace the other in a running
//! cluster without registering any backend again.

use super::allowed;
use super::object::ObjectKey;
use kube::api::ObjectMeta;
use md5::{Digest, Md5};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Name of the controller: of its Service and its Lease, and in its writes and events.
pub const CONTROLLER: &str = "lbcf-controller";

/// Label of a BackendRecord: name of its driver.
pub const LABEL_LB_DRIVER: &str = "lbcf.tkestack.io/lb-driver";
/// Label of a BackendRecord: name of its load balancer.
pub const LABEL_LB_NAME: &str = "lbcf.tkestack.io/lb-name";
/// Label of a BackendRecord: name of its BackendGroup.
pub const LABEL_BACKEND_GROUP: &str = "lbcf.tkestack.io/backend-group";
/// Label of a BackendRecord: name of its pod.
pub const LABEL_BACKEND_POD: &str = "lbcf.tkestack.io/backend-pod";
/// Label of a BackendRecord: name of its Service.
pub const LABEL_BACKEND_SERVICE: &str = "lbcf.tkestack.io/backend-service";
/// Label of a BackendRecord: its static address.
pub const LABEL_BACKEND_STATIC_ADDR: &str = "lbcf.tkestack.io/backend-static-addr";

/// Prefix of labels of a BackendGroup: followed by the name of a load balancer, with the value `True`.
pub const LABEL_LB_NAME_PREFIX: &str = "name.lb.lbcf.tkestack.io/";
/// Label of a Bind's BackendRecord: name of its driver.
pub const LABEL_BIND_DRIVER: &str = "lbcf.tkestack.io/driver";
/// Label of a Bind's BackendRecord: name of its load balancer.
pub const LABEL_BIND_LB: &str = "lbcf.tkestack.io/lb";
/// Label of a Bind's BackendRecord: name of the Bind.
pub const LABEL_BIND: &str = "lbcf.tkestack.io/bind";
/// Label of a Bind's BackendRecord: name of its pod.
pub const LABEL_BIND_POD: &str = "lbcf.tkestack.io/pod";
/// Label of a LoadBalancerDriver: `true` prevents new objects from using the driver.
pub const LABEL_DRIVER_DRAINING: &str = "lbcf.tkestack.io/driver-draining";

/// True for the labels of a driver that is draining, by the value `true` in any letter case.
pub(crate) fn is_draining(labels: Option<&BTreeMap<String, String>>) -> bool {
    labels
        .and_then(|labels| labels.get(LABEL_DRIVER_DRAINING))
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Annotation of a LoadBalancer, BackendGroup or Bind: with `true`, no driver is called for it and its BackendRecords.
pub const ANNOTATION_PAUSED: &str = "lbcf.tkestack.io/paused";

/// True for an object with [`ANNOTATION_PAUSED`], by the value `true` in any letter case.
pub(crate) fn is_paused(metadata: &ObjectMeta) -> bool {
    let annotations = metadata.annotations.as_ref();
    let value = annotations.and_then(|annotations| annotations.get(ANNOTATION_PAUSED));
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Label of a LoadBalancer or BackendGroup: prevents its deletion, whatever the value.
pub const LABEL_DO_NOT_DELETE: &str = "lbcf.tkestack.io/do-not-delete";
/// Annotation of a BackendGroup: with `optional` it can be created before its load balancers.
pub const ANNOTATION_VALIDATION_POLICY: &str = "lbcf.tkestack.io/validation-policy";

/// Annotation of a LoadBalancerDriver: with `true`, calls about one load balancer are made one at a time.
pub const ANNOTATION_ONE_CALL: &str = "lbcf.tkestack.io/one-call-per-load-balancer";
/// Annotation of a LoadBalancerDriver: the name of a field of `lbInfo`, such as `lbID`. Calls about load
/// balancers that have the same value are made one at a time.
pub const ANNOTATION_ONE_CALL_FIELD: &str = "lbcf.tkestack.io/one-call-per-field";
/// Annotation of a LoadBalancer or Bind: with `true`, the audit also removes backends whose `recordID`
/// belongs to no BackendRecord that the controller knows, such as those of another cluster.
pub const ANNOTATION_REMOVE_ORPHANS: &str = "lbcf.tkestack.io/remove-orphans";
/// Annotation of a BackendRecord: the pod or node address that `backendAddr` was generated from, so that
/// a change is noticed.
pub const ANNOTATION_SOURCE: &str = "lbcf.tkestack.io/backend-source";

/// Annotation of a BackendRecord: its backend's address and, after a space, the proof that a controller wrote it. It is there
/// if the driver named the address before the record was created; `status.backendAddr` has it from the first write of the status on.
pub const ANNOTATION_ADDRESS: &str = "lbcf.tkestack.io/backend-addr";
/// Annotation of a BackendRecord: proves that a controller created it.
pub const ANNOTATION_SIGNATURE: &str = "lbcf.tkestack.io/signature";
/// The Secret of the key that signs BackendRecords.
pub const RECORD_KEY_SECRET: &str = "lbcf-controller-records";

/// Annotation of a Service of type LoadBalancer: the class whose load balancers it has. It is set before
/// the first of them is made, and removed when they are deleted, so that it tells these Services from
/// those whose finalizer another controller has set.
pub const ANNOTATION_SERVICE_CLASS: &str = "lbcf.tkestack.io/service-class";
/// Label of the LoadBalancers and BackendGroups of a Service: the Service's name.
pub const LABEL_SERVICE: &str = "lbcf.tkestack.io/service";
/// Finalizer of a Service with load balancers, which is Kubernetes' own.
pub const FINALIZER_SERVICE: &str = "service.kubernetes.io/load-balancer-cleanup";

/// Readiness gate of a pod, whose condition is True when all backends of the pod are registered.
pub const READINESS_GATE: &str = "lbcf.tkestack.io/registered";
/// Label of a namespace: with [`INJECT_READINESS_GATE`], its new pods get the readiness gate.
pub const LABEL_INJECT_READINESS_GATE: &str = "lbcf.tkestack.io/pod-readiness-gate-inject";
/// The value of [`LABEL_INJECT_READINESS_GATE`].
pub const INJECT_READINESS_GATE: &str = "enabled";

/// Kubernetes' label of nodes that external load balancers must not use, whatever its value.
pub const LABEL_EXCLUDED: &str = "node.kubernetes.io/exclude-from-external-load-balancers";

/// Finalizer of a LoadBalancer or Bind, removed after `deleteLoadBalancer`. The repeated "load" is
/// the original's.
pub const FINALIZER_LOAD_BALANCER: &str = "lbcf.tkestack.io/delete-load-loadbalancer";
/// Finalizer of a BackendRecord, removed after `deregisterBackend`.
pub const FINALIZER_BACKEND_RECORD: &str = "lbcf.tkestack.io/deregister-backend";
/// Finalizer of a LoadBalancerDriver that load balancers or backends need to be deleted; removed when the
/// last of them is gone.
pub const FINALIZER_DRIVER: &str = "lbcf.tkestack.io/driver-in-use";

/// Prefix of the names of drivers and load balancers for all namespaces, which are in
/// [`SYSTEM_NAMESPACE`].
pub const SYSTEM_PREFIX: &str = "lbcf-";
/// The namespace of drivers and load balancers for all namespaces.
pub const SYSTEM_NAMESPACE: &str = "kube-system";

/// The key of a driver or load balancer that an object in `namespace` refers to by `name`. Only the
/// prefix decides, for admission and reconciling alike.
#[must_use]
pub fn resolve(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(namespace_of(namespace, name), name)
}

/// The namespace of [`resolve`].
pub(crate) fn namespace_of<'a>(namespace: &'a str, name: &str) -> &'a str {
    if name.starts_with(SYSTEM_PREFIX) {
        SYSTEM_NAMESPACE
    } else {
        namespace
    }
}

/// The name of the record for a port of a pod.
#[must_use]
pub fn pod_record_name(lb: &str, group: &str, pod_uid: &str, port: i32, protocol: &str) -> String {
    md5_hex(&format!("{lb}_{group}_{pod_uid}_{port}_{protocol}"))
}

/// The two possible names of a Bind's record for a port of a pod: the original's, and one for the
/// case that another Bind has a record of that name, because the original's names can collide.
#[must_use]
pub fn bind_record_names(
    bind: &str,
    lb: &str,
    pod: &str,
    ip: &str,
    protocol: &str,
    port: i32,
) -> [String; 2] {
    [
        md5_hex(&format!("{bind}-{lb}-{pod}-{ip}-{protocol}-{port}")),
        // Names of objects contain no slash, so these cannot collide.
        md5_hex(&format!("{bind}/{lb}/{pod}/{ip}/{protocol}/{port}")),
    ]
}

/// The name of a record's owner, which is part of the record's name.
///
/// All other records' names are hashes of texts that begin with the name of an object, which is in lower
/// case, so a Bind's of Services cannot collide with them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OwnerName<'a> {
    Group(&'a str),
    Bind(&'a str),
}

impl OwnerName<'_> {
    /// The name of the record for a node of a Service. It contains the Service's port, not the node port.
    pub(crate) fn service_record(
        self,
        lb: &str,
        service: &str,
        (port, protocol): (i32, &str),
        node: &str,
    ) -> String {
        md5_hex(&match self {
            Self::Group(group) => format!("{lb}_{group}_{service}_{port}_{protocol}_{node}"),
            Self::Bind(bind) => {
                format!("Bind/{bind}/{lb}/Node/{service}/{port}/{protocol}/{node}")
            }
        })
    }

    /// The name of the record for an endpoint of a Service. `target` is the uid of its pod, so that a pod that
    /// takes over the address of another one gets a record of its own.
    pub(crate) fn endpoint_record(
        self,
        lb: &str,
        service: &str,
        target: &str,
        address: &str,
        (port, protocol): (i32, &str),
    ) -> String {
        let backend = format!("{service}/{target}/{address}/{port}/{protocol}");
        md5_hex(&match self {
            // Names of objects contain no slash, so these cannot collide.
            Self::Group(group) => format!("{lb}/{group}/{backend}"),
            Self::Bind(bind) => format!("Bind/{bind}/{lb}/Endpoint/{backend}"),
        })
    }
}

/// The other name for a record, while one that is being deleted has the first.
#[must_use]
pub(crate) fn other_name(name: &str) -> String {
    // No other text that is hashed has a single slash.
    md5_hex(&format!("again/{name}"))
}

/// The name of the record for a static address.
#[must_use]
pub fn static_record_name(lb: &str, group: &str, addr: &str) -> String {
    md5_hex(&format!("{lb}_{group}_{addr}"))
}

/// The name of the load balancers and groups of a Service: a DNS label that begins neither like the
/// names of shared objects nor depends on what follows the Service of the same name.
#[must_use]
pub(crate) fn of_service(name: &str, uid: &str, port: Option<(i32, &str)>) -> String {
    const NAME: usize = 28;
    let readable = name.get(..NAME).unwrap_or(name).trim_end_matches('-');
    let unique = &md5_hex(uid)[..10];
    match port {
        Some((port, protocol)) => {
            let protocol = protocol.to_ascii_lowercase();
            format!("svc-{readable}-{unique}-{port}-{protocol}")
        }
        None => format!("svc-{readable}-{unique}"),
    }
}

/// A name as a label value; one that is too long is shortened and ends with a hash.
#[must_use]
pub fn label_value(name: &str) -> String {
    if name.len() <= allowed::LABEL {
        return name.to_owned();
    }
    let hash = &md5_hex(name)[..8];
    let mut cut = allowed::LABEL - 1 - hash.len();
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    let head = name[..cut].trim_end_matches(['-', '_', '.']);
    format!("{head}-{hash}")
}

/// An address as a label value; characters that are not allowed become `_`.
#[must_use]
pub fn address_label(addr: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let legal: String = addr
        .chars()
        .map(|c| if is_legal(c) { c } else { '_' })
        .collect();
    label_value(legal.trim_matches(|c: char| !c.is_ascii_alphanumeric()))
}

/// A short hash of a text.
#[must_use]
pub(crate) fn digest(text: &str) -> String {
    md5_hex(text)[..16].to_owned()
}

/// A digest of a map that is the same for equal maps only.
#[must_use]
pub(crate) fn digest_of(map: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (key, value) in map {
        // Lengths keep entries apart, whatever they contain.
        let _ = write!(text, "{}:{key}{}:{value}", key.len(), value.len());
    }
    md5_hex(&text)
}

fn md5_hex(text: &str) -> String {
    let digest = Md5::digest(text.as_bytes());
    digest
        .iter()
        .fold(String::with_capacity(32), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

#[cfg(test)]
mod tests;
