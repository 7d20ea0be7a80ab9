//! Statuses as a kubelet writes them.

use super::*;
use crate::object::object;

fn pod(change: Value) -> Object {
    let mut pod = json!({
        "metadata": {"name": "p"},
        "spec": {"nodeName": "n", "containers": [{"name": "a", "image": "i"}, {"name": "b"}]},
        "status": {"phase": "Pending"},
    });
    json_patch::merge(&mut pod, &change);
    object(pod)
}

fn begun(change: Value) -> Object {
    started(&pod(change), "10.0.0.1", "192.0.2.1", "t1")
}

fn summary(pod: &Object, kind: &str) -> String {
    let condition = condition(pod, kind).unwrap();
    let part = |key| string(condition, key);
    format!("{} {} {}", part("status"), part("reason"), part("message"))
}

fn with(pod: &Object, change: Value) -> Object {
    let mut next = Value::Object(pod.clone());
    json_patch::merge(&mut next, &change);
    object(next)
}

#[test]
fn a_started_pod_is_ready() {
    let pod = begun(json!({"spec": {"initContainers": [{"name": "i"}]}}));
    for kind in ["PodScheduled", "Initialized", "ContainersReady", "Ready"] {
        assert_eq!(summary(&pod, kind), "True  ");
        assert_eq!(condition(&pod, kind).unwrap()["lastTransitionTime"], "t1");
    }
    let status = &pod["status"];
    assert_eq!(status["containerStatuses"][0]["ready"], true);
    assert_eq!(status["podIPs"], json!([{"ip": "10.0.0.1"}]));
    let init = &status["initContainerStatuses"][0]["state"]["terminated"];
    assert_eq!(init["reason"], "Completed");
}

#[test]
fn conditions_that_a_client_wrote_before_the_start_stay() {
    let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    assert_eq!(summary(&begun(unready), "Ready"), "False  ");
}

#[test]
fn readiness_gates_keep_a_pod_unready() {
    let gated =
        json!({"spec": {"readinessGates": [{"conditionType": "x/a"}, {"conditionType": "x/b"}]}});
    let pod = begun(gated);
    assert_eq!(summary(&pod, "ContainersReady"), "True  ");
    assert_eq!(
        summary(&pod, "Ready"),
        "False ReadinessGatesNotReady corresponding condition of pod readiness gate \"x/a\" does not exist., corresponding condition of pod readiness gate \"x/b\" does not exist."
    );
    let mut half = pod.clone();
    change_conditions(&mut half, |list| {
        list.push(json!({"type": "x/a", "status": "True"}));
        list.push(json!({"type": "x/b", "status": "False"}));
    });
    assert_eq!(
        ReadinessInputs::of(&half).trigger(&ReadinessInputs::of(&pod)),
        Some(ReadinessTrigger::Gates)
    );
    let half = with_readiness(&half, ReadinessTrigger::Gates, "t2");
    assert_eq!(
        summary(&half, "Ready"),
        "False ReadinessGatesNotReady the status of pod readiness gate \"x/b\" is not \"True\", but False"
    );
    assert_eq!(
        condition(&half, "Ready").unwrap()["lastTransitionTime"],
        "t1"
    );
    let mut open = half;
    change_conditions(&mut open, |list| {
        set_condition(list, json!({"type": "x/b", "status": "True"}), "t3");
    });
    let open = with_readiness(&open, ReadinessTrigger::Gates, "t3");
    assert_eq!(summary(&open, "Ready"), "True  ");
    assert_eq!(
        condition(&open, "Ready").unwrap()["lastTransitionTime"],
        "t3"
    );
}

#[test]
fn an_annotation_keeps_a_pod_from_being_ready() {
    let held = json!({"metadata": {"annotations": {annotations::READY: "false"}}});
    let pod = begun(held);
    let why = "False ContainersNotReady containers with unready status: [a b]";
    assert_eq!(
        [summary(&pod, "Ready"), summary(&pod, "ContainersReady")],
        [why, why]
    );
    assert_eq!(pod["status"]["containerStatuses"][1]["ready"], false);
    let freed = with(&pod, json!({"metadata": {"annotations": null}}));
    let trigger = ReadinessInputs::of(&freed).trigger(&ReadinessInputs::of(&pod));
    assert_eq!(trigger, Some(ReadinessTrigger::Containers));
    let freed = with_readiness(&freed, ReadinessTrigger::Containers, "t2");
    assert_eq!(summary(&freed, "Ready"), "True  ");
    assert_eq!(freed["status"]["containerStatuses"][1]["ready"], true);
}

#[test]
fn other_changes_do_not_update_readiness() {
    let pod = begun(json!({}));
    let relabelled = with(
        &pod,
        json!({"metadata": {"labels": {"a": "b"}}, "status": {"conditions": []}}),
    );
    assert_eq!(
        ReadinessInputs::of(&relabelled).trigger(&ReadinessInputs::of(&pod)),
        None
    );
}

#[test]
fn pods_of_an_unreachable_node_are_not_ready() {
    let pod = begun(json!({}));
    let lost = with_readiness(&pod, ReadinessTrigger::NodeUnreachable, "t2");
    assert_eq!(summary(&lost, "Ready"), "False  ");
    assert_eq!(summary(&lost, "ContainersReady"), "True  ");
    assert_eq!(
        with_readiness(&lost, ReadinessTrigger::NodeUnreachable, "t3"),
        lost
    );
    assert_eq!(
        summary(
            &with_readiness(&lost, ReadinessTrigger::Containers, "t4"),
            "Ready"
        ),
        "True  "
    );
}

#[test]
fn containers_exit_with_the_annotated_code() {
    let exit = |policy: &str, code: Value| {
        let change = json!({
            "metadata": {"annotations": {annotations::EXIT_CODE: code}},
            "spec": {"restartPolicy": policy},
        });
        exited(&begun(change), "t2")
    };
    let done = exit("Never", Value::Null);
    assert_eq!(done["status"]["phase"], "Succeeded");
    assert_eq!(summary(&done, "Ready"), "False PodCompleted ");
    let state = &done["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!(
        [&state["exitCode"], &state["startedAt"]],
        [&json!(0), &json!("t1")]
    );
    let failed = exit("Never", json!("3"));
    assert_eq!(failed["status"]["phase"], "Failed");
    assert_eq!(summary(&failed, "ContainersReady"), "False PodFailed ");
    assert_eq!(exit("OnFailure", json!("3"))["status"]["phase"], "Failed");
    assert_eq!(
        exit("OnFailure", json!("nonsense"))["status"]["phase"],
        "Succeeded"
    );
}
