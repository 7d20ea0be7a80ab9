//! How traffic finds pods: the groups `discovery.k8s.io` and `networking.k8s.io`.

use k8s_openapi::api::{discovery::v1 as discovery, networking::v1 as networking};

use super::Trait::{Generation, Status, Versioned};
use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<discovery::EndpointSlice>(&[Generation, Versioned]),
    row::<networking::IngressClass>(&[Generation]),
    row::<networking::Ingress>(&[Status, Generation]).short(&["ing"]),
    row::<networking::IPAddress>(&[Generation]).short(&["ip"]),
    row::<networking::ServiceCIDR>(&[Status, Generation]),
    row::<networking::NetworkPolicy>(&[Generation]).short(&["netpol"]),
];
