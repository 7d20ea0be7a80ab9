use super::constrained::{Constrained, Rule};
use super::parts::{self, length_of_map};
use crate::api::allowed;
use schemars::Schema;

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
    spec.rules([keeps("driver"), keeps_spec()]);
    let mut lb = spec.at("loadBalancers[]");
    lb.rules([
        Rule::new("has(self.spec) && size(self.spec) > 0", allowed::NEEDS_SPEC).field(".spec"),
    ]);
    parts::bind_load_balancer_name(&mut lb.at("name"));
    parts::object_name(&mut lb.at("driver"));
    parts::driver_map(&mut lb.at("spec"));
    parts::driver_map(&mut lb.at("attributes"));
}

/// Whether a map of a load balancer exceeds its own limit, which the schema reports.
fn has_large_map() -> String {
    let large = |map: &str| format!("(has({map}) && size({map}) > {})", allowed::ENTRIES);
    format!("{} || {}", large("lb.spec"), large("lb.attributes"))
}

fn length_of(map: &str) -> String {
    format!("(has({map}) ? {} : 0)", length_of_map(map))
}

/// d13: another driver or spec means another load balancer, which needs another name.
fn keeps(field: &str) -> Rule {
    keeps_equal(field, &format!("lb.{field} == old.{field}"))
}

fn keeps_spec() -> Rule {
    keeps_equal(
        "spec",
        "has(lb.spec) == has(old.spec) && (!has(lb.spec) || lb.spec == old.spec)",
    )
}

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
