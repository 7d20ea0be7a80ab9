//! What is answered and not kept: questions to the server, and bindings of pods.

use k8s_openapi::api::core::v1::Binding;
use k8s_openapi::api::{authentication::v1 as authentication, authorization::v1 as authorization};

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row::<Binding>(&[]),
    row::<authentication::SelfSubjectReview>(&[]),
    row::<authentication::TokenReview>(&[]),
    row::<authorization::LocalSubjectAccessReview>(&[]),
    row::<authorization::SelfSubjectAccessReview>(&[]),
    row::<authorization::SelfSubjectRulesReview>(&[]),
    row::<authorization::SubjectAccessReview>(&[]),
];
