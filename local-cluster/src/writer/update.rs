//! Updates, patches and server-side applies.

use std::sync::Arc;

use serde_json::Value;

use super::{ATTEMPTS, Cluster, Written, check_url_name, set_address};
use crate::admission::Operation;
use crate::clock;
use crate::object::{self, Object};
use crate::patch::{Apply, after_update};
use crate::resources::Kind;
use crate::rules::{
    FieldValidation, Part, Update, WriteOptions, clean_metadata, decide_update, decode,
};
use crate::status::ApiError;
use crate::store::{Stored, WriteError};

/// An object as a request changes it.
#[derive(Debug)]
pub(super) struct Changed {
    /// The object as the API presents it.
    pub(super) object: Object,
    /// The managed fields; `None` if they follow from the changes.
    pub(super) managed: Option<Vec<Value>>,
}

impl Cluster {
    /// Updates an object. `change` receives it in presented form and may be called more than once.
    pub(crate) async fn update(
        &self,
        kind: &Kind,
        address: (&str, &str),
        part: Part,
        options: &WriteOptions<'_>,
        change: impl Fn(Object) -> Result<Object, ApiError>,
    ) -> Result<(Written, Vec<String>), ApiError> {
        let change = |object| {
            Ok(Changed {
                object: change(object)?,
                managed: None,
            })
        };
        self.change(kind, address, part, options, change).await
    }

    /// Applies to an object, or creates it. Returns whether it was created.
    pub(crate) async fn apply(
        &self,
        kind: &Kind,
        address: (&str, &str),
        apply: &Apply,
        options: &WriteOptions<'_>,
    ) -> Result<(Written, Vec<String>, bool), ApiError> {
        let part = match apply.subresource.as_str() {
            "" => Part::Main,
            "scale" => Part::Scale,
            _ => Part::Status,
        };
        let creates = part == Part::Main || part == Part::Status && kind.is_created_by_update();
        let (namespace, name) = address;
        let applied = |live: &Object| {
            check_fields(kind, apply)?;
            let mut applied = apply.to(kind, live, &clock::now())?;
            check_url_name(&applied.object, name)?;
            // A part of the object is applied with the precondition of the whole; a new object has none.
            let version = object::meta(&apply.desired, "resourceVersion");
            let metadata = object::child(&mut applied.object, "metadata");
            if live.is_empty() {
                if !options.dry_run {
                    metadata.remove("resourceVersion");
                }
            } else if let Some(version) = version {
                metadata.insert("resourceVersion".to_owned(), version.into());
            }
            Ok(Changed {
                object: applied.object,
                managed: Some(applied.managed),
            })
        };
        for _ in 0..ATTEMPTS {
            let exists = self.store.get(&kind.storage, namespace, name).is_some();
            if exists || !creates {
                let change = |live: Object| applied(&live);
                match self.change(kind, address, part, options, change).await {
                    // It was deleted meanwhile.
                    Err(error) if exists && error.code() == 404 => continue,
                    result => return result.map(|(left, warnings)| (left, warnings, false)),
                }
            }
            let new = applied(&Object::new())?;
            let inserted = self.insert(kind, namespace, new.object, (part, new.managed), options);
            match inserted.await {
                // It was created meanwhile.
                Err(error) if error.reason() == "AlreadyExists" => {}
                result => return result.map(|(left, warnings)| (left, warnings, true)),
            }
        }
        Err(ApiError::modified(kind, name))
    }

    pub(super) async fn change(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        part: Part,
        options: &WriteOptions<'_>,
        change: impl Fn(Object) -> Result<Changed, ApiError>,
    ) -> Result<(Written, Vec<String>), ApiError> {
        let attributes = (kind, part, Operation::Update);
        let mut review = self.review(attributes, (namespace, name), options);
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let live = kind.present(&current);
            let changed = change(live.clone())?;
            let mut next = changed.object;
            clean_metadata(kind, &mut next)?;
            // Managed fields that the client left unchanged need not be decoded.
            let untouched = object::managers(&next) == object::managers(&live);
            if untouched {
                object::set_managers(&mut next, Vec::new());
            }
            review.warn(decode(kind, &mut next, options.validation)?);
            set_address(kind, (namespace, name), &mut next)?;
            let managed = match (changed.managed, options.manager) {
                (Some(managed), _) => managed,
                (None, Some(manager)) => {
                    let states = (&live, &next);
                    after_update(kind, part.subresource(), states, manager, &clock::now())
                }
                (None, None) => object::managers(&live).to_vec(),
            };
            object::set_managers(&mut next, managed);
            if review.mutates() {
                let before = Some(&*current);
                let mutated = self.mutated(&mut review, next, before);
                next = mutated.await?;
                set_address(kind, (namespace, name), &mut next)?;
            }
            let mut lock = self.assign_addresses(kind, part, &mut next, Some(&current.object))?;
            let (update, warnings) = decide_update(kind, &current, next, part)?;
            review.warn(warnings);
            if review.validates() {
                let next = match &update {
                    Update::Unchanged => &current.object,
                    Update::Replace(next) | Update::Remove(next) => next,
                };
                let clashed = self.clashes(kind, next);
                drop(lock);
                let states = (next, Some(&*current));
                let validated = self.validated(&mut review, kind, states, clashed);
                let Some(relocked) = validated.await? else {
                    continue;
                };
                lock = relocked;
            }
            let _lock = lock;
            let result = self.perform_update(kind, current, update, options.dry_run);
            if let Some(left) = self.or_stale(result, kind, (namespace, name))? {
                return Ok((left, review.into_warnings()));
            }
        }
        Err(ApiError::modified(kind, name))
    }

    fn perform_update(
        &self,
        kind: &Kind,
        current: Arc<Stored>,
        update: Update,
        dry_run: bool,
    ) -> Result<Written, WriteError> {
        match update {
            Update::Unchanged => Ok(Written::Stored(current)),
            Update::Replace(next) | Update::Remove(next) if dry_run => Ok(Written::Unstored(next)),
            Update::Replace(next) => self
                .store
                .replace(&kind.storage, &current, next)
                .map(Written::Stored),
            // Watches see what was stored, without the update.
            Update::Remove(last) => self
                .store
                .remove(&kind.storage, &current, current.object.clone())
                .map(|_| Written::Unstored(last)),
        }
    }
}

/// Rejects values of wrong types, and unknown fields, which no manager can own.
fn check_fields(kind: &Kind, apply: &Apply) -> Result<(), ApiError> {
    let mut object = apply.desired.clone();
    let decoded = clean_metadata(kind, &mut object)
        .and_then(|()| decode(kind, &mut object, FieldValidation::Warn));
    let errors = decoded.unwrap_or_else(|error| vec![error.message().to_owned()]);
    let unknown = |error: &String| {
        let path = error.strip_prefix("unknown field \"")?.strip_suffix('"')?;
        Some(format!(".{path}: field not declared in schema"))
    };
    let errors: Vec<String> = errors
        .into_iter()
        .map(|error| unknown(&error).unwrap_or(error))
        .collect();
    let why = match errors.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    Err(ApiError::untyped_patch(kind, &apply.desired, &why))
}
