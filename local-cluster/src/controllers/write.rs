//! Writes of controllers: by the rules that bind clients, but without a request or a review.
//!
//! Each write replaces the version that was read. If another writer was faster nothing is written: the
//! controller receives the other write as an event and reconciles again.

use std::sync::Arc;

use crate::clock;
use crate::object::{self, Object, finalizers, is_deleting, set_finalizers};
use crate::resources::Kind;
use crate::rules::{
    DeleteOptions, FieldValidation, Part, Stamp, Update, decide_update, decode, is_removable,
    prepare_create,
};
use crate::status::ApiError;
use crate::store::{Resource, Stored, WriteError};
use crate::writer::Cluster;

/// The number of generated names that are tried.
const ATTEMPTS: usize = 20;

/// Creates an object, whose metadata names its namespace.
pub(super) fn create(
    cluster: &Cluster,
    kind: &Kind,
    object: &Object,
) -> Result<Arc<Stored>, ApiError> {
    let (namespace, name) = (object::namespace(object), object::name(object));
    for _ in 0..ATTEMPTS {
        let stamp = Stamp {
            uid: uuid::Uuid::new_v4().to_string(),
            now: clock::now(),
        };
        let new = prepared(kind, object, &stamp)?;
        match cluster.store.insert(&kind.storage, new, kind.namespaced) {
            Ok(stored) => return Ok(stored),
            Err(WriteError::Exists) if name.is_empty() => {}
            Err(error) => return Err(cluster.write_error(error, kind, (namespace, name))),
        }
    }
    Err(ApiError::already_exists(kind, name, false))
}

/// The namespace of a new object is missing or being deleted, which ends the work of its controller.
pub(super) fn lacks_namespace(error: &ApiError) -> bool {
    matches!(error.code(), 403 | 404)
}

fn prepared(kind: &Kind, object: &Object, stamp: &Stamp) -> Result<Object, ApiError> {
    let mut presented = kind.present_object(object.clone());
    decode(kind, &mut presented, FieldValidation::Ignore)?;
    Ok(prepare_create(kind, presented, stamp)?.0)
}

/// Replaces everything but the status of the version that was read. `None` when that version is no
/// longer the current one.
pub(super) fn update(
    cluster: &Cluster,
    kind: &Kind,
    current: &Arc<Stored>,
    next: Object,
) -> Result<Option<Arc<Stored>>, ApiError> {
    let mut next = kind.present_object(next);
    decode(kind, &mut next, FieldValidation::Ignore)?;
    let (update, _) = decide_update(kind, current, next, Part::Main)?;
    Ok(match update {
        Update::Unchanged => Some(Arc::clone(current)),
        Update::Replace(next) => cluster.store.replace(&kind.storage, current, next).ok(),
        Update::Remove(last) => {
            // Whether it was removed or had changed, this version no longer exists.
            let _ = cluster.store.remove(&kind.storage, current, last);
            None
        }
    })
}

/// Replaces the version that was read as it is, status included, without the rules for clients.
pub(super) fn replace(cluster: &Cluster, kind: &Kind, current: &Arc<Stored>, next: Object) {
    if next != current.object {
        let _ = cluster.store.replace(&kind.storage, current, next);
    }
}

/// Changes the current version of an object, without the rules for clients.
///
/// `change` returns `None` when there is nothing (more) to do. An object that is being deleted is
/// removed with its last finalizer.
pub(super) fn modify(
    cluster: &Cluster,
    resource: &Resource,
    (namespace, name): (&str, &str),
    change: impl Fn(&Object) -> Option<Object>,
) {
    while let Some(current) = cluster.store.get(resource, namespace, name) {
        let Some(next) = change(&current.object).filter(|next| *next != current.object) else {
            return;
        };
        let written = if is_removable(&next) {
            cluster.store.remove(resource, &current, next)
        } else {
            cluster.store.replace(resource, &current, next)
        };
        // When the storage refuses the write, the controller starts over later.
        if !matches!(written, Err(WriteError::Stale)) {
            return;
        }
    }
}

/// Removes a finalizer from the object with this uid.
pub(super) fn remove_finalizer(
    cluster: &Cluster,
    resource: &Resource,
    key: (&str, &str),
    uid: &str,
    finalizer: &str,
) {
    modify(cluster, resource, key, |object| {
        let mut left = finalizers(object);
        left.retain(|f| *f != finalizer);
        let mut next = object.clone();
        set_finalizers(&mut next, &left);
        (object::uid(object) == uid).then_some(next)
    });
}

/// Deletes an object, unless another one has taken its name.
pub(super) fn delete(cluster: &Cluster, kind: &Kind, object: &Stored, options: DeleteOptions) {
    let options = DeleteOptions {
        uid: Some(object.uid().to_owned()),
        ..options
    };
    // If it is already deleted, nothing is left to do.
    let _ = cluster.delete(kind, &object.namespace, &object.name, &options);
}

/// Deletes all objects of a kind. Returns whether none is left.
pub(super) fn delete_all(cluster: &Cluster, kind: &Kind) -> bool {
    let (objects, _) = cluster.store.list(&kind.storage, None);
    for object in objects.iter().filter(|o| !is_deleting(&o.object)) {
        delete(cluster, kind, object, DeleteOptions::default());
    }
    cluster.store.list(&kind.storage, None).0.is_empty()
}
