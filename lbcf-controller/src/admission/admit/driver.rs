//! LoadBalancerDriver (b67 to b70, d11, d12).

use super::Change;
use crate::admission::ask::Asking;
use crate::admission::known::Known;
use crate::admission::object::Metadata;
use crate::admission::refusal::{Denial, unless_none};
use crate::admission::review::Request;
use crate::admission::rules::{validate_driver, validate_driver_deletion};
use crate::api::LoadBalancerDriverSpec;
use crate::key::ObjectKey;

/// Who deletes what is in a namespace that goes.
const NAMESPACE_CONTROLLER: &str = "system:serviceaccount:kube-system:namespace-controller";

pub(super) fn stored(change: &Change<LoadBalancerDriverSpec>) -> Result<(), Denial> {
    let old = change.old.as_ref().map(|old| &old.read);
    unless_none(&validate_driver(&change.key, &change.new.read, old))
}

pub(super) async fn deleted<S: Known>(
    key: &ObjectKey,
    metadata: Metadata,
    request: &Request,
    ask: &Asking<'_, S>,
) -> Result<(), Denial> {
    validate_driver_deletion(
        key,
        &metadata.labels(),
        &ask.state.users_of_driver(key).await,
        request.user_info.username == NAMESPACE_CONTROLLER,
    )
}
