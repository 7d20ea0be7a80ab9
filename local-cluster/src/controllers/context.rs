//! A workload while it is reconciled, with the objects that it controls.

use std::sync::Arc;

use jiff::Timestamp;

use super::owners::{
    IndexedObject, OwnerIndex, controller_reference, controller_uid, with_owner, without_owners,
};
use super::write;
use crate::object::{Object, is_deleting};
use crate::resources::Kind;
use crate::rules::DeleteOptions;
use crate::selector::LabelSelector;
use crate::status::ApiError;
use crate::store::Stored;
use crate::writer::Cluster;

/// The workload to reconcile, and what that needs.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) owners: &'a mut OwnerIndex,
    pub(super) now: Timestamp,
    pub(super) kind: &'a Kind,
    pub(super) owner: &'a Arc<Stored>,
    pub(super) selector: &'a LabelSelector,
}

impl<'a> Context<'a> {
    pub(super) fn object(&self) -> &'a Object {
        &self.owner.object
    }

    /// A built-in kind, if it is served.
    pub(super) fn builtin(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.cluster.registry.builtin(group, plural)
    }

    fn read(&self, kind: &Kind, indexed: Vec<IndexedObject>) -> Vec<Arc<Stored>> {
        let mut found: Vec<Arc<Stored>> = indexed
            .into_iter()
            .filter(|object| object.resource == kind.storage)
            .filter_map(|object| {
                let (namespace, name) = (&object.namespace, &object.name);
                let found = self.cluster.store.get(&kind.storage, namespace, name);
                found.filter(|found| found.uid() == object.uid)
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// The objects of a kind whose controller has this uid.
    pub(super) fn controlled(&self, kind: &Kind, owner: &str) -> Vec<Arc<Stored>> {
        let mut found = self.read(kind, self.owners.controlled_by(owner));
        found.retain(|object| controller_uid(&object.object) == Some(owner));
        found
    }

    /// The objects of a kind that the workload controls and selects.
    ///
    /// Those that it selects, that match `fits` and that have no controller are adopted; those that it
    /// no longer selects are released.
    pub(super) fn claim(
        &mut self,
        kind: &Kind,
        fits: impl Fn(&Object) -> bool,
    ) -> Vec<Arc<Stored>> {
        let uid = self.owner.uid();
        let mut candidates = self.owners.controlled_by(uid);
        candidates.extend(self.owners.orphans(&self.owner.namespace, self.selector));
        let deleting = is_deleting(self.object());
        let mut claimed = Vec::new();
        for found in self.read(kind, candidates) {
            let selected = self.selector.matches(&found.object) && fits(&found.object);
            let next = match controller_uid(&found.object) {
                Some(other) if other != uid => continue,
                Some(_) if selected => {
                    claimed.push(found);
                    continue;
                }
                Some(_) if deleting => continue,
                Some(_) => without_owners(&found.object, &[uid.to_owned()]),
                None if !selected || deleting || is_deleting(&found.object) => continue,
                None => self.owned(&found.object),
            };
            if let Some(written) = self.update(kind, &found, next)
                && selected
            {
                claimed.push(written);
            }
        }
        claimed
    }

    fn owned(&self, object: &Object) -> Object {
        with_owner(object, controller_reference(self.kind, self.owner))
    }

    /// Creates an object with the workload as its controller.
    pub(super) fn create(&mut self, kind: &Kind, object: &Object) -> Result<Arc<Stored>, ApiError> {
        let created = write::create(self.cluster, kind, &self.owned(object))?;
        // Indexed before its event arrives, so that it is not created twice.
        self.owners.apply(&kind.storage, &created, false);
        Ok(created)
    }

    /// Replaces everything but the status of the version that was read, if it is still current.
    pub(super) fn update(
        &mut self,
        kind: &Kind,
        current: &Arc<Stored>,
        next: Object,
    ) -> Option<Arc<Stored>> {
        match write::update(self.cluster, kind, current, next) {
            Ok(written) => {
                let written = written?;
                self.owners.apply(&kind.storage, &written, false);
                Some(written)
            }
            Err(error) => {
                let (namespace, name) = (&current.namespace, &current.name);
                let (kind, error) = (&kind.kind, error.message());
                tracing::warn!(kind, namespace, name, error, "the object cannot be updated");
                None
            }
        }
    }

    pub(super) fn delete(&self, kind: &Kind, object: &Stored) {
        write::delete(self.cluster, kind, object, DeleteOptions::default());
    }

    /// Replaces the status of the workload.
    pub(super) fn set_status(&self, status: Object) {
        let mut next = self.object().clone();
        next.insert("status".to_owned(), status.into());
        write::replace(self.cluster, self.kind, self.owner, next);
    }
}
