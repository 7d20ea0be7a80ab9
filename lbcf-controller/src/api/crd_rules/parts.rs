//! Rules of values that several kinds have.
//!
//! A rule must not fail to compute, and must not exceed the cost that the API server grants at run
//! time: both would block every write of a stored object, even the removal of its finalizer. What
//! exceeds a size is reported by the schema, so rules let it pass.

use super::constrained::{Constrained, Rule};
use crate::api::allowed;
use lbcf_serving::duration::display;
use std::time::Duration;

const OBJECT_NAME: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL_NAME: &str = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
/// Durations whose sum Go can represent if they have the allowed length.
const DURATION: &str = "^[+]?(([0-9]{1,6}([.][0-9]{0,9})?|[.][0-9]{1,9})(h|m|s)|([0-9]{1,12}([.][0-9]{0,9})?|[.][0-9]{1,9})(ms|us|ns))+$";

/// A name of an object, to which another one refers.
pub(super) fn object_name(schema: &mut Constrained<'_>) {
    schema
        .max_length(allowed::NAME)
        .rules([Rule::new(is_object_name("self"), allowed::IS_OBJECT_NAME)]);
}

fn is_object_name(text: &str) -> String {
    format!(
        "(size({text}) > {} || {text}.matches('^{OBJECT_NAME}$'))",
        allowed::NAME
    )
}

/// A text that matches a pattern as a whole.
fn text(schema: &mut Constrained<'_>, length: usize, pattern: &str, message: impl Into<String>) {
    let rule = format!("size(self) > {length} || self.matches('^{pattern}$')");
    schema.max_length(length).rules([Rule::new(rule, message)]);
}

/// A name of a load balancer in a Bind. The original controller accepted hyphens at its end.
pub(super) fn bind_load_balancer_name(schema: &mut Constrained<'_>) {
    let pattern = "[a-z0-9][-a-z0-9]*";
    text(schema, allowed::LABEL, pattern, allowed::IS_DNS_LABEL);
}

/// The name of a namespace, or `*`.
pub(super) fn namespace_or_all(schema: &mut Constrained<'_>) {
    let pattern = "([*]|[a-z0-9]([-a-z0-9]*[a-z0-9])?)";
    let is_label = allowed::IS_DNS_LABEL;
    let message = format!("must be * or the name of a namespace, which {is_label}");
    text(schema, allowed::LABEL, pattern, message);
}

/// A list of names or addresses, of limited length together.
pub(super) fn texts(schema: &mut Constrained<'_>, count: usize) {
    let rule = format!(
        "size(self) > {count} || self.map(text, size(text)).sum() <= {}",
        allowed::LIST
    );
    let message = format!("at most {} characters in all", allowed::LIST);
    schema.max_items(count).rules([Rule::new(rule, message)]);
}

/// A map whose keys and values the driver defines.
pub(super) fn driver_map(schema: &mut Constrained<'_>) {
    let (entries, key) = (allowed::ENTRIES, allowed::KEY);
    schema
        .max_properties(entries)
        .max_value(allowed::VALUE)
        .rules([
            Rule::new(
                format!("size(self) > {entries} || self.all(key, size(key) <= {key})"),
                format!("keys have at most {key} characters"),
            ),
            Rule::new(
                format!(
                    "size(self) > {entries} || {} <= {}",
                    length_of_map("self"),
                    allowed::MAP
                ),
                format!(
                    "keys and values have at most {} characters in all",
                    allowed::MAP
                ),
            ),
        ]);
}

/// The length of all keys and values of a map. Values are strings or numbers.
pub(super) fn length_of_map(map: &str) -> String {
    let number = allowed::NUMBER;
    format!(
        "{map}.map(key, size(key) + (type({map}[key]) == string ? size({map}[key]) : {number})).sum()"
    )
}

/// A key of a label, or what has the same form.
pub(super) fn label_key(schema: &mut Constrained<'_>, message: &str) {
    let pattern = format!("({OBJECT_NAME}/)?{LABEL_NAME}");
    text(schema, allowed::LABEL_KEY, &pattern, message);
}

/// A selector of labels.
pub(super) fn labels(schema: &mut Constrained<'_>) {
    let (count, key, value) = (allowed::SELECTOR, allowed::LABEL_KEY, allowed::LABEL);
    let keys = format!(
        "size(self) > {count} || self.all(key, size(key) <= {key} && key.matches('^({OBJECT_NAME}/)?{LABEL_NAME}$'))"
    );
    let values = format!(
        "size(self) > {count} || self.all(key, size(self[key]) <= {value} && self[key].matches('^({LABEL_NAME})?$'))"
    );
    schema.max_properties(count).max_value(value).rules([
        Rule::new(keys, allowed::IS_LABEL_KEY),
        Rule::new(values, allowed::IS_LABEL_VALUE),
    ]);
}

/// A port that needs a number `unless` a condition is true; `protocol` is a rule of its protocol.
fn numbered_port(schema: &mut Constrained<'_>, unless: &str, protocol: Rule) {
    const HAS_NUMBER: &str = "(has(self.port) && self.port > 0) || (has(self.portNumber) && self.portNumber > 0) || (has(self.port) && self.port < 0)";
    schema.rules([Rule::new(
        format!("{unless}{HAS_NUMBER}"),
        format!("required; {}", allowed::IS_PORT),
    )
    .field(".port")]);
    for number in ["port", "portNumber"] {
        // 0 is what Go clients write for an absent number.
        let rule = Rule::new("self >= 0 && self <= 65535", allowed::IS_PORT);
        schema.at(number).rules([rule]);
    }
    schema
        .at("protocol")
        .max_length(allowed::LABEL)
        .rules([protocol]);
}

/// The selection of a Service.
pub(super) fn service(schema: &mut Constrained<'_>) {
    const HAS_FAMILIES: &str = "has(self.addressFamilies) && size(self.addressFamilies) > 0";
    const HAS_ZONES: &str = "has(self.zones) && size(self.zones) > 0";
    const HAS_NODES: &str = "has(self.nodeSelector) && size(self.nodeSelector) > 0";
    const ON_ENDPOINTS: &str = "has(self.mode) && self.mode == 'Endpoints'";
    const IS_SCTP: &str = "has(self.port.protocol) && self.port.protocol == 'SCTP'";
    let only = |condition: &str, field: &str, message: &str, path: &'static str| {
        Rule::new(format!("!({field}) || {condition}"), message).field(path)
    };
    let endpoints = format!("({ON_ENDPOINTS})");
    let node_port = format!("!({ON_ENDPOINTS})");
    let (with_endpoints, with_node_port) =
        (allowed::ONLY_WITH_ENDPOINTS, allowed::ONLY_WITH_NODE_PORT);
    object_name(&mut schema.at("name"));
    schema.rules([
        only(&endpoints, HAS_FAMILIES, with_endpoints, ".addressFamilies"),
        only(&endpoints, HAS_ZONES, with_endpoints, ".zones"),
        only(&node_port, HAS_NODES, with_node_port, ".nodeSelector"),
        only(&endpoints, IS_SCTP, allowed::IS_PROTOCOL, ".port.protocol"),
    ]);
    service_port(&mut schema.at("port"));
    labels(&mut schema.at("nodeSelector"));
    schema.at("addressFamilies").max_items(allowed::FAMILIES);
    schema.at("zones").max_items(allowed::ZONES);
    let mut zone = schema.at("zones[]");
    text(&mut zone, allowed::LABEL, LABEL_NAME, allowed::IS_ZONE);
}

/// A port of a Service, by name or by number. An empty name is none.
fn service_port(schema: &mut Constrained<'_>) {
    const IS_NAMED: &str = "has(self.name) && size(self.name) > 0";
    let pattern = "([a-z0-9]([-a-z0-9]*[a-z0-9])?)?";
    let mut name = schema.at("name");
    text(&mut name, allowed::LABEL, pattern, allowed::IS_DNS_LABEL);
    schema.rules([Rule::new(
        format!(
            "!({IS_NAMED}) || !((has(self.port) && self.port != 0) || (has(self.portNumber) && self.portNumber != 0) || has(self.protocol))"
        ),
        allowed::NAME_OR_NUMBER,
    )]);
    numbered_port(schema, &format!("({IS_NAMED}) || "), endpoint_protocol());
}

/// An empty protocol is TCP, as an absent one is.
pub(super) fn upper_case_protocol() -> Rule {
    Rule::new("self in ['', 'TCP', 'UDP']", allowed::IS_PROTOCOL)
}

/// Endpoints may also use SCTP.
fn endpoint_protocol() -> Rule {
    Rule::new(
        "self in ['', 'TCP', 'UDP', 'SCTP']",
        allowed::IS_ENDPOINT_PROTOCOL,
    )
}

pub(super) fn any_case_protocol() -> Rule {
    Rule::new(
        "size(self) <= 3 && self.matches('^(|[Tt][Cc][Pp]|[Uu][Dd][Pp])$')",
        allowed::IS_PROTOCOL,
    )
}

/// The ports and pods of a selection; see [`numbered_port`].
pub(super) fn pods(schema: &mut Constrained<'_>, protocol: &Rule) {
    schema.rules([
        Rule::new(
            "(has(self.ports) && size(self.ports) > 0) || has(self.port)",
            allowed::NEEDS_PORTS,
        )
        .field(".ports"),
        // A selection by name may lose its last name.
        Rule::new(
            "has(self.byLabel) || (has(self.byName) && size(self.byName) > 0) || oldSelf.hasValue()",
            allowed::NEEDS_PODS,
        )
        .with_old(),
        // The original controller accepted Binds with both.
        Rule::new(
            "!(has(self.byLabel) && has(self.byName) && size(self.byName) > 0) || (oldSelf.hasValue() && has(oldSelf.value().byLabel) && has(oldSelf.value().byName) && size(oldSelf.value().byName) > 0)",
            allowed::LABEL_OR_NAME,
        )
        .field(".byName")
        .with_old(),
    ]);
    schema.at("ports").max_items(allowed::PORTS);
    for at in ["port", "ports[]"] {
        numbered_port(&mut schema.at(at), "", protocol.clone());
    }
    labels(&mut schema.at("byLabel.selector"));
    for list in ["byName", "byLabel.except"] {
        texts(&mut schema.at(list), allowed::NAMES);
        object_name(&mut schema.at(&format!("{list}[]")));
    }
}

/// The period of `Always`, and only of that.
pub(super) fn ensure_policy(schema: &mut Constrained<'_>, minimum: Duration) {
    schema.rules([Rule::new(
        "!has(self.minPeriod) || (has(self.policy) && self.policy == 'Always')",
        allowed::ONLY_WITH_ALWAYS,
    )
    .field(".minPeriod")]);
    let minimum = display(minimum);
    let rule = format!("duration(self) >= duration('{minimum}')");
    let message = format!("must be at least {minimum}, as in 1m30s");
    duration(&mut schema.at("minPeriod"), &rule, &message);
}

pub(super) fn min_registered(schema: &mut Constrained<'_>) {
    schema.rules([Rule::new("self >= 0", "must be 0 or more")]);
}

/// A duration as Go writes it, which fulfils another rule too.
pub(super) fn duration(schema: &mut Constrained<'_>, rule: &str, message: &str) {
    let length = allowed::DURATION;
    let rule = format!("size(self) <= {length} && self.matches('{DURATION}') && {rule}");
    schema.max_length(length).rules([Rule::new(rule, message)]);
}

pub(super) fn deregister_webhook(schema: &mut Constrained<'_>) {
    let is_unused = "!has(self.deregisterPolicy) || self.deregisterPolicy != 'Webhook'";
    schema.rules([
        Rule::new(
            format!("{is_unused} || has(self.deregisterWebhook)"),
            "deregisterWebhook is required with deregisterPolicy Webhook; it names a LoadBalancerDriver",
        ),
        Rule::new(
            format!(
                "{is_unused} || !has(self.deregisterWebhook) || {}",
                is_object_name("self.deregisterWebhook.driverName")
            ),
            allowed::IS_OBJECT_NAME,
        )
        .field(".deregisterWebhook.driverName"),
    ]);
    let mut name = schema.at("deregisterWebhook.driverName");
    name.max_length(allowed::NAME);
}
