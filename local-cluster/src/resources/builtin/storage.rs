//! What pods are placed and stored by: the groups `storage.k8s.io`, `scheduling.k8s.io` and `node.k8s.io`.

use k8s_openapi::api::{node::v1 as node, scheduling::v1 as scheduling, storage::v1 as storage};

use super::Trait::{Generation, ReturnsDeleted, Status, Versioned};
use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<storage::CSIDriver>(&[ReturnsDeleted, Generation]),
    row::<storage::CSINode>(&[ReturnsDeleted]),
    row::<storage::CSIStorageCapacity>(&[ReturnsDeleted, Versioned]),
    row::<storage::StorageClass>(&[ReturnsDeleted]).short(&["sc"]),
    row::<storage::VolumeAttachment>(&[Status, ReturnsDeleted]),
    row::<storage::VolumeAttributesClass>(&[ReturnsDeleted, Generation]).short(&["vac"]),
    row::<scheduling::PriorityClass>(&[Generation]).short(&["pc"]),
    row::<node::RuntimeClass>(&[Versioned]),
];
