//! Every name that is stored in a cluster: labels, finalizers, prefixes, record names.
//!
//! They are the original controller's to the letter, so that the two can be swapped on a live
//! cluster and no backend is registered anew (d27).

use crate::key::ObjectKey;
use md5::{Digest, Md5};
use std::fmt::Write as _;

/// The driver of a record or load balancer (b49).
pub const LABEL_LB_DRIVER: &str = "lbcf.tkestack.io/lb-driver";
/// The load balancer of a record (b49).
pub const LABEL_LB_NAME: &str = "lbcf.tkestack.io/lb-name";
/// The backend group of a record (b49).
pub const LABEL_BACKEND_GROUP: &str = "lbcf.tkestack.io/backend-group";
/// The pod of a record (b49).
pub const LABEL_BACKEND_POD: &str = "lbcf.tkestack.io/backend-pod";
/// The service of a record (b49).
pub const LABEL_BACKEND_SERVICE: &str = "lbcf.tkestack.io/backend-service";
/// The address of a record that a user wrote down (d17).
pub const LABEL_BACKEND_STATIC_ADDR: &str = "lbcf.tkestack.io/backend-static-addr";

/// On a group: with its load balancer's name behind it, a label `True` (b59, b88).
pub const LABEL_LB_NAME_PREFIX: &str = "name.lb.lbcf.tkestack.io/";
/// The driver of a Bind's record (b49).
pub const LABEL_BIND_DRIVER: &str = "lbcf.tkestack.io/driver";
/// The load balancer of a Bind's record (b49).
pub const LABEL_BIND_LB: &str = "lbcf.tkestack.io/lb";
/// The Bind of a record (b49).
pub const LABEL_BIND: &str = "lbcf.tkestack.io/bind";
/// The pod of a Bind's record (b49).
pub const LABEL_BIND_POD: &str = "lbcf.tkestack.io/pod";
/// On a driver: `true` in any case lets nobody new use it (b13).
pub const LABEL_DRIVER_DRAINING: &str = "lbcf.tkestack.io/driver-draining";
/// On a load balancer or group: whatever its value, it may not be deleted (b59).
pub const LABEL_DO_NOT_DELETE: &str = "lbcf.tkestack.io/do-not-delete";
/// On a group: `optional` lets it be made before its load balancers (b61).
pub const ANNOTATION_VALIDATION_POLICY: &str = "lbcf.tkestack.io/validation-policy";

/// On a driver: `true` lets only one of its calls be under way for each load balancer (b159).
pub const ANNOTATION_ONE_CALL: &str = "lbcf.tkestack.io/one-call-per-load-balancer";
/// On a record: what its address was made of, so that a pod's or node's new address is noticed.
pub const ANNOTATION_SOURCE: &str = "lbcf.tkestack.io/backend-source";

/// On a load balancer or Bind: `deleteLoadBalancer` comes before it goes (b60; the doubled "load" is the
/// original's).
pub const FINALIZER_LOAD_BALANCER: &str = "lbcf.tkestack.io/delete-load-loadbalancer";
/// On a record: `deregisterBackend` comes before it goes (b60).
pub const FINALIZER_BACKEND_RECORD: &str = "lbcf.tkestack.io/deregister-backend";

/// Objects whose name starts like this belong to the whole cluster and live in
/// [`SYSTEM_NAMESPACE`] (b53 to b55).
pub const SYSTEM_PREFIX: &str = "lbcf-";
/// Where system drivers and shared load balancers live (b53).
pub const SYSTEM_NAMESPACE: &str = "kube-system";

/// Which driver or load balancer an object in `namespace` means by `name` (b54, b57): the prefix
/// alone decides, so that admission and reconciling never disagree.
#[must_use]
pub fn resolve(namespace: &str, name: &str) -> ObjectKey {
    let namespace = if name.starts_with(SYSTEM_PREFIX) {
        SYSTEM_NAMESPACE
    } else {
        namespace
    };
    ObjectKey::new(namespace, name)
}

/// A record's name for one port of a pod (b45).
#[must_use]
pub fn pod_record_name(lb: &str, group: &str, pod_uid: &str, port: i32, protocol: &str) -> String {
    md5_hex(&format!("{lb}_{group}_{pod_uid}_{port}_{protocol}"))
}

/// A record's name for a node of a service (b46): the service's port is in it, not the node's.
#[must_use]
pub fn service_record_name(
    lb: &str,
    group: &str,
    service: &str,
    port: i32,
    protocol: &str,
    node: &str,
) -> String {
    md5_hex(&format!("{lb}_{group}_{service}_{port}_{protocol}_{node}"))
}

/// The two names that a Bind's record for one port of a pod may have: the original's (b48), and one
/// for where another Bind has taken that, as in the original's different parts can make the same
/// whole (u21).
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
        // No name of an object can hold a slash.
        md5_hex(&format!("{bind}/{lb}/{pod}/{ip}/{protocol}/{port}")),
    ]
}

/// A record's name for an address that a user wrote down (b47).
#[must_use]
pub fn static_record_name(lb: &str, group: &str, addr: &str) -> String {
    md5_hex(&format!("{lb}_{group}_{addr}"))
}

/// The longest label value that Kubernetes takes.
const LABEL_VALUE_MAX: usize = 63;

/// A name as a label value: longer ones are cut and end in a hash of the whole (d26).
#[must_use]
pub fn label_value(name: &str) -> String {
    if name.len() <= LABEL_VALUE_MAX {
        return name.to_owned();
    }
    let hash = &md5_hex(name)[..8];
    let mut cut = LABEL_VALUE_MAX - 1 - hash.len();
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    let head = name[..cut].trim_end_matches(['-', '_', '.']);
    format!("{head}-{hash}")
}

/// An address as a label value: what a label cannot hold becomes `_` (d17).
#[must_use]
pub fn address_label(addr: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let legal: String = addr
        .chars()
        .map(|c| if is_legal(c) { c } else { '_' })
        .collect();
    label_value(legal.trim_matches(|c: char| !c.is_ascii_alphanumeric()))
}

/// A short word that stands for a text.
#[must_use]
pub(crate) fn digest(text: &str) -> String {
    md5_hex(text)[..16].to_owned()
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
mod tests {
    use super::*;

    #[test]
    fn b45_record_name_is_the_originals_md5() {
        // md5 of "test-load-balancer_web_uid-1_80_TCP", computed with md5sum.
        assert_eq!(
            pod_record_name("test-load-balancer", "web", "uid-1", 80, "TCP"),
            "e1a1da9d09be38e4ccc1b6cb7f8badfe"
        );
    }

    #[test]
    fn b47_a_static_addresss_record_name_is_the_originals_md5() {
        // md5 of "lb_group_1.1.1.1:8080", computed with md5sum.
        assert_eq!(
            static_record_name("lb", "group", "1.1.1.1:8080"),
            "402941d389bf499b425230a2b37708f0"
        );
    }

    #[test]
    fn b46_a_services_record_name_is_the_originals_md5() {
        // md5 of "lb_group_svc_80_TCP_node-1", computed with md5sum.
        assert_eq!(
            service_record_name("lb", "group", "svc", 80, "TCP", "node-1"),
            "59965db4f8df3af4ecb9ef60e2434653"
        );
    }

    #[test]
    fn b48_u21_a_binds_record_name_is_the_originals_md5_and_there_is_another_that_is_unambiguous() {
        // md5 of "bind-lb-pod-0-10.0.0.1-tcp-80", computed with md5sum.
        let [original, other] = bind_record_names("bind", "lb", "pod-0", "10.0.0.1", "tcp", 80);
        assert_eq!(original, "5d7d3b9a6b47a2866a5820bd0f4399ec");
        assert_ne!(original, other);
        let one = bind_record_names("a-b", "c", "p", "10.0.0.1", "TCP", 80);
        let another = bind_record_names("a", "b-c", "p", "10.0.0.1", "TCP", 80);
        assert_eq!(one[0], another[0], "the original's is ambiguous");
        assert_ne!(one[1], another[1]);
    }

    #[test]
    fn d17_addresses_become_legal_label_values() {
        assert_eq!(address_label("1.1.1.1:8080"), "1.1.1.1_8080");
        assert_eq!(address_label("[2001:db8::1]:80"), "2001_db8__1__80");
        assert_eq!(address_label(r#"{"ip":"1.1.1.1"}"#), "ip___1.1.1.1");
        assert_eq!(address_label("::"), "");
        assert!(address_label(&"a:".repeat(60)).len() <= 63);
    }

    #[test]
    fn b54_b57_the_prefix_decides_the_namespace() {
        assert_eq!(
            resolve("ns", "lbcf-x"),
            ObjectKey::new("kube-system", "lbcf-x")
        );
        assert_eq!(resolve("ns", "x"), ObjectKey::new("ns", "x"));
    }

    #[test]
    fn d26_long_names_become_legal_label_values() {
        let short = "a".repeat(63);
        assert_eq!(label_value(&short), short);
        let long = label_value(&format!("{}.{}", "a".repeat(53), "b".repeat(60)));
        assert!(long.len() <= 63, "{long}");
        assert!(
            long.starts_with(&"a".repeat(53)) && !long.contains(".-"),
            "{long}"
        );
        assert_ne!(label_value(&"c".repeat(64)), label_value(&"c".repeat(65)));
    }
}
