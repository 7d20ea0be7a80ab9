//! CustomResourceDefinitions, generated from the types.

use super::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

/// The CRDs of all kinds, in the order in which to apply them.
#[must_use]
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        LoadBalancerDriver::crd(),
        LoadBalancer::crd(),
        BackendGroup::crd(),
        BackendRecord::crd(),
        Bind::crd(),
    ]
}

/// The CRDs of all kinds as a YAML stream for `kubectl apply -f -`.
///
/// # Errors
/// When a CRD cannot be written as YAML, which would be a defect of this crate.
pub fn crds_yaml() -> Result<String, serde_saphyr::ser::Error> {
    let mut yaml = String::new();
    for crd in crds() {
        yaml.push_str("---\n");
        yaml.push_str(&serde_saphyr::to_string(&crd)?);
    }
    Ok(yaml)
}
