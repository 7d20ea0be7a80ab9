//! The core group.

use k8s_openapi::api::core::v1 as core;

use super::Trait::{Generation, ReturnsDeleted, Status};
use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
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
];
