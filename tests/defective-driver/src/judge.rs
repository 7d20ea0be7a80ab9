//! Defects of `judgePodDeregister`.

use crate::Defect;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use serde_json::{Value, json};

pub(crate) fn before(defect: Defect, request: &HookRequest) -> Option<Reply> {
    let refuses = defect == Defect::JudgeEmptyFails
        && request.is("judgePodDeregister")
        && not_ready_pods(request).next().is_none();
    refuses.then(|| Reply::verdict(false, "there are no pods"))
}

pub(crate) fn after(defect: Defect, request: &HookRequest, reply: &mut Reply) {
    if !request.is("judgePodDeregister") {
        return;
    }
    match defect {
        Defect::JudgeSuccAsString => {
            if let Some(succ) = reply.get("succ").and_then(Value::as_bool) {
                reply.set("succ", succ.to_string());
            }
        }
        Defect::JudgeNamesOnly => {
            let name = |(namespace, name)| json!(format!("{namespace}/{name}"));
            let names: Vec<_> = not_ready_pods(request).map(name).collect();
            reply.set("doNotDeregister", names);
        }
        Defect::JudgeWithoutNamespace => {
            let pod = |(_, name)| json!({"metadata": {"name": name}});
            let pods: Vec<_> = not_ready_pods(request).map(pod).collect();
            reply.set("doNotDeregister", pods);
        }
        Defect::JudgeNotASubset if not_ready_pods(request).next().is_some() => {
            let stranger = json!({"metadata": {"name": "another-pod", "namespace": "default"}});
            let pods = reply
                .object_mut()
                .and_then(|it| it.get_mut("doNotDeregister"));
            if let Some(pods) = pods.and_then(Value::as_array_mut) {
                pods.push(stranger);
            }
        }
        _ => {}
    }
}

/// Namespaces and names of the pods in the request.
fn not_ready_pods(request: &HookRequest) -> impl Iterator<Item = (&str, &str)> {
    let pods = request.get("notReadyPods").and_then(Value::as_array);
    pods.into_iter().flatten().map(|pod| {
        let text = |name: &str| pod["metadata"][name].as_str().unwrap_or_default();
        (text("namespace"), text("name"))
    })
}
