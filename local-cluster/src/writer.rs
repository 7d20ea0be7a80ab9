//! Carries out writes: reads, lets the rules decide, and stores the decision unless somebody else
//! was faster, in which case it decides anew.
//!
//! The HTTP side and the agents write through here, so both obey the same rules.

mod binding;
mod create;
mod delete;
mod reviewed;
mod scale;
mod services;
mod settled;
mod update;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use settled::settled;
use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::faults::Faults;
use crate::object::{self, Object};
use crate::requests::Counters;
use crate::resources::{Kind, Registry};
use crate::status::ApiError;
use crate::store::{Store, Stored};

pub(crate) use binding::Binding;
pub(crate) use scale::ScaleChange;

/// How often a write is decided anew before the client is told to do it itself.
const ATTEMPTS: usize = 100;

/// The cluster as the rooms of this crate share it.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) store: Arc<Store>,
    pub(crate) registry: Registry,
    pub(crate) counters: Counters,
    pub(crate) admission: Admission,
    pub(crate) faults: Faults,
    /// Ends watches and agents.
    pub(crate) stop: CancellationToken,
    /// Held from choosing a service's addresses until the service is stored.
    service_addresses: Mutex<()>,
}

/// An object as a write leaves it.
#[derive(Debug)]
pub(crate) enum Left {
    /// As stored.
    Stored(Arc<Stored>),
    /// In stored form, but not stored: a dry run, or the last state of what is gone.
    Loose(Object),
}

impl Left {
    /// The object in stored form.
    pub(crate) fn object(&self) -> &Object {
        match self {
            Self::Stored(stored) => &stored.object,
            Self::Loose(object) => object,
        }
    }
}

/// What a deletion leaves.
#[derive(Debug)]
pub(crate) enum Deleted {
    /// Nothing; the uid of what was there, and its last state.
    Gone(Object),
    /// The object, waiting for its end.
    Waiting(Left),
}

impl Cluster {
    /// A cluster of what is in a store.
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

    /// One object, or the refusal that says it is not there.
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
}

/// The same for an object that has a name on the URL, and must not have another.
fn place_named(
    kind: &Kind,
    (namespace, name): (&str, &str),
    object: &mut Object,
) -> Result<(), ApiError> {
    place(kind, namespace, object)?;
    match object::name(object) {
        given if given == name => Ok(()),
        given => Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
    }
}

/// Puts the namespace of the URL into the object, which must not name another.
fn place(kind: &Kind, namespace: &str, object: &mut Object) -> Result<(), ApiError> {
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
