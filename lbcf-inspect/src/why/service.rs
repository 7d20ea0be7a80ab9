//! Problems of Services.

use super::nearest;
use crate::cluster::{Cluster, Object};
use crate::finding::{Finding, Fix, Problem};
use crate::object::{Kind, ObjectRef};
use lbcf_controller::ObjectKey;
use lbcf_controller::api::reasons;
use lbcf_controller::names::{LABEL_SERVICE, SYSTEM_NAMESPACE};
use serde_json::json;

const CLASS: &str = "/spec/loadBalancerClass";
const INGRESS: &str = "/status/loadBalancer/ingress";

fn is_load_balancer(service: &Object) -> bool {
    service.text("/spec/type") == "LoadBalancer"
}

/// True if its load balancers may be LBCF's.
pub(super) fn has_class(service: &Object) -> bool {
    is_load_balancer(service) && !service.text(CLASS).is_empty()
}

pub(super) fn problems(cluster: &Cluster, object: &ObjectRef, service: &Object) -> Vec<Problem> {
    let name = &*object.key.name;
    let groups = cluster.beside(object, Kind::BackendGroup);
    let groups = groups.filter(|(_, it)| it.text("/spec/service/name") == name);
    let mut owned: Vec<_> = groups.map(|(it, _)| it).collect();
    if is_load_balancer(service) {
        if let Some(problem) = class(cluster, object, service) {
            return vec![problem];
        }
        let lbs = cluster.beside(object, Kind::LoadBalancer);
        let lbs = lbs.filter(|(_, it)| it.label(LABEL_SERVICE) == name);
        owned.splice(0..0, lbs.map(|(it, _)| it));
    }
    let owned = owned.into_iter().map(|it| {
        let message = format!("is not served: {it} is not as declared");
        Problem::following(object, message, vec![it])
    });
    owned.chain(reported(cluster, object, service)).collect()
}

/// The problem with the class of a Service, by which its driver is found.
fn class(cluster: &Cluster, object: &ObjectRef, service: &Object) -> Option<Problem> {
    let drivers = cluster
        .all(Kind::LoadBalancerDriver)
        .filter(|(it, _)| [&*object.key.namespace, SYSTEM_NAMESPACE].contains(&&*it.key.namespace));
    let names = drivers.map(|(_, driver)| driver.text("/spec/serviceClass/name"));
    let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
    let shared = ObjectRef::new(
        Kind::LoadBalancerDriver,
        ObjectKey::new(SYSTEM_NAMESPACE, ""),
    );
    let class = service.text(CLASS);
    // One without a class that has an address belongs to another controller.
    let is_served = class.is_empty() && !service.list(INGRESS).is_empty();
    if names.contains(&class) || is_served || !cluster.sees(&shared) {
        return None;
    }
    let listed = match names.is_empty() {
        true => "no driver has one".to_owned(),
        false => format!("classes of drivers are {}", names.join(", ")),
    };
    let (message, meant) = match class {
        "" => (
            "has no spec.loadBalancerClass, so that LBCF leaves it to other controllers".to_owned(),
            names.first().copied().filter(|_| names.len() == 1),
        ),
        class => (
            format!("has the class {class}, which no driver that it can use has"),
            nearest::name(class, names),
        ),
    };
    let advice =
        "Give the Service the class of a driver, or a LoadBalancerDriver the class of the Service.";
    let fix = meant.map_or_else(|| Fix::advice(advice), |class| set_class(object, class));
    Some(Finding::new(object, format!("{message}; {listed}"), fix).into())
}

/// A class can only be set together with the type.
fn set_class(object: &ObjectRef, class: &str) -> Fix {
    let none = json!({"spec": {"type": "ClusterIP", "loadBalancerClass": null}});
    let new = json!({"spec": {"type": "LoadBalancer", "loadBalancerClass": class}});
    match [none, new].map(|patch| Fix::patch(object, &patch)) {
        [Fix::Run(first), Fix::Run(then)] => Fix::Run(format!("{first} && {then}")),
        [first, _] => first,
    }
}

/// The last warning about a Service without an address, whose status has no place for it.
fn reported(cluster: &Cluster, object: &ObjectRef, service: &Object) -> Option<Problem> {
    if !is_load_balancer(service) || !service.list(INGRESS).is_empty() {
        return None;
    }
    let events = cluster.beside(object, Kind::Event).filter(|(_, event)| {
        event.text("/involvedObject/name") == &*object.key.name
            && event.text("/reason") == &**reasons::SYNC_FAILED
    });
    let (_, last) = events.max_by_key(|(_, event)| event.text("/lastTimestamp").to_owned())?;
    let fix = Fix::advice(reasons::SYNC_FAILED.advice());
    let finding = Finding {
        reason: Some(reasons::SYNC_FAILED),
        ..Finding::new(object, last.text("/message"), fix)
    };
    Some(finding.into())
}
