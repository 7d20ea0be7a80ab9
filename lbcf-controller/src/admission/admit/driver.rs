//! LoadBalancerDriver (b67 to b70, d11, d12).

use super::ObjectChange;
use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::Denial;
use crate::admission::object::Metadata;
use crate::admission::review::Request;
use crate::admission::rules::{validate_driver, validate_driver_deletion};
use crate::admission::validation_context::ValidationContext;
use crate::api::LoadBalancerDriverSpec;
use crate::key::ObjectKey;

/// The user that deletes the content of a namespace.
const NAMESPACE_CONTROLLER: &str = "system:serviceaccount:kube-system:namespace-controller";

pub(super) fn stored(change: &ObjectChange<LoadBalancerDriverSpec>) -> Result<(), Denial> {
    let old = change.old.as_ref().map(|old| &old.read);
    validate_driver(&change.key, &change.new.read, old).into_result()
}

pub(super) async fn deleted<S: ClusterReader>(
    key: &ObjectKey,
    metadata: Metadata,
    request: &Request,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    validate_driver_deletion(
        key,
        &metadata.labels(),
        &context.cluster.users_of_driver(key).await,
        request.user_info.username == NAMESPACE_CONTROLLER,
    )
}
