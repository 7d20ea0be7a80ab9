//! `judgePodDeregister` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use serde_json::{Value, json};

pub(super) fn before(defect: Defect, call: &Call) -> Option<Answer> {
    let refuses = defect == Defect::JudgeEmptyFails
        && call.is("judgePodDeregister")
        && asked_about(call).next().is_none();
    refuses.then(|| Answer::verdict(false, "there is nothing to judge"))
}

pub(super) fn after(defect: Defect, call: &Call, answer: &mut Answer) {
    if !call.is("judgePodDeregister") {
        return;
    }
    match defect {
        Defect::JudgeSuccAsString => {
            if let Some(succ) = answer.get("succ").and_then(Value::as_bool) {
                answer.set("succ", succ.to_string());
            }
        }
        Defect::JudgeNamesOnly => {
            let name = |(namespace, name)| json!(format!("{namespace}/{name}"));
            let names: Vec<_> = asked_about(call).map(name).collect();
            answer.set("doNotDeregister", names);
        }
        Defect::JudgeWithoutNamespace => {
            let pod = |(_, name)| json!({"metadata": {"name": name}});
            let pods: Vec<_> = asked_about(call).map(pod).collect();
            answer.set("doNotDeregister", pods);
        }
        Defect::JudgeNotASubset if asked_about(call).next().is_some() => {
            let stranger = json!({"metadata": {"name": "somebody-else", "namespace": "default"}});
            let pods = answer
                .object_mut()
                .and_then(|it| it.get_mut("doNotDeregister"));
            if let Some(pods) = pods.and_then(Value::as_array_mut) {
                pods.push(stranger);
            }
        }
        _ => {}
    }
}

/// Namespaces and names of the pods that are not ready.
fn asked_about(call: &Call) -> impl Iterator<Item = (&str, &str)> {
    let pods = call.get("notReadyPods").and_then(Value::as_array);
    pods.into_iter().flatten().map(|pod| {
        let text = |name: &str| pod["metadata"][name].as_str().unwrap_or_default();
        (text("namespace"), text("name"))
    })
}
