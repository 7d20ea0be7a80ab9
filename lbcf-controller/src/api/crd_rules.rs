//! The rules that the API server itself checks, also where admission is off: those that need
//! nothing but the object.
//!
//! Each holds for every object that the original controller let pass, or speaks of a change only,
//! so that no stored object becomes unchangeable. None looks into lists or maps of unbounded
//! length, whose cost the API server would refuse. To the API server's `has`, a field that is
//! `null` is absent (b5).

use kube::core::Rule;
use serde_json::{Value, json};

/// The rules of one structure, each a CEL expression and what it says when it is broken.
pub(super) struct Rules(&'static [(&'static str, &'static str)]);

impl Rules {
    /// As `x-kubernetes-validations` has them.
    pub(super) fn to_json(&self) -> Value {
        self.0
            .iter()
            .map(|(rule, message)| json!({ "rule": rule, "message": message }))
            .collect()
    }
}

/// A load balancer's whole object: its name is not in its spec (b55).
pub(super) fn scope_needs_a_system_name() -> Rule {
    Rule::new(
        "!has(self.spec.scope) || size(self.spec.scope) == 0 || self.metadata.name.startsWith('lbcf-')",
    )
    .message("spec.scope: only for a load balancer whose name starts with \"lbcf-\"")
}

pub(super) const LOAD_BALANCER: Rules = Rules(&[
    (
        "self.lbDriver == oldSelf.lbDriver",
        "lbDriver: cannot be changed; attributes, ensurePolicy and scope can",
    ),
    (
        "has(self.lbSpec) == has(oldSelf.lbSpec) && (!has(self.lbSpec) || self.lbSpec == oldSelf.lbSpec)",
        "lbSpec: cannot be changed; attributes, ensurePolicy and scope can",
    ),
]);

pub(super) const DRIVER: Rules = Rules(&[
    (
        "self.driverType == 'Webhook'",
        "driverType: must be Webhook",
    ),
    (
        "self.url == oldSelf.url",
        "url: cannot be changed; webhooks and acceptDryRunCall can",
    ),
]);

pub(super) const BACKEND_GROUP: Rules = Rules(&[
    (
        // The original knows groups with none of them.
        "[has(self.pods), has(self.service), has(self.static) && size(self.static) > 0].filter(there, there).size() <= 1",
        "only one of pods, service and static can be there",
    ),
    (
        "!has(oldSelf.pods) || has(self.pods)",
        "the kind of backends cannot be changed, it is pods; make a new group",
    ),
    (
        "!has(oldSelf.service) || has(self.service)",
        "the kind of backends cannot be changed, it is service; make a new group",
    ),
    (
        "!(has(oldSelf.static) && size(oldSelf.static) > 0) || !(has(self.pods) || has(self.service))",
        "the kind of backends cannot be changed, it is static; make a new group",
    ),
    DEREGISTER_WEBHOOK,
]);

pub(super) const BIND: Rules = Rules(&[DEREGISTER_WEBHOOK]);

pub(super) const SELECT_BY_LABEL: Rules = Rules(&[(
    "has(self.selector) && size(self.selector) > 0",
    "names no label; labels go into the selector, as in byLabel: {selector: {app: my-web-server}}",
)]);

const DEREGISTER_WEBHOOK: (&str, &str) = (
    "!has(self.deregisterPolicy) || self.deregisterPolicy != 'Webhook' || has(self.deregisterWebhook)",
    "deregisterWebhook: missing; deregisterPolicy Webhook needs the name of a LoadBalancerDriver",
);
