//! The columns of built-in kinds.

use serde_json::{Value, json};

use crate::clock;
use crate::object::{Object, at, condition, is_deleting, meta, text};
use crate::resources::Kind;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    name: &'static str,
    type_name: &'static str,
    format: &'static str,
    description: &'static str,
    /// 0 is always shown, more only with `-o wide`.
    priority: i64,
}

const fn column(name: &'static str, description: &'static str) -> Column {
    Column {
        name,
        type_name: "string",
        format: "",
        description,
        priority: 0,
    }
}

const fn wide(name: &'static str, description: &'static str) -> Column {
    Column {
        priority: 1,
        ..column(name, description)
    }
}

const AGE: Column = column(
    "Age",
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
);

impl Column {
    /// The column as a table defines it.
    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name, "type": self.type_name, "format": self.format,
            "description": self.description, "priority": self.priority,
        })
    }
}

/// Whether rows begin with the name: an event's says nothing to people.
pub(super) fn name_first(kind: &Kind) -> bool {
    kind.is_custom() || kind.plural != "events"
}

/// The first column of a table.
pub(super) fn name_column() -> Column {
    Column {
        format: "name",
        ..column(
            "Name",
            "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
        )
    }
}

/// The columns after the name.
pub(super) fn columns(kind: &Kind) -> Vec<Column> {
    match kind.plural.as_str() {
        "pods" => vec![
            column(
                "Ready",
                "The aggregate readiness state of this pod for accepting traffic.",
            ),
            column(
                "Status",
                "The aggregate status of the containers in this pod.",
            ),
            column(
                "Restarts",
                "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
            ),
            AGE,
            wide(
                "IP",
                "podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.",
            ),
            wide(
                "Node",
                "NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
            ),
            wide(
                "Nominated Node",
                "nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.",
            ),
            wide(
                "Readiness Gates",
                "If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to \"True\" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates",
            ),
        ],
        "nodes" => vec![
            column("Status", "The status of the node"),
            column("Roles", "The roles of the node"),
            AGE,
            column("Version", "Kubelet Version reported by the node."),
            wide(
                "Internal-IP",
                "Addresses reachable from inside the cluster.",
            ),
            wide(
                "External-IP",
                "Addresses reachable from outside the cluster.",
            ),
            wide("OS-Image", "OS image reported by the node."),
            wide("Kernel-Version", "Kernel version reported by the node."),
            wide(
                "Container-Runtime",
                "Container runtime version reported by the node.",
            ),
        ],
        "services" => vec![
            column("Type", "How the service is exposed."),
            column("Cluster-IP", "The address inside the cluster."),
            column("External-IP", "Addresses outside the cluster."),
            column("Port(s)", "The ports that the service exposes."),
            AGE,
            wide("Selector", "The pods that the service sends traffic to."),
        ],
        "namespaces" => vec![column("Status", "The status of the namespace"), AGE],
        "events" => vec![
            column("Last Seen", "When the event was last seen."),
            column("Type", "Normal or Warning."),
            column("Reason", "Why the event happened, as one word."),
            column("Object", "The object that the event is about."),
            wide(
                "Subobject",
                "The part of the object that the event is about.",
            ),
            wide("Source", "Who reports the event."),
            column("Message", "What happened."),
            wide("First Seen", "When the event was first seen."),
            wide("Count", "How often the event was seen."),
            Column {
                format: "name",
                ..wide("Name", "The event's own name.")
            },
        ],
        "leases" => vec![column("Holder", "Who holds the lease."), AGE],
        "configmaps" => vec![column("Data", "The number of entries."), AGE],
        "secrets" => vec![
            column("Type", "What the secret is for."),
            column("Data", "The number of entries."),
            AGE,
        ],
        "serviceaccounts" => vec![column("Secrets", "The number of secrets."), AGE],
        "customresourcedefinitions" => vec![Column {
            name: "Created At",
            type_name: "date",
            ..AGE
        }],
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => vec![
            Column {
                type_name: "integer",
                ..column(
                    "Webhooks",
                    "Webhooks indicates the number of webhooks registered in this configuration",
                )
            },
            AGE,
        ],
        _ => vec![AGE],
    }
}

/// The cells after the name.
pub(super) fn cells(kind: &Kind, object: &Object) -> Vec<Value> {
    let word = |path: &[&str], otherwise: &str| {
        Value::from(
            text(object, path)
                .filter(|t| !t.is_empty())
                .unwrap_or(otherwise),
        )
    };
    let count = |key: &str| {
        Value::from(match object.get(key) {
            Some(Value::Object(map)) => map.len(),
            Some(Value::Array(list)) => list.len(),
            _ => 0,
        })
    };
    match kind.plural.as_str() {
        "pods" => pod(object),
        "nodes" => node(object),
        "services" => service(object),
        "namespaces" => vec![word(&["status", "phase"], ""), age(object)],
        "events" => event(object),
        "leases" => vec![word(&["spec", "holderIdentity"], ""), age(object)],
        "configmaps" => vec![count("data"), age(object)],
        "secrets" => vec![word(&["type"], ""), count("data"), age(object)],
        "serviceaccounts" => vec![count("secrets"), age(object)],
        "customresourcedefinitions" => vec![word(&["metadata", "creationTimestamp"], "")],
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            vec![count("webhooks"), age(object)]
        }
        _ => vec![age(object)],
    }
}

fn list<'a>(object: &'a Object, path: &[&str]) -> &'a [Value] {
    at(object, path)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn pod(object: &Object) -> Vec<Value> {
    let statuses = list(object, &["status", "containerStatuses"]);
    let ready = statuses
        .iter()
        .filter(|s| s.get("ready") == Some(&Value::Bool(true)))
        .count();
    let restarts: u64 = statuses
        .iter()
        .filter_map(|s| s.get("restartCount")?.as_u64())
        .sum();
    let phase = text(object, &["status", "reason"])
        .or_else(|| text(object, &["status", "phase"]))
        .unwrap_or("Unknown");
    let status = if is_deleting(object) {
        "Terminating"
    } else {
        phase
    };
    let word = |path: &[&str]| Value::from(text(object, path).unwrap_or("<none>"));
    let gates = list(object, &["spec", "readinessGates"]);
    let open = gates
        .iter()
        .filter_map(|g| condition(object, g.get("conditionType")?.as_str()?))
        .filter(|c| c.get("status").and_then(Value::as_str) == Some("True"))
        .count();
    let gates = match gates.len() {
        0 => "<none>".to_owned(),
        all => format!("{open}/{all}"),
    };
    vec![
        Value::from(format!(
            "{ready}/{}",
            list(object, &["spec", "containers"]).len()
        )),
        Value::from(status),
        Value::from(restarts.to_string()),
        age(object),
        word(&["status", "podIP"]),
        word(&["spec", "nodeName"]),
        word(&["status", "nominatedNodeName"]),
        Value::from(gates),
    ]
}

fn node(object: &Object) -> Vec<Value> {
    let ready = match condition(object, "Ready").and_then(|c| c.get("status")?.as_str()) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let mut status = ready.to_owned();
    if at(object, &["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = at(object, &["metadata", "labels"]).and_then(Value::as_object);
    let roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    let roles = if roles.is_empty() {
        "<none>".to_owned()
    } else {
        roles.join(",")
    };
    let address = |kind: &str| {
        list(object, &["status", "addresses"])
            .iter()
            .find(|a| a.get("type").and_then(Value::as_str) == Some(kind))
            .and_then(|a| a.get("address")?.as_str())
            .unwrap_or("<none>")
    };
    let info = |key: &str| {
        text(object, &["status", "nodeInfo", key])
            .filter(|t| !t.is_empty())
            .unwrap_or("<unknown>")
    };
    vec![
        Value::from(status),
        Value::from(roles),
        age(object),
        Value::from(text(object, &["status", "nodeInfo", "kubeletVersion"]).unwrap_or_default()),
        Value::from(address("InternalIP")),
        Value::from(address("ExternalIP")),
        Value::from(info("osImage")),
        Value::from(info("kernelVersion")),
        Value::from(info("containerRuntimeVersion")),
    ]
}

fn service(object: &Object) -> Vec<Value> {
    let ports: Vec<String> = list(object, &["spec", "ports"])
        .iter()
        .map(|p| {
            let number = |key: &str| p.get(key).and_then(Value::as_u64).unwrap_or(0);
            let protocol = p.get("protocol").and_then(Value::as_str).unwrap_or("TCP");
            match number("nodePort") {
                0 => format!("{}/{protocol}", number("port")),
                node_port => format!("{}:{node_port}/{protocol}", number("port")),
            }
        })
        .collect();
    let or_none = |text: String| {
        if text.is_empty() {
            "<none>".to_owned()
        } else {
            text
        }
    };
    let mut selector: Vec<String> = at(object, &["spec", "selector"])
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    selector.sort();
    let external = match text(object, &["spec", "type"]) {
        Some("LoadBalancer") => {
            let addresses: Vec<&str> = list(object, &["status", "loadBalancer", "ingress"])
                .iter()
                .filter_map(|i| i.get("ip").or_else(|| i.get("hostname"))?.as_str())
                .collect();
            if addresses.is_empty() {
                "<pending>".to_owned()
            } else {
                addresses.join(",")
            }
        }
        Some("ExternalName") => text(object, &["spec", "externalName"])
            .unwrap_or_default()
            .to_owned(),
        _ => "<none>".to_owned(),
    };
    vec![
        Value::from(text(object, &["spec", "type"]).unwrap_or_default()),
        Value::from(text(object, &["spec", "clusterIP"]).unwrap_or("<none>")),
        Value::from(external),
        Value::from(or_none(ports.join(","))),
        age(object),
        Value::from(or_none(selector.join(","))),
    ]
}

fn event(object: &Object) -> Vec<Value> {
    let word = |path: &[&str]| text(object, path).unwrap_or_default();
    let first = [
        text(object, &["firstTimestamp"]),
        text(object, &["eventTime"]),
        meta(object, "creationTimestamp"),
    ];
    let last = [
        text(object, &["series", "lastObservedTime"]),
        text(object, &["lastTimestamp"]),
        first[0],
        first[1],
        first[2],
    ];
    let since = |times: &[Option<&str>]| {
        times
            .iter()
            .flatten()
            .next()
            .map_or_else(|| "<unknown>".to_owned(), |t| clock::age(t))
    };
    let count = at(object, &["series", "count"])
        .or_else(|| object.get("count"))
        .and_then(Value::as_u64)
        .unwrap_or(1);
    let about = format!(
        "{}/{}",
        word(&["involvedObject", "kind"]).to_lowercase(),
        word(&["involvedObject", "name"])
    );
    let source: Vec<&str> = [
        text(object, &["source", "component"]).or_else(|| text(object, &["reportingComponent"])),
        text(object, &["source", "host"]).or_else(|| text(object, &["reportingInstance"])),
    ]
    .into_iter()
    .flatten()
    .filter(|t| !t.is_empty())
    .collect();
    vec![
        Value::from(since(&last)),
        Value::from(word(&["type"])),
        Value::from(word(&["reason"])),
        Value::from(about),
        Value::from(word(&["involvedObject", "fieldPath"])),
        Value::from(source.join(", ")),
        Value::from(word(&["message"]).trim()),
        Value::from(since(&first)),
        Value::from(count),
        Value::from(word(&["metadata", "name"])),
    ]
}

/// The age column of built-in kinds.
fn age(object: &Object) -> Value {
    Value::from(
        meta(object, "creationTimestamp").map_or_else(|| "<unknown>".to_owned(), clock::age),
    )
}
