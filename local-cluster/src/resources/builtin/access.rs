//! Who may do what: `rbac.authorization.k8s.io`. The objects are kept; nothing is forbidden by them.

use k8s_openapi::api::rbac::v1 as rbac;

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<rbac::ClusterRoleBinding>(&[]),
    row::<rbac::ClusterRole>(&[]),
    row::<rbac::RoleBinding>(&[]),
    row::<rbac::Role>(&[]),
];
