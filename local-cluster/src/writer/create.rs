//! Creates objects.

use serde_json::Value;

use super::{ATTEMPTS, Cluster, Written, set_namespace};
use crate::admission::Operation;
use crate::clock;
use crate::object::{self, Object};
use crate::patch::{ServerSetFields, after_create};
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
        self.insert(kind, namespace, object, None, options).await
    }

    /// Creates an object; `managed` are its managed fields, if they are known already.
    pub(super) async fn insert(
        &self,
        kind: &Kind,
        namespace: &str,
        mut object: Object,
        managed: Option<Vec<Value>>,
        options: &WriteOptions<'_>,
    ) -> Result<(Written, Vec<String>), ApiError> {
        clean_metadata(kind, &mut object)?;
        set_namespace(kind, namespace, &mut object)?;
        let name = object::name(&object).to_owned();
        let attributes = (kind, Part::Main, Operation::Create);
        let mut review = self.review(attributes, (namespace, &name), options);
        let server_set = ServerSetFields::by(kind, &object);
        review.warn(decode(kind, &mut object, options.validation)?);
        forget_past(object::child(&mut object, "metadata"));
        let managed = managed.unwrap_or_else(|| match options.manager {
            Some(manager) => after_create(kind, &object, &server_set, manager, &clock::now()),
            None => Vec::new(),
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
            let name = object::name(&new).to_owned();
            let mut lock = self.assign_addresses(kind, &mut new, None)?;
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
            check_unversioned(&object, options.dry_run)?;
            let inserted = if options.dry_run {
                self.check_insert(kind, namespace, &name)
                    .map(|()| Written::Unstored(new))
            } else {
                self.store
                    .insert(&kind.storage, new, kind.namespaced)
                    .map(Written::Stored)
            };
            match inserted {
                Ok(left) => return Ok((left, review.into_warnings())),
                Err(WriteError::Exists) if generated && attempt + 1 < ATTEMPTS => {}
                Err(error) => return Err(self.write_error(error, kind, (namespace, &name))),
            }
        }
        Err(ApiError::already_exists(kind, object::name(&object), false))
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
fn check_unversioned(object: &Object, dry_run: bool) -> Result<(), ApiError> {
    let version = object::meta(object, "resourceVersion").map(str::parse::<u64>);
    if !dry_run && version.is_some_and(|parsed| parsed.is_ok_and(|v| v != 0)) {
        let why = "resourceVersion should not be set on objects to be created";
        return Err(ApiError::unexplained(why));
    }
    Ok(())
}
