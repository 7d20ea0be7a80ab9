//! Carries out writes: reads, lets the rules decide, and stores the decision unless somebody else
//! was faster, in which case it decides anew.
//!
//! The HTTP side and the agents write through here, so both obey the same rules.

mod delete;
mod reviewed;
mod services;
mod settled;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use settled::settled;
use tokio_util::sync::CancellationToken;

use crate::admission::{Admission, Operation};
use crate::clock;
use crate::object::{self, Object};
use crate::patch::Apply;
use crate::requests::Counters;
use crate::resources::{Kind, Registry};
use crate::rules::{
    Part, Stamp, Update, WriteOptions, clean_metadata, decide_update, forget_past, prepare_create,
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
    pub(crate) admission: Admission,
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
            stop: CancellationToken::new(),
            service_addresses: Mutex::new(()),
        }
    }

    /// Creates an object, given in presented form.
    pub(crate) async fn create(
        &self,
        kind: &Kind,
        namespace: &str,
        object: Object,
        options: &WriteOptions<'_>,
    ) -> Result<(Left, Vec<String>), ApiError> {
        self.insert(kind, namespace, object, None, options).await
    }

    async fn insert(
        &self,
        kind: &Kind,
        namespace: &str,
        mut object: Object,
        managed: Option<Vec<serde_json::Value>>,
        options: &WriteOptions<'_>,
    ) -> Result<(Left, Vec<String>), ApiError> {
        clean_metadata(kind, &mut object)?;
        place(kind, namespace, &mut object)?;
        let name = object::name(&object).to_owned();
        let asked = (kind, Part::Main, Operation::Create);
        let mut review = self.review(asked, (namespace, &name), options);
        if review.mutates() || review.validates() {
            // Where nothing can be created nobody need be asked.
            self.check_namespace(kind, namespace)
                .map_err(|error| self.no_insert(error, kind, (namespace, &name)))?;
        }
        if review.mutates() {
            forget_past(object::child(&mut object, "metadata"));
            object = review.mutate(object, None, options.validation).await?;
            place(kind, namespace, &mut object)?;
        }
        let generated = object::name(&object).is_empty();
        for attempt in 0..ATTEMPTS {
            let stamp = Stamp {
                uid: uuid::Uuid::new_v4().to_string(),
                now: clock::now(),
            };
            let (mut new, warnings) =
                prepare_create(kind, object.clone(), &stamp, options.validation)?;
            review.warn(warnings);
            let name = object::name(&new).to_owned();
            if let Some(managed) = &managed {
                object::child(&mut new, "metadata")
                    .insert("managedFields".to_owned(), managed.clone().into());
            }
            let mut held = self.assign_addresses(kind, &mut new, None)?;
            if review.validates() {
                let clashed = self.clashes(kind, &new);
                drop(held);
                let judged = self.judged(&mut review, kind, (&new, None), clashed);
                let Some(again) = judged.await? else {
                    continue;
                };
                held = again;
            }
            let _held = held;
            let inserted = if options.dry_run {
                self.check_insert(kind, namespace, &name)
                    .map(|()| Left::Loose(new))
            } else {
                self.store
                    .insert(&kind.storage, new, kind.namespaced)
                    .map(Left::Stored)
            };
            match inserted {
                Ok(left) => return Ok((left, review.into_warnings())),
                Err(InsertError::Exists) if generated && attempt + 1 < ATTEMPTS => {}
                Err(error) => return Err(self.no_insert(error, kind, (namespace, &name))),
            }
        }
        Err(ApiError::already_exists(kind, object::name(&object)))
    }

    /// Applies to an object, or creates it; says whether it was created.
    pub(crate) async fn apply(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        apply: &Apply,
        options: &WriteOptions<'_>,
    ) -> Result<(Left, Vec<String>, bool), ApiError> {
        let part = if apply.subresource.is_empty() {
            Part::Main
        } else {
            Part::Status
        };
        let asked = (kind, part, Operation::Update);
        let mut review = self.review(asked, (namespace, name), options);
        for _ in 0..ATTEMPTS {
            let now = clock::now();
            let Some(current) = self.store.get(&kind.storage, namespace, name) else {
                if part == Part::Status {
                    return Err(ApiError::not_found(kind, name));
                }
                let applied = apply.to(kind, &Object::new(), &now)?;
                let managed = Some(applied.managed);
                let inserted = self.insert(kind, namespace, applied.object, managed, options);
                let (left, warnings) = inserted.await?;
                return Ok((left, warnings, true));
            };
            let applied = apply.to(kind, &kind.present(&current), &now)?;
            let mut next = applied.object;
            clean_metadata(kind, &mut next)?;
            place_named(kind, (namespace, name), &mut next)?;
            if review.mutates() {
                let changed = review.mutate(next, Some(&current), options.validation);
                next = changed.await?;
                place_named(kind, (namespace, name), &mut next)?;
            }
            let mut held = self.assign_addresses(kind, &mut next, Some(&current.object))?;
            let (update, warnings) = decide_update(kind, &current, next, part, options.validation)?;
            review.warn(warnings);
            let goes = matches!(update, Update::Remove(_));
            let mut next = match update {
                Update::Unchanged => current.object.clone(),
                Update::Replace(next) | Update::Remove(next) => next,
            };
            object::child(&mut next, "metadata")
                .insert("managedFields".to_owned(), applied.managed.into());
            if review.validates() {
                let clashed = self.clashes(kind, &next);
                drop(held);
                let states = (&next, Some(&*current));
                let judged = self.judged(&mut review, kind, states, clashed);
                let Some(again) = judged.await? else {
                    continue;
                };
                held = again;
            }
            let _held = held;
            if next == current.object {
                return Ok((Left::Stored(current), review.into_warnings(), false));
            }
            if options.dry_run {
                return Ok((Left::Loose(next), review.into_warnings(), false));
            }
            let done = if goes {
                self.store.remove(&kind.storage, &current, next)
            } else {
                self.store.replace(&kind.storage, &current, next)
            };
            if let Some(stored) = settled(done)? {
                return Ok((Left::Stored(stored), review.into_warnings(), false));
            }
        }
        Err(ApiError::modified(kind, name))
    }

    /// Changes an object. `change` gets it in presented form and may be called more than once.
    pub(crate) async fn update(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        part: Part,
        options: &WriteOptions<'_>,
        change: impl Fn(Object) -> Result<Object, ApiError>,
    ) -> Result<(Left, Vec<String>), ApiError> {
        let asked = (kind, part, Operation::Update);
        let mut review = self.review(asked, (namespace, name), options);
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let mut next = change(kind.present(&current))?;
            clean_metadata(kind, &mut next)?;
            place_named(kind, (namespace, name), &mut next)?;
            if review.mutates() {
                let changed = review.mutate(next, Some(&current), options.validation);
                next = changed.await?;
                place_named(kind, (namespace, name), &mut next)?;
            }
            let mut held = self.assign_addresses(kind, &mut next, Some(&current.object))?;
            let (update, warnings) = decide_update(kind, &current, next, part, options.validation)?;
            review.warn(warnings);
            if review.validates() {
                let next = match &update {
                    Update::Unchanged => &current.object,
                    Update::Replace(next) | Update::Remove(next) => next,
                };
                let clashed = self.clashes(kind, next);
                drop(held);
                let states = (next, Some(&*current));
                let judged = self.judged(&mut review, kind, states, clashed);
                let Some(again) = judged.await? else {
                    continue;
                };
                held = again;
            }
            let _held = held;
            let done = match update {
                Update::Unchanged => Ok(Left::Stored(current)),
                Update::Replace(next) | Update::Remove(next) if options.dry_run => {
                    Ok(Left::Loose(next))
                }
                Update::Replace(next) => self
                    .store
                    .replace(&kind.storage, &current, next)
                    .map(Left::Stored),
                Update::Remove(last) => self
                    .store
                    .remove(&kind.storage, &current, last.clone())
                    .map(|_| Left::Loose(last)),
            };
            if let Some(left) = settled(done)? {
                return Ok((left, review.into_warnings()));
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
        self.check_namespace(kind, namespace)?;
        match self.store.get(&kind.storage, namespace, name) {
            Some(_) => Err(InsertError::Exists),
            None => Ok(()),
        }
    }

    /// Whether there is a place for a new object.
    fn check_namespace(&self, kind: &Kind, namespace: &str) -> Result<(), InsertError> {
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
        Ok(())
    }

    fn no_insert(
        &self,
        error: InsertError,
        kind: &Kind,
        (namespace, name): (&str, &str),
    ) -> ApiError {
        match error {
            InsertError::Exists => ApiError::already_exists(kind, name),
            InsertError::Disk(error) => error.into(),
            InsertError::NamespaceTerminating => {
                ApiError::namespace_terminating(kind, name, namespace)
            }
            InsertError::NamespaceMissing => match self.registry.builtin("", "namespaces") {
                Some(kind) => ApiError::not_found(&kind, namespace),
                None => ApiError::bad_request(format!("namespace {namespace} not found")),
            },
        }
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
