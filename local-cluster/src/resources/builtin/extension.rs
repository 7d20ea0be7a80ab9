//! What extends the API, reports and elects: the remaining groups.

use k8s_openapi::api::{
    admissionregistration::v1 as admission, coordination::v1 as coordination, events::v1 as events,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;

use super::Trait::{Generation, Status, Versioned};
use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<events::Event>(&[]).short(&["ev"]),
    row::<admission::MutatingWebhookConfiguration>(&[Generation, Versioned])
        .category("api-extensions"),
    row::<admission::ValidatingWebhookConfiguration>(&[Generation, Versioned])
        .category("api-extensions"),
    row::<admission::MutatingAdmissionPolicy>(&[Generation]).category("api-extensions"),
    row::<admission::MutatingAdmissionPolicyBinding>(&[Generation]).category("api-extensions"),
    row::<admission::ValidatingAdmissionPolicy>(&[Status, Generation]).category("api-extensions"),
    row::<admission::ValidatingAdmissionPolicyBinding>(&[Generation]).category("api-extensions"),
    row::<APIService>(&[Status]).category("api-extensions"),
    row::<CustomResourceDefinition>(&[Status, Generation, Versioned])
        .short(&["crd", "crds"])
        .category("api-extensions"),
    row::<coordination::Lease>(&[Versioned]),
];
