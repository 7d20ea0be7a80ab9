use super::constrained::{Constrained, Rule};
use super::{immutable, parts};
use crate::api::allowed;
use crate::api::placeholders::{OF_PORT, OF_SERVICE};
use lbcf_driver_sdk::webhook::ALL;
use schemars::Schema;

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
    class
        .at("attributes")
        .max_properties(count)
        .max_value(allowed::KEY);
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
