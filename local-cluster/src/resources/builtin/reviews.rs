//! Questions to the server: they are answered and not kept.

use k8s_openapi::api::{authentication::v1 as authentication, authorization::v1 as authorization};

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<authentication::SelfSubjectReview>(&[]),
    row::<authentication::TokenReview>(&[]),
    row::<authorization::LocalSubjectAccessReview>(&[]),
    row::<authorization::SelfSubjectAccessReview>(&[]),
    row::<authorization::SelfSubjectRulesReview>(&[]),
    row::<authorization::SubjectAccessReview>(&[]),
];
