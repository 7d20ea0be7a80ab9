//! CEL validation rules of the CRDs, which the API server evaluates even where admission webhooks are
//! not installed.
//!
//! Every object that the original controller accepted satisfies them, or they compare with the old
//! object, so that no stored object becomes immutable by accident. They do not iterate over lists or
//! maps of unbounded length, because the API server refuses CRDs with rules that are too expensive.
//! `has` is false for a field that is `null` (b5).

use kube::core::Rule;
use serde_json::{Value, json};

/// The rules of one schema: CEL expressions and the messages of their violations.
pub(super) struct Rules(&'static [(&'static str, &'static str)]);

impl Rules {
    /// The value of `x-kubernetes-validations`.
    pub(super) fn to_json(&self) -> Value {
        self.0
            .iter()
            .map(|(rule, message)| json!({ "rule": rule, "message": message }))
            .collect()
    }
}

/// A rule of the whole object, since the name is not part of the spec (b55).
pub(super) fn scope_needs_a_system_name() -> Rule {
    Rule::new(
        "!has(self.spec.scope) || size(self.spec.scope) == 0 || self.metadata.name.startsWith('lbcf-')",
    )
    .message("spec.scope is only allowed where the name starts with \"lbcf-\"")
}

pub(super) const LOAD_BALANCER: Rules = Rules(&[
    (
        "self.lbDriver == oldSelf.lbDriver",
        "lbDriver is immutable; attributes, ensurePolicy and scope can be changed",
    ),
    (
        "has(self.lbSpec) == has(oldSelf.lbSpec) && (!has(self.lbSpec) || self.lbSpec == oldSelf.lbSpec)",
        "lbSpec is immutable; attributes, ensurePolicy and scope can be changed",
    ),
]);

pub(super) const DRIVER: Rules = Rules(&[
    ("self.driverType == 'Webhook'", "driverType must be Webhook"),
    (
        "self.url == oldSelf.url",
        "url is immutable; webhooks and acceptDryRunCall can be changed",
    ),
]);

pub(super) const BACKEND_GROUP: Rules = Rules(&[
    (
        // Groups with none of them exist where the original controller was used.
        "[has(self.pods), has(self.service), has(self.static) && size(self.static) > 0].filter(there, there).size() <= 1",
        "only one of pods, service and static can be set",
    ),
    (
        "!has(oldSelf.pods) || has(self.pods)",
        "the type of backends cannot be changed from pods; create a new BackendGroup",
    ),
    (
        "!has(oldSelf.service) || has(self.service)",
        "the type of backends cannot be changed from service; create a new BackendGroup",
    ),
    (
        "!(has(oldSelf.static) && size(oldSelf.static) > 0) || !(has(self.pods) || has(self.service))",
        "the type of backends cannot be changed from static; create a new BackendGroup",
    ),
    DEREGISTER_WEBHOOK,
]);

/// What identifies a backend (d37): after a change the backend that was registered before would stay
/// in the cloud.
pub(super) const BACKEND_RECORD: Rules = Rules(&[
    (
        "self.lbDriver == oldSelf.lbDriver",
        "lbDriver is immutable; the controller creates another record instead",
    ),
    (
        "self.lbName == oldSelf.lbName",
        "lbName is immutable; the controller creates another record instead",
    ),
    (
        "has(self.lbInfo) == has(oldSelf.lbInfo) && (!has(self.lbInfo) || self.lbInfo == oldSelf.lbInfo)",
        "lbInfo is immutable; the controller creates another record instead",
    ),
    (
        "has(self.podBackend) == has(oldSelf.podBackend) && (!has(self.podBackend) || self.podBackend == oldSelf.podBackend)",
        "podBackend is immutable; the controller creates another record instead",
    ),
    (
        "has(self.serviceBackend) == has(oldSelf.serviceBackend) && (!has(self.serviceBackend) || self.serviceBackend == oldSelf.serviceBackend)",
        "serviceBackend is immutable; the controller creates another record instead",
    ),
    (
        "has(self.staticAddr) == has(oldSelf.staticAddr) && (!has(self.staticAddr) || self.staticAddr == oldSelf.staticAddr)",
        "staticAddr is immutable; the controller creates another record instead",
    ),
]);

pub(super) const BIND: Rules = Rules(&[DEREGISTER_WEBHOOK]);

pub(super) const SELECT_BY_LABEL: Rules = Rules(&[(
    "has(self.selector) && size(self.selector) > 0",
    "selector is required; labels belong into it, as in byLabel: {selector: {app: my-web-server}}",
)]);

const DEREGISTER_WEBHOOK: (&str, &str) = (
    "!has(self.deregisterPolicy) || self.deregisterPolicy != 'Webhook' || has(self.deregisterWebhook)",
    "deregisterWebhook is required with deregisterPolicy Webhook; it names a LoadBalancerDriver",
);
