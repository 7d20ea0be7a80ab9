//! The columns of the kinds that are only kept: access, storage, quotas, classes.

use serde_json::Value;

use super::{AGE, Column, age, column, integer, labels, list, wide, words};
use crate::object::{Object, at, meta, text};

const CREATED: Column = Column {
    name: "Created At",
    ..AGE
};

/// The columns after the name; `None` for kinds of other files.
pub(super) fn columns(plural: &str) -> Option<Vec<Column>> {
    Some(match plural {
        "roles" | "clusterroles" | "limitranges" => vec![CREATED],
        "rolebindings" | "clusterrolebindings" => vec![
            column("Role", "The role that is given."),
            AGE,
            wide("Users", "The users who get it."),
            wide("Groups", "The groups that get it."),
            wide("ServiceAccounts", "The service accounts that get it."),
        ],
        "storageclasses" => vec![
            column("Provisioner", "Who makes volumes of the class."),
            column("ReclaimPolicy", "What becomes of a volume after its claim."),
            column("VolumeBindingMode", "When volumes are bound."),
            Column {
                type_name: "boolean",
                ..column("AllowVolumeExpansion", "Whether volumes may grow.")
            },
            AGE,
        ],
        "persistentvolumes" => vec![
            column("Capacity", "The size of the volume."),
            column("Access Modes", "How the volume may be mounted."),
            column("Reclaim Policy", "What becomes of it after its claim."),
            column("Status", "The phase of the volume."),
            column("Claim", "The claim that it is bound to."),
            column("StorageClass", "The class of the volume."),
            AGE,
            wide("VolumeMode", "Block or Filesystem."),
        ],
        "persistentvolumeclaims" => vec![
            column("Status", "The phase of the claim."),
            column("Volume", "The volume that it is bound to."),
            column("Capacity", "The size of that volume."),
            column("Access Modes", "How the volume may be mounted."),
            column("StorageClass", "The class that is asked for."),
            AGE,
            wide("VolumeMode", "Block or Filesystem."),
        ],
        "csinodes" => vec![
            integer("Drivers", "The number of drivers on the node."),
            AGE,
        ],
        "resourcequotas" => vec![
            column("Request", "What may be requested."),
            column("Limit", "What may be used at most."),
            AGE,
        ],
        "podtemplates" => vec![
            column("Containers", "Names of each container in the template."),
            column(
                "Images",
                "Images referenced by each container in the template.",
            ),
            column("Pod Labels", "The labels of pods made of it."),
        ],
        "priorityclasses" => vec![
            integer("Value", "The priority of its pods."),
            Column {
                type_name: "boolean",
                ..column("Global-Default", "Whether pods without a class get it.")
            },
            AGE,
            column("PreemptionPolicy", "Whether its pods displace others."),
        ],
        "runtimeclasses" => vec![column("Handler", "What runs its pods."), AGE],
        _ => return None,
    })
}

/// The cells after the name; `None` for kinds of other files.
pub(super) fn cells(plural: &str, object: &Object) -> Option<Vec<Value>> {
    let word = |path: &[&str], otherwise: &str| words(at(object, path), otherwise);
    let modes = |path: &[&str]| {
        let short = list(object, path)
            .iter()
            .filter_map(Value::as_str)
            .map(mode);
        Value::from(short.collect::<Vec<_>>().join(","))
    };
    Some(match plural {
        "roles" | "clusterroles" | "limitranges" => {
            vec![Value::from(
                meta(object, "creationTimestamp").unwrap_or_default(),
            )]
        }
        "rolebindings" | "clusterrolebindings" => vec![
            Value::from(format!(
                "{}/{}",
                text(object, &["roleRef", "kind"]).unwrap_or_default(),
                text(object, &["roleRef", "name"]).unwrap_or_default()
            )),
            age(object),
            subjects(object, "User"),
            subjects(object, "Group"),
            subjects(object, "ServiceAccount"),
        ],
        "storageclasses" => vec![
            word(&["provisioner"], ""),
            word(&["reclaimPolicy"], "Delete"),
            word(&["volumeBindingMode"], "Immediate"),
            Value::from(object.get("allowVolumeExpansion") == Some(&Value::Bool(true))),
            age(object),
        ],
        "persistentvolumes" => {
            let claim = |key: &str| text(object, &["spec", "claimRef", key]);
            let claim = match (claim("namespace"), claim("name")) {
                (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
                _ => String::new(),
            };
            vec![
                word(&["spec", "capacity", "storage"], ""),
                modes(&["spec", "accessModes"]),
                word(&["spec", "persistentVolumeReclaimPolicy"], ""),
                word(&["status", "phase"], ""),
                Value::from(claim),
                word(&["spec", "storageClassName"], ""),
                age(object),
                word(&["spec", "volumeMode"], "<unset>"),
            ]
        }
        "persistentvolumeclaims" => vec![
            word(&["status", "phase"], ""),
            word(&["spec", "volumeName"], ""),
            word(&["status", "capacity", "storage"], ""),
            modes(&["status", "accessModes"]),
            word(&["spec", "storageClassName"], ""),
            age(object),
            word(&["spec", "volumeMode"], "<unset>"),
        ],
        "csinodes" => vec![
            Value::from(list(object, &["spec", "drivers"]).len()),
            age(object),
        ],
        "resourcequotas" => {
            let (mut requests, mut limits) = (Vec::new(), Vec::new());
            let hard = at(object, &["status", "hard"]).or_else(|| at(object, &["spec", "hard"]));
            for (name, most) in hard.and_then(Value::as_object).into_iter().flatten() {
                let used = text(object, &["status", "used", name]).unwrap_or("0");
                let shown = format!("{name}: {used}/{}", most.as_str().unwrap_or_default());
                if name.starts_with("limits") {
                    limits.push(shown);
                } else {
                    requests.push(shown);
                }
            }
            vec![
                Value::from(requests.join(", ")),
                Value::from(limits.join(", ")),
                age(object),
            ]
        }
        "podtemplates" => {
            let containers = list(object, &["template", "spec", "containers"]);
            let each = |key: &str| {
                let found = containers.iter().filter_map(|c| c.get(key)?.as_str());
                Value::from(found.collect::<Vec<_>>().join(","))
            };
            let pod_labels = labels(at(object, &["template", "metadata", "labels"]));
            vec![each("name"), each("image"), Value::from(pod_labels)]
        }
        "priorityclasses" => vec![
            object.get("value").cloned().unwrap_or_default(),
            Value::from(object.get("globalDefault") == Some(&Value::Bool(true))),
            age(object),
            word(&["preemptionPolicy"], "PreemptLowerPriority"),
        ],
        "runtimeclasses" => vec![word(&["handler"], ""), age(object)],
        _ => return None,
    })
}

/// `RWO` for `ReadWriteOnce`, as people write access modes.
fn mode(mode: &str) -> &str {
    match mode {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        other => other,
    }
}

fn subjects(object: &Object, kind: &str) -> Value {
    let named: Vec<String> = list(object, &["subjects"])
        .iter()
        .filter(|s| s.get("kind").and_then(Value::as_str) == Some(kind))
        .map(|s| {
            let word = |key: &str| s.get(key).and_then(Value::as_str).unwrap_or_default();
            match word("namespace") {
                "" => word("name").to_owned(),
                namespace => format!("{namespace}/{}", word("name")),
            }
        })
        .collect();
    Value::from(named.join(", "))
}
