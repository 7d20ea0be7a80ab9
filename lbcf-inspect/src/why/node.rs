//! Problems of nodes.

use crate::cluster::Object;
use crate::finding::{Finding, Fix, Problem};
use crate::object::ObjectRef;
use lbcf_controller::names::LABEL_EXCLUDED;

pub(super) fn problems(object: &ObjectRef, node: &Object) -> Vec<Problem> {
    let mut found = Vec::new();
    if node.labels().contains_key(LABEL_EXCLUDED) {
        let message = format!("is excluded from load balancers by its label {LABEL_EXCLUDED}");
        let fix = Fix::kubectl("label", object, &format!(" {LABEL_EXCLUDED}-"));
        found.push(Finding::new(object, message, fix).into());
    }
    if node.list("/status/addresses").is_empty() {
        let fix = Fix::advice("See the cluster's cloud controller, which initializes nodes.");
        found.push(Finding::new(object, "has no address", fix).into());
    }
    found
}
