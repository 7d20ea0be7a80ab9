//! Pods that are not ready, and what an answer says about them.

use crate::lab::{Answer, Backend, Lab, Source};
use crate::verdict::NotPassed;
use serde_json::{Value, json};

/// Pods that are not ready for several reasons. What makes a driver keep one of them is for the
/// fixture's pod template to have.
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

/// What names a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Empty when it was not told.
    pub(super) uid: String,
}

impl Name {
    /// How the pod is called, if it has a name and a namespace.
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

    /// Whether this can be that pod.
    pub(super) fn is(&self, pod: &Self) -> bool {
        let same_uid = self.uid.is_empty() || self.uid == pod.uid;
        self.namespace == pod.namespace && self.name == pod.name && same_uid
    }
}

/// The pods that stay, as an answer names them.
///
/// # Errors
/// [`NotPassed::Failed`], when it is not a list of pods with names and namespaces.
pub(super) fn kept(answer: &Answer) -> Result<Vec<Name>, NotPassed> {
    let wrong = |got: String| {
        let expected = "doNotDeregister as an array of Pod objects, each with metadata.name and \
                        metadata.namespace, or null";
        Err(answer.failed(expected, got))
    };
    let pods = match answer.field("doNotDeregister") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(pods)) => pods,
        Some(other) => return wrong(format!("doNotDeregister {}", cut(other))),
    };
    let mut names = Vec::new();
    for pod in pods {
        match Name::of(pod) {
            Some(name) => names.push(name),
            None => return wrong(format!("an entry {}", cut(pod))),
        }
    }
    Ok(names)
}

/// A value as JSON, not too long.
fn cut(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
