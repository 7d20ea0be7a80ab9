//! How controllers write: as clients do, but for reviews, and without a request.
//!
//! Each write is of what was read. When somebody else was faster nothing is written: that change is
//! in the journal, and will be decided about.

use std::sync::Arc;

use crate::clock;
use crate::object::{self, Object};
use crate::resources::Kind;
use crate::rules::{
    DeleteOptions, FieldValidation, Part, Stamp, Update, decide_update, decode, prepare_create,
};
use crate::status::ApiError;
use crate::store::{InsertError, Stored};
use crate::writer::Cluster;

/// How many generated names are tried.
const ATTEMPTS: usize = 20;

/// Why an object could not be created.
#[derive(Debug)]
pub(super) enum NotCreated {
    /// There is one by that name.
    Exists,
    /// The namespace is gone or going.
    NoNamespace,
    /// The rules refuse it.
    Refused(ApiError),
}

impl NotCreated {
    /// What a condition says about it.
    pub(super) fn message(&self, kind: &Kind, name: &str, namespace: &str) -> String {
        match self {
            Self::Exists => ApiError::already_exists(kind, name).message().to_owned(),
            Self::NoNamespace => ApiError::namespace_terminating(kind, name, namespace)
                .message()
                .to_owned(),
            Self::Refused(error) => error.message().to_owned(),
        }
    }
}

/// Creates an object, whose metadata names its namespace.
pub(super) fn create(
    cluster: &Cluster,
    kind: &Kind,
    object: &Object,
) -> Result<Arc<Stored>, NotCreated> {
    let generated = object::name(object).is_empty();
    for _ in 0..ATTEMPTS {
        let stamp = Stamp {
            uid: uuid::Uuid::new_v4().to_string(),
            now: clock::now(),
        };
        let new = prepared(kind, object, &stamp).map_err(NotCreated::Refused)?;
        match cluster.store.insert(&kind.storage, new, kind.namespaced) {
            Ok(stored) => return Ok(stored),
            Err(InsertError::Exists) if generated => {}
            Err(InsertError::Exists) => return Err(NotCreated::Exists),
            Err(InsertError::NamespaceMissing | InsertError::NamespaceTerminating) => {
                return Err(NotCreated::NoNamespace);
            }
            Err(InsertError::Disk(error)) => return Err(NotCreated::Refused(error.into())),
        }
    }
    Err(NotCreated::Exists)
}

fn prepared(kind: &Kind, object: &Object, stamp: &Stamp) -> Result<Object, ApiError> {
    let mut presented = kind.present_object(object.clone());
    decode(kind, &mut presented, FieldValidation::Ignore)?;
    Ok(prepare_create(kind, presented, stamp)?.0)
}

/// Replaces all but the status of what was read. `None` when there is no such version any more.
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
            // Gone, or changed meanwhile: in either case this version is no more.
            let _ = cluster.store.remove(&kind.storage, current, last);
            None
        }
    })
}

/// Replaces what was read by a version with another status, or whatever else is no wish.
pub(super) fn replace(cluster: &Cluster, kind: &Kind, current: &Arc<Stored>, next: Object) {
    if next != current.object {
        let _ = cluster.store.replace(&kind.storage, current, next);
    }
}

/// Replaces the status of what was read.
pub(super) fn set_status(cluster: &Cluster, kind: &Kind, current: &Arc<Stored>, status: Object) {
    let mut next = current.object.clone();
    next.insert("status".to_owned(), serde_json::Value::Object(status));
    replace(cluster, kind, current, next);
}

/// Deletes an object as one that may be gone already, or be another of that name.
pub(super) fn delete(cluster: &Cluster, kind: &Kind, gone: &Stored, grace: Option<i64>) {
    let options = DeleteOptions {
        uid: Some(gone.uid().to_owned()),
        grace_seconds: grace,
        ..DeleteOptions::default()
    };
    let _ = cluster.delete(kind, &gone.namespace, &gone.name, &options);
}
