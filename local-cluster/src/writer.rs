//! Performs writes: reads the object, lets the rules decide and stores the result, or starts over if the
//! object was written in between.
//!
//! Requests and controllers write through this module, so the same rules bind both.

mod admit;
mod create;
mod delete;
mod service_addresses;
mod update;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::faults::Faults;
use crate::object::{self, Object};
use crate::requests::Counters;
use crate::resources::{Kind, Registry};
use crate::status::ApiError;
use crate::store::{DiskError, Store, Stored, WriteError};

/// The number of attempts before the client receives a conflict.
const ATTEMPTS: usize = 100;

/// The cluster as the modules of this crate share it.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) store: Arc<Store>,
    pub(crate) registry: Registry,
    pub(crate) counters: Counters,
    pub(crate) admission: Admission,
    pub(crate) faults: Faults,
    /// Ends watches and controllers.
    pub(crate) stop: CancellationToken,
    /// Locked from the allocation of a service's addresses until the service is stored.
    service_addresses: Mutex<()>,
}

#[derive(Debug)]
pub(crate) enum Written {
    Stored(Arc<Stored>),
    /// In stored form, but not stored: the result of a dry run, or the last state of a removed object.
    Unstored(Object),
}

impl Written {
    pub(crate) fn object(&self) -> &Object {
        match self {
            Self::Stored(stored) => &stored.object,
            Self::Unstored(object) => object,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Deleted {
    /// The object is removed; this was its last state.
    Gone(Object),
    /// The object waits for its grace period or finalizers.
    Waiting(Written),
}

impl Cluster {
    pub(crate) fn new(store: Arc<Store>, services: BTreeMap<String, String>) -> Self {
        Self {
            admission: Admission::new(&store, services),
            store,
            registry: Registry::new(),
            counters: Counters::default(),
            faults: Faults::default(),
            stop: CancellationToken::new(),
            service_addresses: Mutex::new(()),
        }
    }

    pub(crate) fn read(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<Stored>, ApiError> {
        self.store
            .get(&kind.storage, namespace, name)
            .ok_or_else(|| ApiError::not_found(kind, name))
    }

    /// `None` if the object was written in between, so that the write must be retried.
    fn or_stale<T>(
        &self,
        result: Result<T, WriteError>,
        kind: &Kind,
        address: (&str, &str),
    ) -> Result<Option<T>, ApiError> {
        match result {
            Err(WriteError::Stale) => Ok(None),
            result => result
                .map(Some)
                .map_err(|error| self.write_error(error, kind, address)),
        }
    }

    pub(crate) fn write_error(
        &self,
        error: WriteError,
        kind: &Kind,
        (namespace, name): (&str, &str),
    ) -> ApiError {
        match error {
            WriteError::Exists => {
                let found = self.store.get(&kind.storage, namespace, name);
                let leaves = found.is_some_and(|found| object::is_deleting(&found.object));
                ApiError::already_exists(kind, name, leaves)
            }
            WriteError::Stale => ApiError::modified(kind, name),
            WriteError::TooLarge => ApiError::too_large_to_store(),
            WriteError::Disk(error) => error.into(),
            WriteError::NamespaceTerminating => {
                ApiError::namespace_terminating(kind, name, namespace)
            }
            WriteError::NamespaceMissing => match self.registry.builtin("", "namespaces") {
                Some(kind) => ApiError::not_found(&kind, namespace),
                None => ApiError::bad_request(format!("namespace {namespace} not found")),
            },
        }
    }
}

impl From<DiskError> for ApiError {
    fn from(error: DiskError) -> Self {
        Self::internal_because(&error.to_string())
    }
}

/// Sets the namespace of the URL, and checks the name against the URL.
fn set_address(
    kind: &Kind,
    (namespace, name): (&str, &str),
    object: &mut Object,
) -> Result<(), ApiError> {
    set_namespace(kind, namespace, object)?;
    check_url_name(object, name)
}

/// The name of a body must be that of the URL.
pub(crate) fn check_url_name(object: &Object, name: &str) -> Result<(), ApiError> {
    match object::name(object) {
        given if given == name => Ok(()),
        "" => Err(ApiError::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        given => Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
    }
}

/// Sets the namespace of the URL; the object must not have another one.
fn set_namespace(kind: &Kind, namespace: &str, object: &mut Object) -> Result<(), ApiError> {
    let given = object::namespace(object);
    if kind.namespaced {
        if !given.is_empty() && given != namespace {
            return Err(ApiError::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        object::child(object, "metadata").insert("namespace".to_owned(), namespace.into());
    } else {
        object::child(object, "metadata").remove("namespace");
    }
    Ok(())
}
