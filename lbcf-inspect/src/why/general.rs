//! Problems that an object of any kind may have.

use super::nearest;
use crate::cluster::{Cluster, Object};
use crate::finding::{Finding, Fix, Problem};
use crate::object::{Kind, ObjectRef};
use jiff::{SignedDuration, Timestamp};
use lbcf_controller::ObjectKey;
use lbcf_controller::names::{ANNOTATION_PAUSED, CONTROLLER, SYSTEM_NAMESPACE};

/// A controller reports about an object within this time, unless it has much to do.
const SETTLING: SignedDuration = SignedDuration::from_secs(5);

/// The problems that follow from the metadata.
pub(super) fn problems(object: &ObjectRef, found: &Object) -> Vec<Problem> {
    let paused = is_paused(found).then(|| {
        let fix = Fix::kubectl("annotate", object, &format!(" {ANNOTATION_PAUSED}-"));
        let message = format!(
            "is paused by its annotation {ANNOTATION_PAUSED}, so that no driver is called for it"
        );
        Finding::new(object, message, fix).into()
    });
    paused
        .into_iter()
        .chain(held_by_others(object, found))
        .collect()
}

pub(super) fn is_paused(found: &Object) -> bool {
    let annotations = found.metadata.annotations.as_ref();
    let value = annotations.and_then(|all| all.get(ANNOTATION_PAUSED));
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// An object that is being deleted, and waits for finalizers that are not the controller's.
fn held_by_others(object: &ObjectRef, found: &Object) -> Option<Problem> {
    let own = ["lbcf.tkestack.io/", "service.kubernetes.io/"];
    let finalizers = found.metadata.finalizers.iter().flatten();
    let others = finalizers.filter(|it| !own.iter().any(|own| it.starts_with(own)));
    let others: Vec<&str> = others.map(String::as_str).collect();
    if others.is_empty() || !found.is_deleting() {
        return None;
    }
    let message = format!(
        "is being deleted, and waits for finalizers of others: {}",
        others.join(", ")
    );
    let advice = "The controller that added a finalizer has to remove it: see that it runs.";
    Some(Finding::new(object, message, Fix::advice(advice)).into())
}

/// An object that does not exist, and the name that is most like its.
pub(super) fn missing(cluster: &Cluster, object: &ObjectRef) -> Option<Problem> {
    if !cluster.sees(object) {
        return None;
    }
    let near = nearest::object(cluster, object);
    let fix = near.map_or_else(
        || "Create it, or correct the name.".to_owned(),
        |near| format!("Did you mean {near}?"),
    );
    Some(Finding::new(object, "does not exist", Fix::Advice(fix)).into())
}

/// An object whose conditions are missing, or of an earlier generation.
pub(super) fn unobserved(cluster: &Cluster, object: &ObjectRef, found: &Object) -> Option<Problem> {
    let conditions = found.conditions();
    let observed = conditions
        .iter()
        .filter_map(|it| it.observed_generation)
        .max();
    let is_current = match observed {
        Some(observed) => found.metadata.generation.is_none_or(|it| it <= observed),
        None => !conditions.is_empty(),
    };
    let created = found.metadata.creation_timestamp.as_ref();
    let is_new = created.is_some_and(|it| cluster.age(it.0) < SETTLING);
    let gone = not_leading(cluster);
    if is_current || (is_new && gone.is_none()) {
        return None;
    }
    let message = match conditions.is_empty() {
        true => "has no condition: no controller has reported about it",
        false => "has conditions of an earlier generation",
    };
    let advice = format!(
        "See that the controller runs: kubectl logs -n {SYSTEM_NAMESPACE} deployment/{CONTROLLER}"
    );
    Some(Problem {
        because: vec![controller()],
        ..Finding::new(object, message, Fix::Advice(advice)).into()
    })
}

/// The controller's workload.
pub(super) fn controller() -> ObjectRef {
    ObjectRef::new(
        Kind::Deployment,
        ObjectKey::new(SYSTEM_NAMESPACE, CONTROLLER),
    )
}

/// The problem that no controller leads, according to the lease.
pub(crate) fn not_leading(cluster: &Cluster) -> Option<Problem> {
    let object = controller();
    let lease = cluster.get(&object.beside(Kind::Lease, CONTROLLER))?;
    let renewed: Timestamp = lease.text("/spec/renewTime").parse().ok()?;
    let lasts = lease
        .at("/spec/leaseDurationSeconds")
        .as_i64()
        .unwrap_or(15);
    let is_held = !lease.text("/spec/holderIdentity").is_empty();
    if is_held && cluster.age(renewed) <= SignedDuration::from_secs(lasts) {
        return None;
    }
    let fix = match cluster
        .get(&object)
        .map(|it| it.at("/spec/replicas").as_i64())
    {
        Some(Some(0)) => Fix::kubectl("scale", &object, " --replicas=2"),
        Some(_) => Fix::kubectl("rollout restart", &object, ""),
        None => {
            Fix::advice("Start the controller, or install it: lbcf install prints the manifests.")
        }
    };
    let message = format!(
        "does not lead, nor does any other controller: its lease was renewed last at {renewed:.0}"
    );
    Some(Finding::new(&object, message, fix).into())
}
