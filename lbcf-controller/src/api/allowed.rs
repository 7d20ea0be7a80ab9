//! The values that are allowed in specs: sizes, and texts that describe them. Admission and the CRDs
//! apply the same.
//!
//! The sizes keep an object and its status well below the 1.5 MiB that etcd stores, so that what was
//! created in the cloud can always be recorded and deleted. They are far above what a load
//! balancer has: a manifest that kubectl applies has at most 256 KiB, as kubectl stores a copy of it
//! in an annotation. Lengths are in characters.

use std::time::Duration;

/// The length of an object's name.
pub(crate) const NAME: usize = 253;
/// The length of a DNS label, a label's value, and a label's key without its prefix.
pub(crate) const LABEL: usize = 63;
/// The length of a label's key: a domain, a slash and a name.
pub(crate) const LABEL_KEY: usize = NAME + 1 + LABEL;
/// The length of a driver's URL.
pub(crate) const URL: usize = 2048;
/// The length of a static address, whose format the driver defines.
pub(crate) const ADDRESS: usize = 1024;
/// The length of a duration. Durations of this length do not exceed what Go can represent, because a
/// rule that fails to compute would block even the removal of a finalizer.
pub(crate) const DURATION: usize = 20;

/// The number of entries of a map that the driver defines, such as `attributes`.
pub(crate) const ENTRIES: usize = 256;
/// The length of a key in such a map.
pub(crate) const KEY: usize = 253;
/// The length of a value, which may be a chain of certificates.
pub(crate) const VALUE: usize = 16 << 10;
/// The length of all keys and values of a map together.
pub(crate) const MAP: usize = 64 << 10;
/// The length of all keys and values of the load balancers of a Bind together. Its status has a copy.
pub(crate) const BIND_MAPS: usize = 128 << 10;
/// The length of a number in these sums: the digits of the longest.
pub(crate) const NUMBER: usize = 20;

/// The number of load balancers of a Bind or a BackendGroup.
pub(crate) const LOAD_BALANCERS: usize = 128;
/// The number of ports.
pub(crate) const PORTS: usize = 1024;
/// The number of names of pods or namespaces.
pub(crate) const NAMES: usize = 2048;
/// The number of static addresses.
pub(crate) const ADDRESSES: usize = 4096;
/// The length of all names or addresses of a list together.
pub(crate) const LIST: usize = 256 << 10;
/// The number of address families of a Service, and of zones.
pub(crate) const FAMILIES: usize = 3;
pub(crate) const ZONES: usize = 64;
/// The number of labels of a selector.
pub(crate) const SELECTOR: usize = 128;
/// The number of entries of a map in a service class, and the length of their values.
pub(crate) const CLASS_ENTRIES: usize = 64;
pub(crate) const CLASS_VALUE: usize = 1024;
/// The number of webhooks of a driver. There are fewer.
pub(crate) const WEBHOOKS: usize = 32;

/// The only type of drivers.
pub const DRIVER_TYPE: &str = "Webhook";
/// The longest timeout of a webhook.
pub(crate) const MAX_TIMEOUT: Duration = Duration::from_secs(60);
/// The shortest periods of `Always`.
pub(crate) const MIN_PERIOD: Duration = Duration::from_secs(30);
pub(crate) const BIND_MIN_PERIOD: Duration = Duration::from_secs(10);

// What values must be.
pub(crate) const IS_OBJECT_NAME: &str = "must be an object's name: at most 253 of a-z, 0-9, '-' and '.', a letter or digit at both ends";
pub(crate) const IS_DNS_LABEL: &str =
    "must be at most 63 of a-z, 0-9 and '-', a letter or digit at both ends";
pub(crate) const IS_LABEL_KEY: &str = "not a label's key: [DOMAIN/]NAME, NAME at most 63 of A-Z, a-z, 0-9, '-', '_' and '.', a letter or digit at both ends";
pub(crate) const IS_LABEL_VALUE: &str = "not a label's value: at most 63 of A-Z, a-z, 0-9, '-', '_' and '.', a letter or digit at both ends";
pub(crate) const IS_PORT: &str = "must be a number from 1 to 65535";
pub(crate) const IS_PROTOCOL: &str = "must be TCP or UDP";
pub(crate) const IS_ENDPOINT_PROTOCOL: &str = "must be TCP, UDP or SCTP";
pub(crate) const IS_ZONE: &str = "must be the name of a zone: at most 63 of A-Z, a-z, 0-9, '-', '_' and '.', a letter or digit at both ends";
pub(crate) const IS_TIMEOUT: &str = "must be more than 0 and at most 1m";
pub(crate) const IS_ADDRESS: &str =
    "must be an address that the driver understands, such as 1.1.1.1:8080";
pub(crate) const IS_UNIQUE_WEBHOOK: &str = "duplicate; each webhook may be listed once";
pub(crate) const IS_UNIQUE_NAME: &str = "duplicate; names must be unique within a Bind";

pub(crate) const IS_CLASS: &str = "must be a class as Services name it, which is [DOMAIN/]NAME like a label's key, as in lbcf.tkestack.io/clb";
/// The fields of a Service that a class may pass to its driver.
pub(crate) const SERVICE_FIELDS: [&str; 7] = [
    "externalTrafficPolicy",
    "healthCheckNodePort",
    "ipFamilies",
    "ipFamilyPolicy",
    "loadBalancerIP",
    "loadBalancerSourceRanges",
    "sessionAffinity",
];
pub(crate) const IS_SERVICE_FIELD: &str = "the fields are externalTrafficPolicy, healthCheckNodePort, ipFamilies, ipFamilyPolicy, loadBalancerIP, loadBalancerSourceRanges and sessionAffinity";
pub(crate) const IS_PLACEHOLDER: &str =
    "placeholders are $(port), $(protocol), $(namespace), $(name) and $(uid)";
pub(crate) const PER_PORT_ONLY: &str =
    "$(port) and $(protocol) are only allowed with loadBalancers PerPort";

// What is missing.
pub(crate) const NEEDS_LOAD_BALANCER: &str =
    "at least one is required, as in loadBalancers: [my-load-balancer]";
pub(crate) const NEEDS_BACKENDS: &str = "one of pods, service and static is required";
pub(crate) const NEEDS_PODS_OR_SERVICE: &str = "one of pods and service is required";
pub(crate) const NEEDS_PORTS: &str =
    "at least one is required, as in ports: [{port: 80, protocol: TCP}]";
pub(crate) const NEEDS_PODS: &str = "byLabel or byName is required, as in byLabel: {selector: {app: my-web-server}} or byName: [my-pod-1]";
pub(crate) const NEEDS_TARGET: &str = "at least one is required, as in loadBalancers: [{name: my-lb, driver: my-driver, spec: {id: lb-1}}]";
pub(crate) const NEEDS_SPEC: &str =
    "required; it identifies a load balancer or describes the one to create";

// What cannot be set together.
pub(crate) const ONE_KIND: &str = "only one of pods, service and static can be set";
pub(crate) const PODS_OR_SERVICE: &str = "only one of pods and service can be set";
pub(crate) const LABEL_OR_NAME: &str = "byLabel and byName cannot both be set";
pub(crate) const NAME_OR_NUMBER: &str =
    "a name can be set only alone, without a number and a protocol";
pub(crate) const ONLY_WITH_ENDPOINTS: &str = "only allowed with spec.service.mode Endpoints";
pub(crate) const ONLY_WITH_NODE_PORT: &str = "only allowed with spec.service.mode NodePort";
pub(crate) const ONLY_WITH_ALWAYS: &str = "only allowed with spec.ensurePolicy.policy Always";
