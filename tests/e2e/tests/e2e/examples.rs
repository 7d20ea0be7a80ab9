//! The manifests in `deploy/examples/` use only known fields.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use lbcf_controller::api::{BackendGroup, Bind, LoadBalancer, LoadBalancerDriver};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/examples")
}

/// Decodes a manifest as its kind, and checks that no field was ignored.
fn read<K: DeserializeOwned + serde::Serialize>(yaml: &str) {
    let written: Value = serde_saphyr::from_str(yaml).unwrap();
    let object: K = serde_saphyr::from_str(yaml).unwrap();
    let read = serde_json::to_value(object).unwrap();
    assert_contains(&read, &written, "");
}

fn assert_contains(read: &Value, written: &Value, path: &str) {
    match written {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                let found = read
                    .get(name)
                    .unwrap_or_else(|| panic!("{path} is not a field"));
                assert_contains(found, value, &path);
            }
        }
        _ => assert_eq!(read, written, "{path}"),
    }
}

#[test]
fn every_field_of_every_example_is_known() {
    let mut seen = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let yaml = fs::read_to_string(&path).unwrap();
        println!("{}", path.display());
        let kind = yaml
            .lines()
            .find_map(|line| line.strip_prefix("kind: "))
            .unwrap();
        match kind {
            "Namespace" => read::<Namespace>(&yaml),
            "Pod" => read::<Pod>(&yaml),
            "Service" => read::<Service>(&yaml),
            "Deployment" => read::<Deployment>(&yaml),
            "LoadBalancerDriver" => read::<LoadBalancerDriver>(&yaml),
            "LoadBalancer" => read::<LoadBalancer>(&yaml),
            "BackendGroup" => read::<BackendGroup>(&yaml),
            "Bind" => read::<Bind>(&yaml),
            other => panic!("{other} is not a known kind"),
        }
        seen += 1;
    }
    assert!(seen >= 12, "{seen}");
}
