//! Changes of objects that are there: updates, patches, and applies.

use serde_json::Value;

use super::settled::settled;
use super::{ATTEMPTS, Cluster, Left, place_named};
use crate::admission::Operation;
use crate::clock;
use crate::object::{self, Object};
use crate::patch::{Apply, after_update};
use crate::resources::Kind;
use crate::rules::{
    FieldValidation, Part, Update, WriteOptions, clean_metadata, decide_update, decode,
};
use crate::status::ApiError;

/// What a request makes of an object.
#[derive(Debug)]
pub(super) struct Changed {
    /// In presented form.
    pub(super) object: Object,
    /// Who manages its fields then; `None` when that follows from what changes.
    pub(super) managed: Option<Vec<Value>>,
}

impl Cluster {
    /// Changes an object. `change` gets it in presented form and may be called more than once.
    pub(crate) async fn update(
        &self,
        kind: &Kind,
        address: (&str, &str),
        part: Part,
        options: &WriteOptions<'_>,
        change: impl Fn(Object) -> Result<Object, ApiError>,
    ) -> Result<(Left, Vec<String>), ApiError> {
        let change = |object| {
            Ok(Changed {
                object: change(object)?,
                managed: None,
            })
        };
        self.change(kind, address, part, options, change).await
    }

    /// Applies to an object, or creates it; says whether it was created.
    pub(crate) async fn apply(
        &self,
        kind: &Kind,
        address: (&str, &str),
        apply: &Apply,
        options: &WriteOptions<'_>,
    ) -> Result<(Left, Vec<String>, bool), ApiError> {
        let part = match apply.subresource.as_str() {
            "" => Part::Main,
            _ => Part::Status,
        };
        check_fields(kind, apply)?;
        let (namespace, name) = address;
        let applied = |live: &Object| {
            let applied = apply.to(kind, live, &clock::now())?;
            Ok(Changed {
                object: applied.object,
                managed: Some(applied.managed),
            })
        };
        for _ in 0..ATTEMPTS {
            let is_there = self.store.get(&kind.storage, namespace, name).is_some();
            if is_there || part != Part::Main {
                let change = |live: Object| applied(&live);
                match self.change(kind, address, part, options, change).await {
                    // It went meanwhile.
                    Err(error) if is_there && error.code() == 404 => continue,
                    result => return result.map(|(left, warnings)| (left, warnings, false)),
                }
            }
            let new = applied(&Object::new())?;
            let inserted = self.insert(kind, namespace, new.object, new.managed, options);
            match inserted.await {
                // It came meanwhile.
                Err(error) if error.reason() == "AlreadyExists" => {}
                result => return result.map(|(left, warnings)| (left, warnings, true)),
            }
        }
        Err(ApiError::modified(kind, name))
    }

    /// Changes an object, managers and all.
    pub(super) async fn change(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        part: Part,
        options: &WriteOptions<'_>,
        change: impl Fn(Object) -> Result<Changed, ApiError>,
    ) -> Result<(Left, Vec<String>), ApiError> {
        let asked = (kind, part, Operation::Update);
        let mut review = self.review(asked, (namespace, name), options);
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let live = kind.present(&current);
            let changed = change(live.clone())?;
            let mut next = changed.object;
            clean_metadata(kind, &mut next)?;
            place_named(kind, (namespace, name), &mut next)?;
            // Managers that the client leaves alone need not be read as part of the object.
            let untouched = object::managers(&next) == object::managers(&live);
            if untouched {
                object::set_managers(&mut next, Vec::new());
            }
            review.warn(decode(kind, &mut next, options.validation)?);
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
                let mutated = self.mutated(&mut review, next, before, options.validation);
                next = mutated.await?;
                place_named(kind, (namespace, name), &mut next)?;
            }
            let mut held = self.assign_addresses(kind, &mut next, Some(&current.object))?;
            let (update, warnings) = decide_update(kind, &current, next, part)?;
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
}

/// Nobody can own a field that the kind does not have.
fn check_fields(kind: &Kind, apply: &Apply) -> Result<(), ApiError> {
    let mut wanted = apply.wanted.clone();
    let unknown = decode(kind, &mut wanted, FieldValidation::Warn)?;
    let unknown: Vec<String> = unknown
        .iter()
        .filter_map(|warning| warning.strip_prefix("unknown field \"")?.strip_suffix('"'))
        .map(|path| format!(".{path}: field not declared in schema"))
        .collect();
    let why = match unknown.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    Err(ApiError::untyped_patch(kind, &apply.wanted, &why))
}
