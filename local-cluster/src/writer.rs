//! Carries out writes: reads, lets the rules decide, and stores the decision unless somebody else
//! was faster, in which case it decides anew.
//!
//! The HTTP side and the agents write through here, so both obey the same rules.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::addresses;
use crate::clock;
use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::patch::Apply;
use crate::requests::Counters;
use crate::resources::{Kind, Registry};
use crate::rules::{
    DeleteOptions, Deletion, FieldValidation, Part, Stamp, Update, clean_metadata, decide_deletion,
    decide_update, prepare_create,
};
use crate::status::ApiError;
use crate::store::{InsertError, Store, Stored};

/// How often a write is decided anew before the client is told to do it itself.
const ATTEMPTS: usize = 100;

/// The cluster as the rooms of this crate share it.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) store: Arc<Store>,
    pub(crate) registry: Registry,
    pub(crate) counters: Counters,
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
    /// An empty cluster.
    pub(crate) fn new(history: usize) -> Self {
        Self {
            store: Store::new(history),
            registry: Registry::new(),
            counters: Counters::default(),
            stop: CancellationToken::new(),
            service_addresses: Mutex::new(()),
        }
    }

    /// Creates an object, given in presented form.
    pub(crate) fn create(
        &self,
        kind: &Kind,
        namespace: &str,
        object: Object,
        validation: FieldValidation,
        dry_run: bool,
    ) -> Result<(Left, Vec<String>), ApiError> {
        self.insert(kind, namespace, object, None, (validation, dry_run))
    }

    fn insert(
        &self,
        kind: &Kind,
        namespace: &str,
        mut object: Object,
        managed: Option<Vec<serde_json::Value>>,
        (validation, dry_run): (FieldValidation, bool),
    ) -> Result<(Left, Vec<String>), ApiError> {
        clean_metadata(kind, &mut object)?;
        place(kind, namespace, &mut object)?;
        let generated = object::name(&object).is_empty();
        for attempt in 0..ATTEMPTS {
            let stamp = Stamp {
                uid: uuid::Uuid::new_v4().to_string(),
                now: clock::now(),
            };
            let (mut new, warnings) = prepare_create(kind, object.clone(), &stamp, validation)?;
            let name = object::name(&new).to_owned();
            if let Some(managed) = &managed {
                object::child(&mut new, "metadata")
                    .insert("managedFields".to_owned(), managed.clone().into());
            }
            let _held = self.assign_addresses(kind, &mut new, None)?;
            let inserted = if dry_run {
                self.check_insert(kind, namespace, &name)
                    .map(|()| Left::Loose(new))
            } else {
                self.store
                    .insert(&kind.storage, new, kind.namespaced)
                    .map(Left::Stored)
            };
            match inserted {
                Ok(left) => return Ok((left, warnings)),
                Err(InsertError::Exists) if generated && attempt + 1 < ATTEMPTS => {}
                Err(InsertError::Exists) => return Err(ApiError::already_exists(kind, &name)),
                Err(InsertError::NamespaceMissing) => return Err(self.no_namespace(namespace)),
                Err(InsertError::NamespaceTerminating) => {
                    return Err(ApiError::namespace_terminating(kind, &name, namespace));
                }
            }
        }
        Err(ApiError::already_exists(kind, object::name(&object)))
    }

    /// Applies to an object, or creates it; says whether it was created.
    pub(crate) fn apply(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        apply: &Apply,
        (validation, dry_run): (FieldValidation, bool),
    ) -> Result<(Left, Vec<String>, bool), ApiError> {
        let part = if apply.subresource.is_empty() {
            Part::Main
        } else {
            Part::Status
        };
        for _ in 0..ATTEMPTS {
            let now = clock::now();
            let Some(current) = self.store.get(&kind.storage, namespace, name) else {
                if part == Part::Status {
                    return Err(ApiError::not_found(kind, name));
                }
                let applied = apply.to(kind, &Object::new(), &now)?;
                let options = (validation, dry_run);
                let (left, warnings) = self.insert(
                    kind,
                    namespace,
                    applied.object,
                    Some(applied.managed),
                    options,
                )?;
                return Ok((left, warnings, true));
            };
            let applied = apply.to(kind, &kind.present(&current), &now)?;
            let mut next = applied.object;
            clean_metadata(kind, &mut next)?;
            place(kind, namespace, &mut next)?;
            let _held = self.assign_addresses(kind, &mut next, Some(&current.object))?;
            let (update, warnings) = decide_update(kind, &current, next, part, validation)?;
            let goes = matches!(update, Update::Remove(_));
            let mut next = match update {
                Update::Unchanged => current.object.clone(),
                Update::Replace(next) | Update::Remove(next) => next,
            };
            object::child(&mut next, "metadata")
                .insert("managedFields".to_owned(), applied.managed.into());
            if next == current.object {
                return Ok((Left::Stored(current), warnings, false));
            }
            if dry_run {
                return Ok((Left::Loose(next), warnings, false));
            }
            let done = if goes {
                self.store.remove(&kind.storage, &current, next)
            } else {
                self.store.replace(&kind.storage, &current, next)
            };
            if let Ok(stored) = done {
                return Ok((Left::Stored(stored), warnings, false));
            }
        }
        Err(ApiError::modified(kind, name))
    }

    /// Changes an object. `change` gets it in presented form and may be called more than once.
    pub(crate) fn update(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        part: Part,
        (validation, dry_run): (FieldValidation, bool),
        change: impl Fn(Object) -> Result<Object, ApiError>,
    ) -> Result<(Left, Vec<String>), ApiError> {
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let mut next = change(kind.present(&current))?;
            clean_metadata(kind, &mut next)?;
            place(kind, namespace, &mut next)?;
            if object::name(&next) != name {
                return Err(ApiError::bad_request(format!(
                    "the name of the object ({}) does not match the name on the URL ({name})",
                    object::name(&next)
                )));
            }
            let _held = self.assign_addresses(kind, &mut next, Some(&current.object))?;
            let (update, warnings) = decide_update(kind, &current, next, part, validation)?;
            let done = match update {
                Update::Unchanged => Ok(Left::Stored(current)),
                Update::Replace(next) | Update::Remove(next) if dry_run => Ok(Left::Loose(next)),
                Update::Replace(next) => self
                    .store
                    .replace(&kind.storage, &current, next)
                    .map(Left::Stored),
                Update::Remove(last) => self
                    .store
                    .remove(&kind.storage, &current, last.clone())
                    .map(|_| Left::Loose(last)),
            };
            if let Ok(left) = done {
                return Ok((left, warnings));
            }
        }
        Err(ApiError::modified(kind, name))
    }

    /// Deletes an object, or begins to.
    pub(crate) fn delete(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<Deleted, ApiError> {
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let deletion = decide_deletion(kind, &current, options, clock::in_seconds)?;
            let done = match deletion {
                Deletion::Unchanged => Ok(Deleted::Waiting(Left::Stored(current))),
                Deletion::Remove(last) if options.dry_run => Ok(Deleted::Gone(last)),
                Deletion::Mark(next) if options.dry_run => Ok(Deleted::Waiting(Left::Loose(next))),
                Deletion::Remove(last) => self
                    .store
                    .remove(&kind.storage, &current, last)
                    .map(|gone| Deleted::Gone(gone.object.clone())),
                Deletion::Mark(next) => self
                    .store
                    .replace(&kind.storage, &current, next)
                    .map(|stored| Deleted::Waiting(Left::Stored(stored))),
            };
            if let Ok(deleted) = done {
                return Ok(deleted);
            }
        }
        Err(ApiError::modified(kind, name))
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

    fn check_insert(&self, kind: &Kind, namespace: &str, name: &str) -> Result<(), InsertError> {
        if kind.namespaced {
            let namespaces = crate::store::Resource::new("", "namespaces");
            match self.store.get(&namespaces, "", namespace) {
                None => return Err(InsertError::NamespaceMissing),
                Some(ns) if object::is_deleting(&ns.object) => {
                    return Err(InsertError::NamespaceTerminating);
                }
                Some(_) => {}
            }
        }
        match self.store.get(&kind.storage, namespace, name) {
            Some(_) => Err(InsertError::Exists),
            None => Ok(()),
        }
    }

    fn no_namespace(&self, namespace: &str) -> ApiError {
        match self.registry.builtin("", "namespaces") {
            Some(kind) => ApiError::not_found(&kind, namespace),
            None => ApiError::bad_request(format!("namespace {namespace} not found")),
        }
    }

    /// Gives a service its addresses; what is returned keeps others from taking the same.
    fn assign_addresses(
        &self,
        kind: &Kind,
        object: &mut Object,
        before: Option<&Object>,
    ) -> Result<Option<std::sync::MutexGuard<'_, ()>>, ApiError> {
        if !kind.is("", "services") {
            return Ok(None);
        }
        let held = self
            .service_addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (services, _) = self.store.list(&kind.storage, None);
        let own = object::uid(before.unwrap_or(object)).to_owned();
        let others = services
            .iter()
            .map(|s| &s.object)
            .filter(|s| object::uid(s) != own);
        addresses::assign(object, before, others).map_err(|(field, why)| {
            let error = FieldError::forbidden(field, &why);
            ApiError::invalid("", "Service", object::name(object), &[error])
        })?;
        Ok(Some(held))
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
