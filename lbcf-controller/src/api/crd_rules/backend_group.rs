use super::constrained::{Constrained, Rule};
use super::parts;
use crate::api::allowed;
use schemars::Schema;

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
}

fn keeps_its_type(rule: &str, type_name: &str) -> Rule {
    let message = format!(
        "the type of backends cannot be changed from {type_name}; create a new BackendGroup"
    );
    Rule::new(rule, message)
}
