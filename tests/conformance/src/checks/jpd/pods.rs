//! Pods that are not ready, and the pods in a response.

use crate::checks::prelude::*;

/// Pods that are not ready for several reasons. The fixture's pod template may add what makes the
/// driver keep one.
pub(in crate::checks) fn not_ready(lab: &Lab) -> Vec<Value> {
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
pub(super) struct PodName {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Empty when it is missing.
    pub(super) uid: String,
}

impl PodName {
    /// The name of a pod, if it has one and a namespace.
    pub(super) fn of(pod: &Value) -> Option<Self> {
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
    pub(super) fn matches(&self, pod: &Self) -> bool {
        let same_uid = self.uid.is_empty() || self.uid == pod.uid;
        self.namespace == pod.namespace && self.name == pod.name && same_uid
    }
}

/// The pods in `doNotDeregister`.
///
/// # Errors
/// [`CheckError::Failed`], when it is not a list of pods with names and namespaces.
pub(super) fn kept(reply: &DriverReply) -> Result<Vec<PodName>, CheckError> {
    let wrong = |got: String| {
        let expected = "doNotDeregister as an array of Pod objects, each with metadata.name and \
                        metadata.namespace, or null";
        Err(reply.failed(expected, got))
    };
    let pods = match reply.field("doNotDeregister") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(pods)) => pods,
        Some(other) => return wrong(format!("doNotDeregister {}", cut(other))),
    };
    let mut names = Vec::new();
    for pod in pods {
        match PodName::of(pod) {
            Some(name) => names.push(name),
            None => return wrong(format!("an entry {}", cut(pod))),
        }
    }
    Ok(names)
}

/// A value as JSON of at most 120 characters.
fn cut(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
