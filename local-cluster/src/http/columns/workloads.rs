//! The columns of what keeps pods running.

use serde_json::Value;

use super::{AGE, Column, age, column, integer, labels, list, wide, words};
use crate::clock;
use crate::object::{Object, at, condition, is_deleting, text};

/// The columns after the name; `None` for kinds of other files.
pub(super) fn columns(plural: &str) -> Option<Vec<Column>> {
    Some(match plural {
        "replicationcontrollers" => vec![
            Column {
                type_name: "integer",
                ..column(
                    "Desired",
                    "Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Current",
                    "Replicas is the most recently observed number of replicas. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Ready",
                    "The number of ready replicas for this replication controller.",
                )
            },
            AGE,
            wide("Containers", "Names of each container in the template."),
            wide(
                "Images",
                "Images referenced by each container in the template.",
            ),
            wide(
                "Selector",
                "Selector is a label query over pods that should match the Replicas count. If Selector is empty, it is defaulted to the labels present on the Pod template. Label keys and values that must match in order to be controlled by this replication controller, if empty defaulted to labels on Pod template. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
        "replicasets" => vec![
            Column {
                type_name: "integer",
                ..column(
                    "Desired",
                    "Replicas is the number of desired pods. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Current",
                    "Replicas is the most recently observed number of non-terminating pods. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Ready",
                    "The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.",
                )
            },
            AGE,
            wide("Containers", "Names of each container in the template."),
            wide(
                "Images",
                "Images referenced by each container in the template.",
            ),
            wide(
                "Selector",
                "Selector is a label query over pods that should match the replica count. Label keys and values that must match in order to be controlled by this replica set. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
        "daemonsets" => vec![
            Column {
                type_name: "integer",
                ..column(
                    "Desired",
                    "The total number of nodes that should be running the daemon pod (including nodes correctly running the daemon pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Current",
                    "The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Ready",
                    "numberReady is the number of nodes that should be running the daemon pod and have one or more of the daemon pod running with a Ready Condition.",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Up-to-date",
                    "The total number of nodes that are running updated daemon pod",
                )
            },
            Column {
                type_name: "integer",
                ..column(
                    "Available",
                    "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and available (ready for at least spec.minReadySeconds)",
                )
            },
            column(
                "Node Selector",
                "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must match a node's labels for the pod to be scheduled on that node. More info: https://kubernetes.io/docs/concepts/configuration/assign-pod-node/",
            ),
            AGE,
            wide("Containers", "Names of each container in the template."),
            wide(
                "Images",
                "Images referenced by each container in the template.",
            ),
            wide(
                "Selector",
                "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
        "deployments" => vec![
            column("Ready", "Number of the pod with ready state"),
            column(
                "Up-to-date",
                "Total number of non-terminating pods targeted by this deployment that have the desired template spec.",
            ),
            column(
                "Available",
                "Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this deployment.",
            ),
            AGE,
            wide("Containers", "Names of each container in the template."),
            wide(
                "Images",
                "Images referenced by each container in the template.",
            ),
            wide(
                "Selector",
                "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
            ),
        ],
        "statefulsets" => vec![
            column("Ready", "Number of the pod with ready state"),
            AGE,
            wide("Containers", "Names of each container in the template."),
            wide(
                "Images",
                "Images referenced by each container in the template.",
            ),
        ],
        "horizontalpodautoscalers" => vec![
            column(
                "Reference",
                "scaleTargetRef points to the target resource to scale, and is used to the pods for which metrics should be collected, as well as to actually change the replica count.",
            ),
            column(
                "Targets",
                "metrics contains the specifications for which to use to calculate the desired replica count (the maximum replica count across all metrics will be used).  The desired replica count is calculated multiplying the ratio between the target value and the current value by the current number of pods.  Ergo, metrics used must decrease as the pod count is increased, and vice-versa.  See the individual metric source types for more information about how each type of metric must respond. If not set, the default metric will be set to 80% average CPU utilization.",
            ),
            column(
                "MinPods",
                "minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down.  It defaults to 1 pod.  minReplicas is allowed to be 0 if the alpha feature gate HPAScaleToZero is enabled and at least one Object or External metric is configured.  Scaling is active as long as at least one metric value is available.",
            ),
            column(
                "MaxPods",
                "maxReplicas is the upper limit for the number of replicas to which the autoscaler can scale up. It cannot be less that minReplicas.",
            ),
            column(
                "Replicas",
                "currentReplicas is current number of replicas of pods managed by this autoscaler, as last seen by the autoscaler.",
            ),
            AGE,
        ],
        "cronjobs" => vec![
            column(
                "Schedule",
                "The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.",
            ),
            column(
                "Timezone",
                "The time zone name for the given schedule, see https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If not specified, this will default to the time zone of the kube-controller-manager process. The set of valid time zone names and the time zone offset is loaded from the system-wide time zone database by the API server during CronJob validation and the controller manager during execution. If no system-wide time zone database can be found a bundled version of the database is used instead. If the time zone name becomes invalid during the lifetime of a CronJob or due to a change in host configuration, the controller will stop creating new new Jobs and will create a system event with the reason UnknownTimeZone. More information can be found in https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones",
            ),
            Column {
                type_name: "boolean",
                ..column(
                    "Suspend",
                    "This flag tells the controller to suspend subsequent executions, it does not apply to already started executions.  Defaults to false.",
                )
            },
            Column {
                type_name: "integer",
                ..column("Active", "A list of pointers to currently running jobs.")
            },
            column(
                "Last Schedule",
                "Information when was the last time the job was successfully scheduled.",
            ),
            AGE,
            wide("Containers", "Names of each container in the template."),
            wide(
                "Images",
                "Images referenced by each container in the template.",
            ),
            wide(
                "Selector",
                "A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
        "jobs" => vec![
            column("Status", "Status of the job."),
            column(
                "Completions",
                "The number of pods which reached phase Succeeded. The value increases monotonically for a given spec. However, it may decrease in reaction to scale down of elastic indexed jobs.",
            ),
            column("Duration", "Time required to complete the job."),
            AGE,
            wide("Containers", "Names of each container in the template."),
            wide(
                "Images",
                "Images referenced by each container in the template.",
            ),
            wide(
                "Selector",
                "A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
        "controllerrevisions" => vec![
            column("Controller", "The object that owns the revision."),
            integer("Revision", "The number of the revision."),
            AGE,
        ],
        "poddisruptionbudgets" => vec![
            column("Min Available", "How many pods must stay."),
            column("Max Unavailable", "How many pods may go."),
            integer("Allowed Disruptions", "How many more pods may go now."),
            AGE,
        ],
        _ => return None,
    })
}

/// The cells after the name; `None` for kinds of other files.
pub(super) fn cells(plural: &str, object: &Object) -> Option<Vec<Value>> {
    let number = |path: &[&str]| Value::from(number(object, path));
    let selector = || Value::from(labels(at(object, &["spec", "selector", "matchLabels"])));
    let mut cells = match plural {
        "replicationcontrollers" | "replicasets" => vec![
            number(&["spec", "replicas"]),
            number(&["status", "replicas"]),
            number(&["status", "readyReplicas"]),
            age(object),
        ],
        "daemonsets" => vec![
            number(&["status", "desiredNumberScheduled"]),
            number(&["status", "currentNumberScheduled"]),
            number(&["status", "numberReady"]),
            number(&["status", "updatedNumberScheduled"]),
            number(&["status", "numberAvailable"]),
            Value::from(labels(at(
                object,
                &["spec", "template", "spec", "nodeSelector"],
            ))),
            age(object),
        ],
        "deployments" => vec![
            of(object, "readyReplicas"),
            number(&["status", "updatedReplicas"]),
            number(&["status", "availableReplicas"]),
            age(object),
        ],
        "statefulsets" => vec![of(object, "readyReplicas"), age(object)],
        "horizontalpodautoscalers" => return Some(autoscaler(object)),
        "cronjobs" => cron_job(object),
        "jobs" => job(object),
        "controllerrevisions" => return Some(revision(object)),
        "poddisruptionbudgets" => {
            let bound = |key: &str| words(at(object, &["spec", key]), "N/A");
            return Some(vec![
                bound("minAvailable"),
                bound("maxUnavailable"),
                number(&["status", "disruptionsAllowed"]),
                age(object),
            ]);
        }
        _ => return None,
    };
    let template: &[&str] = match plural {
        "cronjobs" => &[
            "spec",
            "jobTemplate",
            "spec",
            "template",
            "spec",
            "containers",
        ],
        _ => &["spec", "template", "spec", "containers"],
    };
    let containers = list(object, template);
    cells.push(each(containers, "name"));
    cells.push(each(containers, "image"));
    match plural {
        "statefulsets" => {}
        "replicationcontrollers" => {
            cells.push(Value::from(labels(at(object, &["spec", "selector"]))));
        }
        "cronjobs" => {
            let path = ["spec", "jobTemplate", "spec", "selector", "matchLabels"];
            cells.push(Value::from(labels(at(object, &path))));
        }
        _ => cells.push(selector()),
    }
    Some(cells)
}

fn number(object: &Object, path: &[&str]) -> i64 {
    at(object, path).and_then(Value::as_i64).unwrap_or(0)
}

/// `ready/wanted`.
fn of(object: &Object, ready: &str) -> Value {
    let wanted = number(object, &["spec", "replicas"]);
    Value::from(format!("{}/{wanted}", number(object, &["status", ready])))
}

fn each(containers: &[Value], key: &str) -> Value {
    let found: Vec<&str> = containers
        .iter()
        .filter_map(|c| c.get(key)?.as_str())
        .collect();
    Value::from(found.join(","))
}

fn autoscaler(object: &Object) -> Vec<Value> {
    let word = |key: &str| text(object, &["spec", "scaleTargetRef", key]).unwrap_or_default();
    // Nothing measures pods here, so what is used at present is never known.
    let targets: Vec<String> = list(object, &["spec", "metrics"])
        .iter()
        .map(|metric| {
            let resource = metric.get("resource");
            let name = resource
                .and_then(|r| r.get("name")?.as_str())
                .unwrap_or("metric");
            let target =
                resource.and_then(|r| r.get("target")?.get("averageUtilization")?.as_i64());
            match target {
                Some(percent) => format!("{name}: <unknown>/{percent}%"),
                None => format!("{name}: <unknown>"),
            }
        })
        .collect();
    let targets = if targets.is_empty() {
        "<none>".to_owned()
    } else {
        targets.join(", ")
    };
    vec![
        Value::from(format!("{}/{}", word("kind"), word("name"))),
        Value::from(targets),
        words(at(object, &["spec", "minReplicas"]), "<unset>"),
        Value::from(number(object, &["spec", "maxReplicas"])),
        Value::from(number(object, &["status", "currentReplicas"])),
        age(object),
    ]
}

fn cron_job(object: &Object) -> Vec<Value> {
    let suspended = at(object, &["spec", "suspend"]) == Some(&Value::Bool(true));
    vec![
        words(at(object, &["spec", "schedule"]), ""),
        words(at(object, &["spec", "timeZone"]), "<none>"),
        Value::from(if suspended { "True" } else { "False" }),
        Value::from(list(object, &["status", "active"]).len()),
        Value::from(
            text(object, &["status", "lastScheduleTime"])
                .map_or_else(|| "<none>".to_owned(), clock::age),
        ),
        age(object),
    ]
}

fn job(object: &Object) -> Vec<Value> {
    let is = |kind: &str| {
        condition(object, kind).and_then(|c| c.get("status")?.as_str()) == Some("True")
    };
    let status = if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if is_deleting(object) {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    let succeeded = number(object, &["status", "succeeded"]);
    let completions = match at(object, &["spec", "completions"]).and_then(Value::as_i64) {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None => match number(object, &["spec", "parallelism"]) {
            several if several > 1 => format!("{succeeded}/1 of {several}"),
            _ => format!("{succeeded}/1"),
        },
    };
    let duration = match (
        text(object, &["status", "startTime"]),
        text(object, &["status", "completionTime"]),
    ) {
        (Some(start), Some(end)) => clock::between(start, end),
        (Some(start), None) => clock::age(start),
        (None, _) => String::new(),
    };
    vec![
        Value::from(status),
        Value::from(completions),
        Value::from(duration),
        age(object),
    ]
}

fn revision(object: &Object) -> Vec<Value> {
    let owner = list(object, &["metadata", "ownerReferences"])
        .iter()
        .find(|o| o.get("controller") == Some(&Value::Bool(true)));
    let controller = owner.map_or_else(
        || "<none>".to_owned(),
        |owner| {
            let word = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
            let kind = word("kind").to_lowercase();
            match word("apiVersion").split_once('/') {
                Some((group, _)) => format!("{kind}.{group}/{}", word("name")),
                None => format!("{kind}/{}", word("name")),
            }
        },
    );
    vec![
        Value::from(controller),
        Value::from(number(object, &["revision"])),
        age(object),
    ]
}
