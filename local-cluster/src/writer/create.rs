//! Creates objects.

use serde_json::Value;

use super::{ATTEMPTS, Cluster, Written, set_namespace};
use crate::admission::Operation;
use crate::clock;
use crate::object::{self, Object};
use crate::patch::after_create;
use crate::resources::Kind;
use crate::rules::{
    Part, Stamp, WriteOptions, clean_metadata, decode, forget_past, prepare_create,
};
use crate::status::ApiError;
use crate::store::WriteError;

impl Cluster {
    /// Creates an object in presented form. Returns warnings too.
    pub(crate) async fn create(
        &self,
        kind: &Kind,
        namespace: &str,
        object: Object,
        options: &WriteOptions<'_>,
    ) -> Result<(Written, Vec<String>), ApiError> {
        let how = (Part::Main, None);
        self.insert(kind, namespace, object, how, options).await
    }

    /// Creates an object by a write to a part of it; `managed` are its managed fields, if they are known already.
    /// A service that is created by its status has no addresses.
    pub(crate) async fn insert(
        &self,
        kind: &Kind,
        namespace: &str,
        mut object: Object,
        (part, managed): (Part, Option<Vec<Value>>),
        options: &WriteOptions<'_>,
    ) -> Result<(Written, Vec<String>), ApiError> {
        clean_metadata(kind, &mut object)?;
        set_namespace(kind, namespace, &mut object)?;
        let name = object::name(&object).to_owned();
        let attributes = (kind, part, Operation::Create);
        let mut review = self.review(attributes, (namespace, &name), options);
        review.warn(decode(kind, &mut object, options.validation)?);
        forget_past(object::child(&mut object, "metadata"));
        let managed = managed.unwrap_or_else(|| {
            let by = options.manager.into_iter();
            let after = |by| after_create(kind, part.subresource(), &object, by, &clock::now());
            by.flat_map(after).collect()
        });
        object::set_managers(&mut object, managed);
        if review.mutates() || review.validates() {
            // Without its namespace the object cannot be created, so no webhook is called.
            self.check_namespace(kind, namespace)
                .map_err(|error| self.write_error(error, kind, (namespace, &name)))?;
        }
        if review.mutates() {
            let mutated = self.mutated(&mut review, object, None);
            object = mutated.await?;
            set_namespace(kind, namespace, &mut object)?;
        }
        let generated = object::name(&object).is_empty();
        for attempt in 0..ATTEMPTS {
            let stamp = Stamp {
                uid: uuid::Uuid::new_v4().to_string(),
                now: clock::now(),
            };
            let (mut new, warnings) = prepare_create(kind, object.clone(), &stamp)?;
            review.warn(warnings);
            let mut lock = self.assign_addresses(kind, part, &mut new, None)?;
            if review.validates() {
                let clashed = self.clashes(kind, &new);
                drop(lock);
                let validated = self.validated(&mut review, kind, (&new, None), clashed);
                let Some(relocked) = validated.await? else {
                    continue;
                };
                lock = relocked;
            }
            let _lock = lock;
            match self.store_new(kind, namespace, new, options.dry_run) {
                Ok(left) => return Ok((left, review.into_warnings())),
                Err(error)
                    if error.reason() == "AlreadyExists" && generated && attempt + 1 < ATTEMPTS => {
                }
                Err(error) => return Err(error.with_warnings(review.into_warnings())),
            }
        }
        Err(ApiError::already_exists(kind, object::name(&object), false))
    }

    fn store_new(
        &self,
        kind: &Kind,
        namespace: &str,
        mut new: Object,
        dry_run: bool,
    ) -> Result<Written, ApiError> {
        let name = object::name(&new).to_owned();
        let stored = if dry_run {
            let checked = self.check_insert(kind, namespace, &name);
            checked.map(|()| Written::Unstored(new))
        } else {
            take_version(&mut new)?;
            let stored = self.store.insert(&kind.storage, new, kind.namespaced);
            stored.map(Written::Stored)
        };
        stored.map_err(|error| self.write_error(error, kind, (namespace, &name)))
    }

    fn check_insert(&self, kind: &Kind, namespace: &str, name: &str) -> Result<(), WriteError> {
        self.check_namespace(kind, namespace)?;
        match self.store.get(&kind.storage, namespace, name) {
            Some(_) => Err(WriteError::Exists),
            None => Ok(()),
        }
    }

    fn check_namespace(&self, kind: &Kind, namespace: &str) -> Result<(), WriteError> {
        if kind.namespaced {
            self.store.check_namespace(namespace)?;
        }
        Ok(())
    }
}

/// Refuses a new object with a version as the storage of a cluster does, which a dry run does not reach.
fn take_version(object: &mut Object) -> Result<(), ApiError> {
    let version = object::child(object, "metadata").remove("resourceVersion");
    let version = version
        .as_ref()
        .and_then(Value::as_str)
        .map(str::parse::<u64>);
    if version.is_some_and(|parsed| parsed.is_ok_and(|v| v != 0)) {
        let why = "resourceVersion should not be set on objects to be created";
        return Err(ApiError::unexplained(why));
    }
    Ok(())
}
