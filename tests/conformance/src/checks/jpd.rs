//! judgePodDeregister: pods that stay registered although they are not ready.

use super::prelude::*;
use lbcf_driver_sdk::webhook::JudgePodDeregister;

pub(super) const CHECKS: &[&Check] = &[&JPD_01, &JPD_02, &JPD_03, &JPD_04];

/// `judgePodDeregister` for these pods.
pub(super) fn judge(pods: &[Value]) -> WebhookCall {
    WebhookCall::of::<JudgePodDeregister>(&JudgePodDeregister::default())
        .with("notReadyPods", pods.to_vec())
}

check! { JPD_01 = jpd_01, Jpd, needs [Feature(JudgePodDeregister)],
    why "The controller matches pods by name. It deregisters every pod that it does not find in \
         the response, even if the driver meant to keep it.",
    source "Deregister policy proposal; b110, b151",
    typical "The response contains the pods' names as strings, or pods without their namespaces. \
             Return the pods as received, or at least their metadata.",
}

const DECLARED: &str = "since the fixture's features name judgePodDeregister";

async fn jpd_01(lab: &Lab) -> CheckOutcome {
    let reply = lab.call(&judge(&not_ready(lab))).await;
    let decides = reply.any_decision(DECLARED)?;
    let kept = kept(&reply)?;
    if !decides {
        let summary = reply.summary();
        let note = format!("the driver did not decide about the pods: {summary}");
        lab.note(note);
    } else if kept.is_empty() {
        lab.note(
            "the driver keeps none of the pods, so their form could not be verified: \
             backend.podTemplate in the fixture can make it keep some",
        );
    }
    if kept.iter().any(|pod| pod.uid.is_empty()) {
        lab.note(
            "the pods in the response have no metadata.uid: the original controller compares \
             nothing else, and deregisters them",
        );
    }
    Ok(())
}

check! { JPD_02 = jpd_02, Jpd, needs [Feature(JudgePodDeregister)],
    why "The controller ignores other pods. A pod that the driver returns under another name or \
         uid is deregistered.",
    source "Deregister policy proposal; b110",
    typical "Pods of earlier requests are remembered and returned again, or pods are looked up by \
             something that they share with others. Filter the received list.",
}

async fn jpd_02(lab: &Lab) -> CheckOutcome {
    let pods = not_ready(lab);
    // All of them, each alone, and others afterwards, to detect pods of earlier requests.
    let mut requests: Vec<Vec<Value>> = vec![pods.clone()];
    requests.extend(pods.into_iter().map(|pod| vec![pod]));
    requests.push(not_ready(lab));
    for pods in requests {
        let requested: Vec<PodName> = pods.iter().filter_map(PodName::of).collect();
        let reply = lab.call(&judge(&pods)).await;
        // JPD-01 verifies the form.
        let decided = reply.any_decision(DECLARED);
        let kept = decided.and_then(|_| kept(&reply)).blocked_by("JPD-01")?;
        let is_requested = |pod: &&PodName| requested.iter().any(|other| pod.matches(other));
        if let Some(other) = kept.iter().find(|pod| !is_requested(pod)) {
            let expected = "no pods in doNotDeregister but those of notReadyPods";
            let uid = match other.uid.as_str() {
                "" => String::new(),
                uid => format!(" with uid {uid}"),
            };
            let got = format!("{}/{}{uid}", other.namespace, other.name);
            return Err(reply.failed(expected, got));
        }
    }
    Ok(())
}

check! { JPD_03 = jpd_03, Jpd, needs [Feature(JudgePodDeregister)],
    why "Nothing can go wrong here. A driver that returns succ false triggers the group's \
         failurePolicy without need.",
    source "Deregister policy proposal; derived",
    typical "An empty list is treated as a missing one, or its first item is accessed.",
}

async fn jpd_03(lab: &Lab) -> CheckOutcome {
    let reply = lab.call(&judge(&[]).unusual()).await;
    reply.accepted("since there are no pods to decide about")?;
    match kept(&reply)?.first() {
        None => Ok(()),
        Some(pod) => {
            let expected = "an empty doNotDeregister, since notReadyPods is empty";
            Err(reply.failed(expected, format!("{}/{}", pod.namespace, pod.name)))
        }
    }
}

/// The time limit of a response.
const LIMIT: Duration = Duration::from_secs(2);

check! { JPD_04 = jpd_04, Jpd, needs [Without(JudgePodDeregister)],
    why "Then the group's failurePolicy decides. While the driver keeps the controller waiting, \
         dead pods keep their traffic; and an empty success deregisters all of them.",
    source "Deregister policy proposal; b111, d89",
    typical "A catch-all route responds to every path with 200, or with a page. Respond with 404 \
             to unknown paths, or with succ false and a msg, which the user of the group reads.",
}

async fn jpd_04(lab: &Lab) -> CheckOutcome {
    let call = judge(&not_ready(lab)).unusual();
    let reply = lab.call_within(&call, LIMIT).await;
    let expected = format!("a status other than 200 within {LIMIT:?}, such as 404, or succ false");
    match (reply.http_status(), reply.decision()) {
        (None, _) => return Err(reply.failed(expected, reply.summary())),
        (Some(200), None) => {
            return Err(reply.failed(expected, format!("HTTP 200, {}", reply.summary())));
        }
        (Some(200), Some(true)) => kept(&reply)?,
        (Some(_), _) => return Ok(()),
    };
    lab.note(
        "the driver supports judgePodDeregister, although the fixture's features do not name it",
    );
    Ok(())
}

/// Pods that are not ready for several reasons. The fixture's pod template may add what makes the
/// driver keep one.
pub(super) fn not_ready(lab: &Lab) -> Vec<Value> {
    let waiting = |reason: &str| json!({"waiting": {"reason": reason}});
    [
        ("Running", json!({"running": {}})),
        ("Running", waiting("CrashLoopBackOff")),
        ("Pending", waiting("ContainerCreating")),
        ("Failed", json!({"terminated": {"exitCode": 1}})),
    ]
    .into_iter()
    .map(|(phase, state)| {
        let mut pod = pod(lab.pod_backend(&lab.load_balancer()));
        pod["status"]["phase"] = json!(phase);
        let not_ready = json!({"type": "Ready", "status": "False"});
        pod["status"]["conditions"] = json!([not_ready]);
        let status = json!({"name": "main", "ready": false, "restartCount": 1, "state": state});
        pod["status"]["containerStatuses"] = json!([status]);
        pod
    })
    .collect()
}

fn pod(backend: Backend) -> Value {
    match backend.source {
        Source::Pod(mut sent) => sent["pod"].take(),
        _ => Value::Null,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PodName {
    namespace: String,
    name: String,
    /// Empty when it is missing.
    uid: String,
}

impl PodName {
    /// The name of a pod, if it has one and a namespace.
    fn of(pod: &Value) -> Option<Self> {
        let text = |field: &str| {
            let value = pod.get("metadata")?.get(field)?.as_str()?;
            (!value.is_empty()).then(|| value.to_owned())
        };
        Some(Self {
            namespace: text("namespace")?,
            name: text("name")?,
            uid: text("uid").unwrap_or_default(),
        })
    }

    /// True if both may name the same pod.
    fn matches(&self, pod: &Self) -> bool {
        let same_uid = self.uid.is_empty() || self.uid == pod.uid;
        self.namespace == pod.namespace && self.name == pod.name && same_uid
    }
}

/// The pods in `doNotDeregister`.
///
/// # Errors
/// [`CheckError::Failed`], when it is not a list of pods with names and namespaces.
fn kept(reply: &DriverReply) -> CheckOutcome<Vec<PodName>> {
    let expected = "doNotDeregister as an array of Pod objects, each with metadata.name and \
                    metadata.namespace, or null";
    reply.list("doNotDeregister", expected, PodName::of)
}
