//! The built-in kinds.
//!
//! A kind without controllers or rules of its own takes a line in [`STORED`].

mod row;

use k8s_openapi::api::{
    admissionregistration::v1 as admission, apps::v1 as apps, authentication::v1 as authentication,
    authorization::v1 as authorization, autoscaling::v1 as autoscaling_v1,
    autoscaling::v2 as autoscaling, batch::v1 as batch, certificates::v1 as certificates,
    coordination::v1 as coordination, core::v1 as core, discovery::v1 as discovery,
    events::v1 as events, flowcontrol::v1 as flowcontrol, networking::v1 as networking,
    node::v1 as node, policy::v1 as policy, rbac::v1 as rbac, resource::v1 as resource,
    scheduling::v1 as scheduling, storage::v1 as storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;

use self::row::KindTrait::{Generation, ReturnsDeleted, Status, Versioned};
use self::row::{KindRow, row};
use super::Kind;

pub(super) fn kinds() -> Vec<Kind> {
    STORED.iter().map(KindRow::kind).collect()
}

pub(super) fn reviews() -> Vec<Kind> {
    REVIEWS.iter().map(KindRow::kind).collect()
}

/// In the order in which discovery lists their groups.
const STORED: &[KindRow] = &[
    row::<core::ComponentStatus>(&[]).short(&["cs"]),
    row::<core::ConfigMap>(&[]).short(&["cm"]),
    row::<core::Endpoints>(&[]).short(&["ep"]),
    row::<core::Event>(&[]).short(&["ev"]),
    row::<core::LimitRange>(&[]).short(&["limits"]),
    row::<core::Namespace>(&[Status]).short(&["ns"]),
    row::<core::Node>(&[Status]).short(&["no"]),
    row::<core::PersistentVolumeClaim>(&[Status, ReturnsDeleted]).short(&["pvc"]),
    row::<core::PersistentVolume>(&[Status, ReturnsDeleted]).short(&["pv"]),
    row::<core::Pod>(&[Status, Generation, ReturnsDeleted])
        .short(&["po"])
        .category("all"),
    row::<core::PodTemplate>(&[Generation, ReturnsDeleted]),
    row::<core::ReplicationController>(&[Status, Generation])
        .short(&["rc"])
        .category("all"),
    row::<core::ResourceQuota>(&[Status, ReturnsDeleted]).short(&["quota"]),
    row::<core::Secret>(&[]),
    row::<core::ServiceAccount>(&[ReturnsDeleted]).short(&["sa"]),
    row::<core::Service>(&[Status, ReturnsDeleted])
        .short(&["svc"])
        .category("all"),
    row::<apps::ControllerRevision>(&[]),
    row::<apps::DaemonSet>(&[Status, Generation])
        .short(&["ds"])
        .category("all"),
    row::<apps::Deployment>(&[Status, Generation])
        .short(&["deploy"])
        .category("all"),
    row::<apps::ReplicaSet>(&[Status, Generation])
        .short(&["rs"])
        .category("all"),
    row::<apps::StatefulSet>(&[Status, Generation])
        .short(&["sts"])
        .category("all"),
    row::<autoscaling::HorizontalPodAutoscaler>(&[Status])
        .short(&["hpa"])
        .category("all"),
    row::<autoscaling_v1::HorizontalPodAutoscaler>(&[Status])
        .short(&["hpa"])
        .category("all"),
    row::<batch::CronJob>(&[Status, Generation])
        .short(&["cj"])
        .category("all"),
    row::<batch::Job>(&[Status, Generation]).category("all"),
    row::<policy::PodDisruptionBudget>(&[Status, Generation, Versioned]).short(&["pdb"]),
    row::<discovery::EndpointSlice>(&[Generation]),
    row::<networking::IngressClass>(&[Generation]),
    row::<networking::Ingress>(&[Status, Generation]).short(&["ing"]),
    row::<networking::IPAddress>(&[Generation]).short(&["ip"]),
    row::<networking::ServiceCIDR>(&[Status, Generation]),
    row::<networking::NetworkPolicy>(&[Generation]).short(&["netpol"]),
    row::<rbac::ClusterRoleBinding>(&[]),
    row::<rbac::ClusterRole>(&[]),
    row::<rbac::RoleBinding>(&[]),
    row::<rbac::Role>(&[]),
    row::<storage::CSIDriver>(&[ReturnsDeleted, Generation]),
    row::<storage::CSINode>(&[ReturnsDeleted]),
    row::<storage::CSIStorageCapacity>(&[ReturnsDeleted, Versioned]),
    row::<storage::StorageClass>(&[ReturnsDeleted]).short(&["sc"]),
    row::<storage::VolumeAttachment>(&[Status, ReturnsDeleted]),
    row::<storage::VolumeAttributesClass>(&[ReturnsDeleted, Generation]).short(&["vac"]),
    row::<scheduling::PriorityClass>(&[Generation]).short(&["pc"]),
    row::<node::RuntimeClass>(&[Versioned]),
    row::<certificates::CertificateSigningRequest>(&[Status]).short(&["csr"]),
    row::<flowcontrol::FlowSchema>(&[Status, Generation]),
    row::<flowcontrol::PriorityLevelConfiguration>(&[Status, Generation]),
    row::<resource::DeviceClass>(&[Generation, ReturnsDeleted]),
    row::<resource::ResourceClaim>(&[Status, ReturnsDeleted]),
    row::<resource::ResourceClaimTemplate>(&[ReturnsDeleted]),
    row::<resource::ResourceSlice>(&[Generation, ReturnsDeleted]),
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

/// Reviews and bindings, which are created and never stored.
const REVIEWS: &[KindRow] = &[
    row::<core::Binding>(&[]),
    row::<authentication::SelfSubjectReview>(&[]),
    row::<authentication::TokenReview>(&[]),
    row::<authorization::LocalSubjectAccessReview>(&[]),
    row::<authorization::SelfSubjectAccessReview>(&[]),
    row::<authorization::SelfSubjectRulesReview>(&[]),
    row::<authorization::SubjectAccessReview>(&[]),
];
