//! The columns of built-in kinds.

mod kept;
mod network;
mod workloads;

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

const fn integer(name: &'static str, description: &'static str) -> Column {
    Column {
        type_name: "integer",
        ..column(name, description)
    }
}

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
                "List of addresses reachable to the node. Queried from cloud provider, if available. More info: https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).",
            ),
            wide(
                "External-IP",
                "List of addresses reachable to the node. Queried from cloud provider, if available. More info: https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).",
            ),
            wide(
                "OS-Image",
                "OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).",
            ),
            wide(
                "Kernel-Version",
                "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
            ),
            wide(
                "Container-Runtime",
                "ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).",
            ),
        ],
        "services" => vec![
            column(
                "Type",
                "type determines how the Service is exposed. Defaults to ClusterIP. Valid options are ExternalName, ClusterIP, NodePort, and LoadBalancer. \"ClusterIP\" allocates a cluster-internal IP address for load-balancing to endpoints. Endpoints are determined by the selector or if that is not specified, by manual construction of an Endpoints object or EndpointSlice objects. If clusterIP is \"None\", no virtual IP is allocated and the endpoints are published as a set of endpoints rather than a virtual IP. \"NodePort\" builds on ClusterIP and allocates a port on every node which routes to the same endpoints as the clusterIP. \"LoadBalancer\" builds on NodePort and creates an external load-balancer (if supported in the current cloud) which routes to the same endpoints as the clusterIP. \"ExternalName\" aliases this service to the specified externalName. Several other fields do not apply to ExternalName services. More info: https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types",
            ),
            column(
                "Cluster-IP",
                "clusterIP is the IP address of the service and is usually assigned randomly. If an address is specified manually, is in-range (as per system configuration), and is not in use, it will be allocated to the service; otherwise creation of the service will fail. This field may not be changed through updates unless the type field is also being changed to ExternalName (which requires this field to be blank) or the type field is being changed from ExternalName (in which case this field may optionally be specified, as describe above).  Valid values are \"None\", empty string (\"\"), or a valid IP address. Setting this to \"None\" makes a \"headless service\" (no virtual IP), which is useful when direct endpoint connections are preferred and proxying is not required.  Only applies to types ClusterIP, NodePort, and LoadBalancer. If this field is specified when creating a Service of type ExternalName, creation will fail. This field will be wiped when updating a Service to type ExternalName. More info: https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies",
            ),
            column(
                "External-IP",
                "externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for this service.  These IPs are not managed by Kubernetes.  The user is responsible for ensuring that traffic arrives at a node with this IP.  A common example is external load-balancers that are not part of the Kubernetes system.",
            ),
            column(
                "Port(s)",
                "The list of ports that are exposed by this service. More info: https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies",
            ),
            AGE,
            wide(
                "Selector",
                "Route service traffic to pods with label keys and values matching this selector. If empty or not present, the service is assumed to have an external process managing its endpoints, which Kubernetes will not modify. Only applies to types ClusterIP, NodePort, and LoadBalancer. Ignored if type is ExternalName. More info: https://kubernetes.io/docs/concepts/services-networking/service/",
            ),
        ],
        "namespaces" => vec![column("Status", "The status of the namespace"), AGE],
        "events" => vec![
            column(
                "Last Seen",
                "The time at which the most recent occurrence of this event was recorded.",
            ),
            column(
                "Type",
                "Type of this event (Normal, Warning), new types could be added in the future",
            ),
            column(
                "Reason",
                "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
            ),
            column("Object", "The object that this event is about."),
            wide(
                "Subobject",
                "If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: \"spec.containers{name}\" (where \"name\" refers to the name of the container that triggered the event) or if no container name is specified \"spec.containers[2]\" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.",
            ),
            wide(
                "Source",
                "The component reporting this event. Should be a short machine understandable string.",
            ),
            column(
                "Message",
                "A human-readable description of the status of this operation.",
            ),
            wide(
                "First Seen",
                "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
            ),
            wide("Count", "The number of times this event has occurred."),
            Column {
                format: "name",
                ..wide(
                    "Name",
                    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
                )
            },
        ],
        "leases" => vec![
            column(
                "Holder",
                "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.",
            ),
            AGE,
        ],
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
        plural => workloads::columns(plural)
            .or_else(|| network::columns(plural))
            .or_else(|| kept::columns(plural))
            .unwrap_or_else(|| vec![AGE]),
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
        plural => workloads::cells(plural, object)
            .or_else(|| network::cells(plural, object))
            .or_else(|| kept::cells(plural, object))
            .unwrap_or_else(|| vec![age(object)]),
    }
}

/// A word or number as a cell.
fn words(value: Option<&Value>, otherwise: &str) -> Value {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Value::from(text.as_str()),
        Some(Value::Number(number)) => Value::from(number.to_string()),
        _ => Value::from(otherwise),
    }
}

/// `a=1,b=2`, as selectors are shown.
fn labels(map: Option<&Value>) -> String {
    let pairs: Vec<String> = map
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() {
        "<none>".to_owned()
    } else {
        pairs.join(",")
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
        Value::from(labels(at(object, &["spec", "selector"]))),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::object;
    use crate::resources::Registry;

    #[test]
    fn rows_of_every_kind_have_a_cell_for_each_column() {
        let bare = object(json!({"metadata": {"name": "a"}}));
        for kind in Registry::new().all() {
            let (columns, cells) = (columns(&kind), cells(&kind, &bare));
            assert_eq!(columns.len(), cells.len(), "{}", kind.plural);
        }
    }

    #[test]
    fn cells_say_how_far_workloads_are() {
        let registry = Registry::new();
        let shown = |group: &str, plural: &str, body: Value| {
            cells(&registry.builtin(group, plural).unwrap(), &object(body))
        };
        let template = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
        let selector = json!({"matchLabels": {"a": "b"}});
        let deployment = json!({
            "spec": {"replicas": 3, "selector": selector, "template": template},
            "status": {"readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2},
        });
        let wanted = json!(["2/3", 1, 2, "<unknown>", "c", "i", "a=b"]);
        assert_eq!(
            Value::from(shown("apps", "deployments", deployment)),
            wanted
        );
        let job = json!({
            "spec": {"completions": 2, "selector": selector, "template": template},
            "status": {
                "succeeded": 2, "startTime": "2026-01-01T00:00:00Z",
                "completionTime": "2026-01-01T00:00:07Z",
                "conditions": [{"type": "Complete", "status": "True"}],
            },
        });
        let wanted = json!(["Complete", "2/2", "7s", "<unknown>", "c", "i", "a=b"]);
        assert_eq!(Value::from(shown("batch", "jobs", job)), wanted);
        let endpoints: Vec<Value> = (1..=5)
            .map(|n| json!({"addresses": [format!("10.0.0.{n}")]}))
            .collect();
        let slice = json!({"addressType": "IPv4", "ports": [{"port": 80}, {"name": "all"}], "endpoints": endpoints});
        let wanted = json!([
            "IPv4",
            "80,*",
            "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...",
            "<unknown>"
        ]);
        assert_eq!(
            Value::from(shown("discovery.k8s.io", "endpointslices", slice)),
            wanted
        );
    }
}
