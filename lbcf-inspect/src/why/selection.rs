//! Owners that select pods: what helps if they select none, and which of their pods are not Ready.

use super::nearest;
use super::pod::unready;
use super::selector::{BY_LABEL, BY_NAME, EXCEPT, change, has_labels, selects};
use crate::cluster::{Cluster, Labels, Object};
use crate::finding::{Fix, Problem};
use crate::object::{Kind, ObjectRef};
use lbcf_controller::api::reasons;
use serde_json::json;

pub(super) fn behind(
    cluster: &Cluster,
    (object, owner): (&ObjectRef, &Object),
    problem: &mut Problem,
) {
    let finding = &mut problem.finding;
    if finding.has_reason(&[reasons::PODS_NOT_READY, reasons::TOO_MANY_UNREADY]) {
        let pods = cluster.beside(object, Kind::Pod);
        let unready =
            pods.filter(|(pod, found)| selects(owner, (pod, found)) && unready(found).is_some());
        problem.because = unready.map(|(pod, _)| pod).take(3).collect();
        return;
    }
    if !finding.has_reason(&[reasons::NO_PODS_SELECTED]) {
        return;
    }
    let selector = owner.map(BY_LABEL);
    if selector.is_empty() {
        let fix = other_names(cluster, object, owner);
        return problem.fix(fix);
    }
    if let Some((pod, _)) = pods(cluster, object, &selector).next() {
        let pod = &pod.key.name;
        finding.message = format!(
            "selects no pod: {} has all that have the labels, such as {pod}",
            EXCEPT.replace('/', ".")
        );
        let patch = json!({"spec": {"pods": {"byLabel": {"except": null}}}});
        finding.fix = Fix::patch(object, &patch);
        return;
    }
    if scaled_to_zero(cluster, object, &selector, problem) {
        return;
    }
    let existing = cluster.beside(object, Kind::Pod);
    if let Some(meant) = nearest::selector(&selector, existing.map(|(_, pod)| pod.labels())) {
        let selector = change(&selector, &meant);
        let patch = json!({"spec": {"pods": {"byLabel": {"selector": selector}}}});
        return problem.fix(Some(Fix::patch(object, &patch)));
    }
    let elsewhere = cluster
        .all(Kind::Pod)
        .find(|(_, pod)| has_labels(pod, &selector));
    problem.fix(elsewhere.map(|(pod, _)| {
        Fix::Advice(format!(
            "{pod} has the labels: an owner selects pods of its own namespace. Create it there."
        ))
    }));
}

/// The pods of a namespace with these labels.
pub(super) fn pods<'a>(
    cluster: &'a Cluster,
    object: &'a ObjectRef,
    selector: &'a Labels,
) -> impl Iterator<Item = (ObjectRef, &'a Object)> {
    let pods = cluster.beside(object, Kind::Pod);
    pods.filter(move |(_, pod)| has_labels(pod, selector))
}

/// Returns whether the owner selects pods of a workload without replicas, which is then the problem.
pub(super) fn scaled_to_zero(
    cluster: &Cluster,
    object: &ObjectRef,
    selector: &Labels,
    problem: &mut Problem,
) -> bool {
    let mut deployments = cluster.beside(object, Kind::Deployment);
    let found = deployments.find(|(_, it)| {
        let labels = it.map("/spec/template/metadata/labels");
        let has = selector
            .iter()
            .all(|(label, value)| labels.get(label) == Some(value));
        has && it.at("/spec/replicas") == 0
    });
    let Some((deployment, _)) = found else {
        return false;
    };
    problem.finding.message =
        format!("has no pods: {deployment}, whose pods are selected, has 0 replicas");
    problem.finding.fix = Fix::kubectl("scale", &deployment, " --replicas=1");
    true
}

fn other_names(cluster: &Cluster, object: &ObjectRef, owner: &Object) -> Option<Fix> {
    let wanted = owner.texts(BY_NAME);
    let existing: Vec<_> = cluster
        .beside(object, Kind::Pod)
        .map(|(it, _)| it.key.name)
        .collect();
    let near = |name| nearest::name(name, existing.iter().map(|it| &**it)).unwrap_or(name);
    let meant: Vec<_> = wanted.iter().copied().map(near).collect();
    let patch = json!({"spec": {"pods": {"byName": meant}}});
    (meant != wanted).then(|| Fix::patch(object, &patch))
}
