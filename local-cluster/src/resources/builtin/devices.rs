//! Devices for pods, flow control and certificates: the groups `resource.k8s.io`,
//! `flowcontrol.apiserver.k8s.io` and `certificates.k8s.io`. The objects are kept; nothing is
//! allocated, held back or signed.

use k8s_openapi::api::{
    certificates::v1 as certificates, flowcontrol::v1 as flowcontrol, resource::v1 as resource,
};

use super::Trait::{Generation, ReturnsDeleted, Status};
use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<certificates::CertificateSigningRequest>(&[Status]).short(&["csr"]),
    row::<flowcontrol::FlowSchema>(&[Status, Generation]),
    row::<flowcontrol::PriorityLevelConfiguration>(&[Status, Generation]),
    row::<resource::DeviceClass>(&[Generation, ReturnsDeleted]),
    row::<resource::ResourceClaim>(&[Status, ReturnsDeleted]),
    row::<resource::ResourceClaimTemplate>(&[ReturnsDeleted]),
    row::<resource::ResourceSlice>(&[Generation, ReturnsDeleted]),
];
