//! The rules of each kind.

use super::constrained::{Constrained, Rule};
use super::parts::{self, length_of_map};
use crate::api::allowed;
use crate::api::placeholders::{OF_PORT, OF_SERVICE};
use lbcf_driver_sdk::webhook::ALL;
use schemars::Schema;

/// A field that an update must not change.
fn immutable(field: &str, hint: &str) -> Rule {
    let rule = format!(
        "has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    );
    Rule::new(rule, format!("{field} is immutable; {hint}"))
}

pub(in crate::api) fn load_balancer_driver(schema: &mut Schema) {
    let mut spec = Constrained::of(schema);
    spec.rules([
        Rule::new(
            format!("self.driverType == '{}'", allowed::DRIVER_TYPE),
            format!("driverType must be {}", allowed::DRIVER_TYPE),
        ),
        immutable(
            "url",
            "webhooks, acceptDryRunCall and serviceClass can be changed",
        ),
        // A rule of the field itself would show its value, which may contain a password.
        Rule::new(
            format!(
                "size(self.url) > {} || self.url.matches('^(?i:https?)://[^/?# ]+[^ ]*$')",
                allowed::URL
            ),
            "not a driver's URL, which is http://HOST[:PORT][/PATH] or the same with https",
        )
        .field(".url"),
    ]);
    spec.at("driverType").max_length(allowed::LABEL);
    spec.at("url").max_length(allowed::URL);
    let count = allowed::WEBHOOKS;
    let unique = format!(
        "size(self) > {count} || self.all(one, self.exists_one(other, other.name == one.name))"
    );
    spec.at("webhooks")
        .max_items(count)
        .rules([Rule::new(unique, allowed::IS_UNIQUE_WEBHOOK)]);
    let known: Vec<&str> = ALL.iter().map(|webhook| webhook.name).collect();
    let rule = format!("self in ['{}']", known.join("', '"));
    let message = format!("must be one of {}", known.join(", "));
    spec.at("webhooks[].name")
        .max_length(allowed::LABEL)
        .rules([Rule::new(rule, message)]);
    let longest = allowed::MAX_TIMEOUT.as_secs();
    parts::duration(
        &mut spec.at("webhooks[].timeout"),
        &format!("duration(self) > duration('0s') && duration(self) <= duration('{longest}s')"),
        &format!("{}, as in 15s", allowed::IS_TIMEOUT),
    );
    service_class(&mut spec.at("serviceClass"));
}

/// Entries are few and short, so that the rules cost little.
fn service_class(class: &mut Constrained<'_>) {
    let count = allowed::CLASS_ENTRIES;
    let known = [&OF_PORT[..], &OF_SERVICE].concat().join("|");
    // A dollar sign before a bracket begins a placeholder.
    let known = format!("^([^$]|[$]+[^($]|[$]+[(]({known})[)])*[$]*$");
    for map in ["lbSpec", "parameters"] {
        let rule = format!("size(self) > {count} || self.all(key, self[key].matches('{known}'))");
        class
            .at(map)
            .max_properties(count)
            .max_value(allowed::CLASS_VALUE)
            .rules([Rule::new(rule, allowed::IS_PLACEHOLDER)]);
    }
    let of_port = OF_PORT.map(|name| format!("self.lbSpec[key].contains('$({name})')"));
    let is_per_port = "!has(self.loadBalancers) || self.loadBalancers != 'PerService'";
    let rule = format!(
        "{is_per_port} || !has(self.lbSpec) || size(self.lbSpec) > {count} || !self.lbSpec.exists(key, {})",
        of_port.join(" || ")
    );
    class.rules([Rule::new(rule, allowed::PER_PORT_ONLY).field(".lbSpec")]);
    parts::label_key(&mut class.at("name"), allowed::IS_CLASS);
    parts::ensure_policy(&mut class.at("ensurePolicy"), allowed::MIN_PERIOD);
    parts::min_registered(&mut class.at("minRegistered"));
    class
        .at("attributes")
        .max_properties(count)
        .max_value(allowed::KEY);
    class.at("policyAnnotations").max_properties(count);
    let fields = allowed::SERVICE_FIELDS.join("', '");
    let rule = format!("size(self) > {count} || self.all(key, key in ['{fields}'])");
    class
        .at("serviceFields")
        .max_properties(count)
        .max_value(allowed::KEY)
        .rules([Rule::new(rule, allowed::IS_SERVICE_FIELD)]);
    for key in ["ip", "hostname"] {
        class.at(&format!("ingress.{key}")).max_length(allowed::KEY);
    }
}

/// A rule of the whole object, since the name is not part of the spec. The namespace is not
/// known to rules. Every write changes the whole object, so that the API server would not ratchet the
/// rule: it lets a scope pass that was stored before.
pub(in crate::api) fn scope_needs_a_system_name() -> kube::core::Rule {
    kube::core::Rule::new(
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

const HAS_STATIC: &str = "has(self.static) && size(self.static) > 0";

pub(in crate::api) fn backend_group(schema: &mut Schema) {
    let mut spec = Constrained::of(schema);
    spec.rules([
        Rule::new(
            format!("[has(self.pods), has(self.service), {HAS_STATIC}].filter(there, there).size() <= 1"),
            allowed::ONE_KIND,
        ),
        // A group may lose its last address.
        Rule::new(
            format!("has(self.pods) || has(self.service) || ({HAS_STATIC}) || oldSelf.hasValue()"),
            allowed::NEEDS_BACKENDS,
        )
        .with_old(),
        Rule::new(
            "(has(self.loadBalancers) && size(self.loadBalancers) > 0) || (has(self.lbName) && size(self.lbName) > 0)",
            allowed::NEEDS_LOAD_BALANCER,
        )
        .field(".loadBalancers"),
    ]);
    spec.rules([
        keeps_its_type("!has(oldSelf.pods) || has(self.pods)", "pods"),
        keeps_its_type("!has(oldSelf.service) || has(self.service)", "service"),
        keeps_its_type(
            "!(has(oldSelf.static) && size(oldSelf.static) > 0) || !(has(self.pods) || has(self.service))",
            "static",
        ),
    ]);
    spec.at("loadBalancers").max_items(allowed::LOAD_BALANCERS);
    parts::object_name(&mut spec.at("loadBalancers[]"));
    spec.at("lbName").max_length(allowed::NAME);
    parts::pods(&mut spec.at("pods"), &parts::upper_case_protocol());
    parts::service(&mut spec.at("service"));
    parts::texts(&mut spec.at("static"), allowed::ADDRESSES);
    spec.at("static[]")
        .max_length(allowed::ADDRESS)
        .rules([Rule::new("size(self.trim()) > 0", allowed::IS_ADDRESS)]);
    parts::driver_map(&mut spec.at("parameters"));
    parts::deregister_webhook(&mut spec);
    parts::ensure_policy(&mut spec.at("ensurePolicy"), allowed::MIN_PERIOD);
    parts::min_registered(&mut spec.at("minRegistered"));
}

fn keeps_its_type(rule: &str, type_name: &str) -> Rule {
    let message = format!(
        "the type of backends cannot be changed from {type_name}; create a new BackendGroup"
    );
    Rule::new(rule, message)
}

/// The fields that identify a backend do not change: otherwise the backend that was registered before would stay
/// in the cloud. There are no other rules, as the controller also writes records of objects that were
/// stored before the rules.
pub(in crate::api) fn backend_record(schema: &mut Schema) {
    let identity = [
        "lbDriver",
        "lbName",
        "lbInfo",
        "podBackend",
        "serviceBackend",
        "endpointBackend",
        "staticAddr",
    ];
    let hint = "the controller creates another record instead";
    Constrained::of(schema).rules(identity.map(|field| immutable(field, hint)));
}

pub(in crate::api) fn bind(schema: &mut Schema) {
    let mut spec = Constrained::of(schema);
    load_balancers(&mut spec);
    spec.rules([
        Rule::new(
            "!(has(self.pods) && has(self.service))",
            allowed::PODS_OR_SERVICE,
        ),
        Rule::new(
            "has(self.pods) || has(self.service)",
            allowed::NEEDS_PODS_OR_SERVICE,
        ),
    ]);
    parts::service(&mut spec.at("service"));
    parts::pods(&mut spec.at("pods"), &parts::any_case_protocol());
    parts::driver_map(&mut spec.at("parameters"));
    parts::deregister_webhook(&mut spec);
    let mut policy = spec.at("ensurePolicy");
    parts::ensure_policy(&mut policy, allowed::BIND_MIN_PERIOD);
    let seconds = allowed::BIND_MIN_PERIOD.as_secs();
    policy.at("resyncPeriodInSeconds").rules([Rule::new(
        format!("self >= {seconds}"),
        format!("must be at least {seconds}"),
    )]);
}

fn load_balancers(spec: &mut Constrained<'_>) {
    let count = allowed::LOAD_BALANCERS;
    spec.at("loadBalancers").max_items(count).rules([
        Rule::new("size(self) > 0", allowed::NEEDS_TARGET),
        Rule::new(
            format!("size(self) > {count} || self.all(one, self.exists_one(other, other.name == one.name))"),
            allowed::IS_UNIQUE_NAME,
        ),
        Rule::new(
            format!(
                "size(self) > {count} || self.exists(lb, {}) || self.map(lb, {} + {}).sum() <= {}",
                has_large_map(),
                length_of("lb.spec"),
                length_of("lb.attributes"),
                allowed::BIND_MAPS
            ),
            format!(
                "the keys and values of spec and attributes have at most {} characters in all",
                allowed::BIND_MAPS
            ),
        ),
    ]);
    let is_same_spec = "has(lb.spec) == has(old.spec) && (!has(lb.spec) || lb.spec == old.spec)";
    spec.rules([
        keeps_equal("driver", "lb.driver == old.driver"),
        keeps_equal("spec", is_same_spec),
    ]);
    let mut lb = spec.at("loadBalancers[]");
    lb.rules([
        Rule::new("has(self.spec) && size(self.spec) > 0", allowed::NEEDS_SPEC).field(".spec"),
    ]);
    parts::bind_load_balancer_name(&mut lb.at("name"));
    parts::object_name(&mut lb.at("driver"));
    parts::driver_map(&mut lb.at("spec"));
    parts::driver_map(&mut lb.at("attributes"));
}

/// True where a map of a load balancer exceeds its own limit, which the schema reports.
fn has_large_map() -> String {
    let large = |map: &str| format!("(has({map}) && size({map}) > {})", allowed::ENTRIES);
    format!("{} || {}", large("lb.spec"), large("lb.attributes"))
}

fn length_of(map: &str) -> String {
    format!("(has({map}) ? {} : 0)", length_of_map(map))
}

/// Another driver or spec means another load balancer, which needs another name.
fn keeps_equal(field: &str, is_equal: &str) -> Rule {
    let count = allowed::LOAD_BALANCERS;
    let rule = format!(
        "size(self.loadBalancers) > {count} || size(oldSelf.loadBalancers) > {count} || self.loadBalancers.all(lb, oldSelf.loadBalancers.all(old, old.name != lb.name || ({is_equal})))"
    );
    let message = format!(
        "{field} of a load balancer is immutable; change its attributes, or add a load balancer of another name"
    );
    Rule::new(rule, message).field(".loadBalancers")
}
