//! LoadBalancerDriver (b67 to b70, d11, d12, d33).

use super::ObjectChange;
use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::Denial;
use crate::admission::object::Metadata;
use crate::admission::rules::{validate_driver, validate_driver_deletion};
use crate::admission::validation_context::ValidationContext;
use crate::api::names::FINALIZER_DRIVER;
use crate::api::{LoadBalancerDriverSpec, ObjectKey};

pub(super) fn stored(change: &ObjectChange<LoadBalancerDriverSpec>) -> Result<(), Denial> {
    let old = change.old.as_ref().map(|old| &old.read);
    validate_driver(&change.key, &change.new.read, old).into_result()
}

/// A namespace that is being deleted can neither be kept nor get labels on each of its drivers. Its
/// drivers are deleted at any time, because their finalizer keeps them until nothing uses them (d33).
pub(super) async fn deleted<S: ClusterReader>(
    key: &ObjectKey,
    metadata: Metadata,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    if metadata.is_deleting() {
        return Ok(()); // Nothing changes.
    }
    let users = context.cluster.users_of_driver(key).await;
    let outlives_users = users.is_empty() || metadata.has_finalizer(FINALIZER_DRIVER);
    let checked = validate_driver_deletion(key, &metadata.labels(), &users);
    if checked.is_err() && outlives_users && context.is_namespace_deleting(&key.namespace).await? {
        return Ok(());
    }
    checked
}
