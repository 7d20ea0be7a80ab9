//! StatefulSets: pods with numbers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::plan::{BURST, REVISION_HASH, Set, SetPlan, revision_of};
use crate::controllers::pods::{available, has_ended, is_running_and_ready};
use crate::controllers::status::{count, set_counts};
use crate::controllers::template::{from_template, set_label};
use crate::object::{Object, at, child, is_deleting, name, namespace, number, object, text};
use crate::store::Stored;

type ByOrdinal<'a> = BTreeMap<i64, &'a std::sync::Arc<Stored>>;

pub(super) fn fits(set: &Object, pod: &Object) -> bool {
    ordinal(name(set), name(pod)).is_some()
}

/// The ordinal in the name of a StatefulSet's pod.
fn ordinal(set: &str, pod: &str) -> Option<i64> {
    let digits = pod.strip_prefix(set)?.strip_prefix('-')?;
    let ordinal: i64 = digits.parse().ok()?;
    (ordinal >= 0 && ordinal.to_string() == digits).then_some(ordinal)
}

pub(super) fn plan(set: &Set<'_>) -> SetPlan {
    let revision = format!("{}-{}", name(set.object), set.revision());
    let pods: ByOrdinal<'_> = set
        .pods
        .iter()
        .filter_map(|pod| Some((ordinal(name(set.object), &pod.name)?, pod)))
        .collect();
    let mut plan = SetPlan::default();
    change_pods(set, &revision, &pods, &mut plan);
    set_status(set, &revision, &pods, &mut plan);
    plan
}

/// Plans the next changes: in order of the ordinals, and one at a time unless the pods are managed in
/// parallel.
fn change_pods(set: &Set<'_>, revision: &str, pods: &ByOrdinal<'_>, plan: &mut SetPlan) {
    let in_order = text(set.object, &["spec", "podManagementPolicy"]) != Some("Parallel");
    let start = number(set.object, &["spec", "ordinals", "start"], 0);
    let end = start.saturating_add(set.replicas());
    for ordinal in start..end {
        let waits = match pods.get(&ordinal) {
            None => {
                plan.create.push(new_pod(set.object, revision, ordinal));
                true
            }
            Some(pod) if has_ended(&pod.object) && !is_deleting(&pod.object) => {
                plan.delete.push((*pod).clone());
                true
            }
            Some(pod) => !set.is_available(&pod.object),
        };
        if (waits && in_order) || plan.create.len() > BURST {
            return;
        }
    }
    let surplus = pods
        .iter()
        .rev()
        .filter(|(o, _)| !(start..end).contains(*o));
    for (_, pod) in surplus {
        if !is_deleting(&pod.object) {
            plan.delete.push((*pod).clone());
        }
        if in_order {
            return;
        }
    }
    if set.updates_on_delete() || !(plan.create.is_empty() && plan.delete.is_empty()) {
        return;
    }
    // Pods are updated from the highest ordinal down, one at a time.
    let partition = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    let lowest = start.saturating_add(number(set.object, &partition, 0));
    for (_, pod) in pods.range(lowest.min(end)..end).rev() {
        let is_old = revision_of(&pod.object) != revision && !is_deleting(&pod.object);
        if is_old {
            plan.delete.push((*pod).clone());
        }
        if is_old || is_deleting(&pod.object) || !is_running_and_ready(&pod.object) {
            return;
        }
    }
}

fn new_pod(set: &Object, revision: &str, ordinal: i64) -> Object {
    let template = at(set, &["spec", "template"]).unwrap_or(&Value::Null);
    let mut pod = from_template(template, namespace(set));
    let (name, index) = (format!("{}-{ordinal}", name(set)), ordinal.to_string());
    child(&mut pod, "metadata").insert("name".to_owned(), name.clone().into());
    set_label(&mut pod, "statefulset.kubernetes.io/pod-name", &name);
    set_label(&mut pod, "apps.kubernetes.io/pod-index", &index);
    set_label(&mut pod, REVISION_HASH, revision);
    let spec = child(&mut pod, "spec");
    spec.insert("hostname".to_owned(), name.into());
    if let Some(service) = text(set, &["spec", "serviceName"]).filter(|name| !name.is_empty()) {
        spec.insert("subdomain".to_owned(), service.into());
    }
    pod
}

fn set_status(set: &Set<'_>, revision: &str, pods: &ByOrdinal<'_>, plan: &mut SetPlan) {
    let all = || pods.values().map(|pod| &pod.object);
    let ready = || all().filter(|pod| is_running_and_ready(pod));
    let of = |revision: &str| {
        let alive = all().filter(|pod| !is_deleting(pod));
        count(alive.filter(|pod| revision_of(pod) == revision))
    };
    let (total, ready_pods, updated) = (count(all()), count(ready()), of(revision));
    let (available, next) = available(ready(), set.min_ready_seconds(), set.now);
    plan.next_available = next;
    // The revision before the update, until all pods are updated.
    let complete = !set.updates_on_delete() && updated == total && ready_pods == total;
    let current = text(set.object, &["status", "currentRevision"]).filter(|_| !complete);
    let current = current.unwrap_or(revision);
    plan.status = object(json!({
        "replicas": total, "availableReplicas": available,
        "currentRevision": current, "updateRevision": revision,
    }));
    let counts = [
        ("readyReplicas", ready_pods),
        ("currentReplicas", of(current)),
        ("updatedReplicas", updated),
    ];
    set_counts(&mut plan.status, counts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn ordinals_are_read_strictly() {
        assert_eq!(ordinal("web", "web-0"), Some(0));
        assert_eq!(ordinal("web", "web-12"), Some(12));
        for other in [
            "web", "web-", "web-01", "web-x", "web--1", "web-+1", "db-0", "web-a-0",
        ] {
            assert_eq!(ordinal("web", other), None, "{other}");
        }
    }

    #[test]
    fn a_pod_has_its_ordinal_and_revision() {
        let set = object(json!({
            "metadata": {"name": "web", "namespace": "d"},
            "spec": {"serviceName": "all", "template": {"metadata": {"labels": {"a": "b"}}, "spec": {}}},
        }));
        let pod = new_pod(&set, "web-abc", 3);
        let expected = json!({
            "metadata": {"name": "web-3", "namespace": "d", "labels": {
                "a": "b", "statefulset.kubernetes.io/pod-name": "web-3",
                "apps.kubernetes.io/pod-index": "3", "controller-revision-hash": "web-abc",
            }},
            "spec": {"hostname": "web-3", "subdomain": "all"},
        });
        assert_eq!(Value::Object(pod), expected);
    }

    /// The planned changes of a set whose pods are given as letters by ordinal: `n`ew, `o`ld, not
    /// `r`eady, `t`erminating, `e`nded, `-` none; capital letters: old.
    fn changes(spec: Value, pods: &str) -> String {
        let set = object(json!({"metadata": {"name": "web"}, "spec": spec}));
        let pods: Vec<Arc<Stored>> = pods
            .chars()
            .enumerate()
            .filter(|(_, letter)| *letter != '-')
            .map(|(index, letter)| {
                let revision = if "oRT".contains(letter) { "old" } else { "new" };
                let ready = if "rRe".contains(letter) { "False" } else { "True" };
                let phase = if letter == 'e' { "Failed" } else { "Running" };
                let mut pod = object(json!({
                    "metadata": {"name": format!("web-{index}"), "labels": {REVISION_HASH: revision}},
                    "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]},
                }));
                if "tT".contains(letter) {
                    child(&mut pod, "metadata").insert("deletionTimestamp".to_owned(), "t".into());
                }
                Arc::new(Stored::new(pod, 1))
            })
            .collect();
        let set = Set {
            object: &set,
            pods,
            now: jiff::Timestamp::UNIX_EPOCH,
        };
        let by_ordinal: ByOrdinal<'_> = set
            .pods
            .iter()
            .map(|pod| (ordinal("web", &pod.name).unwrap(), pod))
            .collect();
        let mut plan = SetPlan::default();
        change_pods(&set, "new", &by_ordinal, &mut plan);
        let created = plan.create.iter().map(|pod| format!("+{}", name(pod)));
        let deleted = plan.delete.iter().map(|pod| format!("-{}", pod.name));
        let all: Vec<String> = created.chain(deleted).collect();
        all.join(" ").replace("web-", "")
    }

    #[test]
    fn pods_are_changed_in_the_order_of_their_ordinals() {
        let three = json!({"replicas": 3});
        let one = json!({"replicas": 1});
        let later = json!({"replicas": 2, "ordinals": {"start": 1}});
        let rolling = |partition: i64| json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": partition}}});
        let manual = json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}});
        for (spec, pods, expected) in [
            // Pods are created one by one, each when the one before is available.
            (&three, "", "+0"),
            (&three, "r", ""),
            (&three, "n", "+1"),
            (&three, "nnn", ""),
            (&three, "e", "-0"),
            // The last pod is deleted first, and the next one when it is gone.
            (&one, "nnn", "-2"),
            (&one, "nnt", ""),
            (&one, "nr", "-1"),
            (&later, "nnn", "-0"),
            // Updates start with the highest ordinal.
            (&three, "ooo", "-2"),
            (&three, "ooT", ""),
            (&three, "oo", "+2"),
            (&three, "oor", ""),
            (&three, "oon", "-1"),
            (&rolling(2), "ooo", "-2"),
            (&rolling(2), "oon", ""),
            (&manual, "ooo", ""),
            (&manual, "-on", "+0"),
        ] {
            assert_eq!(changes(spec.clone(), pods), expected, "{spec} {pods}");
        }
    }

    #[test]
    fn parallel_pods_are_changed_at_once() {
        let spec = |replicas: i64| json!({"replicas": replicas, "podManagementPolicy": "Parallel"});
        assert_eq!(changes(spec(3), "-r"), "+0 +2");
        assert_eq!(changes(spec(1), "nrn"), "-2 -1");
        let many = changes(spec(1000), "");
        assert_eq!(many.split(' ').count(), BURST + 1);
    }
}
