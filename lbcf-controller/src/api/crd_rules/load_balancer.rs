use super::constrained::Constrained;
use super::{immutable, parts};
use crate::api::allowed;
use kube::core;
use schemars::Schema;

/// A rule of the whole object, since the name is not part of the spec (b55). The namespace is not
/// known to rules. Every write changes the whole object, so that the API server would not ratchet the
/// rule: it lets a scope pass that was stored before.
pub(in crate::api) fn scope_needs_a_system_name() -> core::Rule {
    core::Rule::new(
        "!has(self.spec.scope) || size(self.spec.scope) == 0 || self.metadata.name.startsWith('lbcf-') || (oldSelf.hasValue() && has(oldSelf.value().spec.scope) && oldSelf.value().spec.scope == self.spec.scope)",
    )
    .optional_old_self(true)
    .field_path(".spec.scope")
    .message("spec.scope is only allowed where the name starts with \"lbcf-\"")
}

pub(in crate::api) fn load_balancer(schema: &mut Schema) {
    let mut spec = Constrained::of(schema);
    let mutable = "attributes, ensurePolicy and scope can be changed";
    spec.rules(["lbDriver", "lbSpec"].map(|field| immutable(field, mutable)));
    parts::object_name(&mut spec.at("lbDriver"));
    parts::driver_map(&mut spec.at("lbSpec"));
    parts::driver_map(&mut spec.at("attributes"));
    parts::texts(&mut spec.at("scope"), allowed::NAMES);
    parts::namespace_or_all(&mut spec.at("scope[]"));
    parts::ensure_policy(&mut spec.at("ensurePolicy"), allowed::MIN_PERIOD);
}
