//! What a controller works with: the cluster, who controls whom, and the time.

use std::sync::Arc;

use jiff::Timestamp;

use super::kin::{Kin, Member, adopted, controller, reference};
use super::lineage::disowned;
use super::write::{self, NotCreated};
use crate::object::{Object, is_deleting};
use crate::resources::Kind;
use crate::selector::LabelSelector;
use crate::status::ApiError;
use crate::store::Stored;
use crate::writer::Cluster;

/// What a controller works with while it looks at one object.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) kin: &'a mut Kin,
    pub(super) now: Timestamp,
}

/// The object that a controller looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'a> {
    pub(super) kind: &'a Kind,
    pub(super) stored: &'a Arc<Stored>,
}

impl Owner<'_> {
    /// The object.
    pub(super) fn object(&self) -> &Object {
        &self.stored.object
    }
}

impl Desk<'_> {
    /// A built-in kind, if it is served.
    pub(super) fn kind(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.cluster.registry.builtin(group, plural)
    }

    fn read(&self, kind: &Kind, members: Vec<Member>) -> Vec<Arc<Stored>> {
        let mut found: Vec<Arc<Stored>> = members
            .into_iter()
            .filter(|member| member.resource == kind.storage)
            .filter_map(|member| {
                let (namespace, name) = (&member.namespace, &member.name);
                let found = self.cluster.store.get(&kind.storage, namespace, name);
                found.filter(|found| found.uid() == member.uid)
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// The objects of a kind that somebody controls.
    pub(super) fn controlled(&self, kind: &Kind, owner: &str) -> Vec<Arc<Stored>> {
        let mut found = self.read(kind, self.kin.controlled_by(owner));
        found.retain(|object| controller(&object.object) == Some(owner));
        found
    }

    /// The objects of a kind that an owner controls and selects. Those that it selects and nobody
    /// controls are adopted, if they `fit`; those that it no longer selects are let go.
    pub(super) fn claim(
        &mut self,
        kind: &Kind,
        owner: Owner<'_>,
        selector: &LabelSelector,
        fits: impl Fn(&Object) -> bool,
    ) -> Vec<Arc<Stored>> {
        let uid = owner.stored.uid();
        let mut members = self.kin.controlled_by(uid);
        members.extend(self.kin.free(&owner.stored.namespace, selector));
        let leaving = is_deleting(owner.object());
        let mut claimed = Vec::new();
        for found in self.read(kind, members) {
            let selected = selector.matches(&found.object) && fits(&found.object);
            let next = match controller(&found.object) {
                Some(other) if other != uid => continue,
                Some(_) if selected => {
                    claimed.push(found);
                    continue;
                }
                Some(_) if leaving => continue,
                Some(_) => disowned(&found.object, &[uid.to_owned()]),
                None if !selected || leaving || is_deleting(&found.object) => continue,
                None => adopted(&found.object, reference(owner.kind, owner.stored)),
            };
            if let Some(written) = self.update(kind, &found, next)
                && selected
            {
                claimed.push(written);
            }
        }
        claimed
    }

    /// Creates an object in the owner's name.
    pub(super) fn create(
        &mut self,
        kind: &Kind,
        owner: Owner<'_>,
        object: &Object,
    ) -> Result<Arc<Stored>, NotCreated> {
        let object = adopted(object, reference(owner.kind, owner.stored));
        let created = write::create(self.cluster, kind, &object)?;
        // Known at once, so that it is not made again before the journal tells of it.
        self.kin.see(&kind.storage, &created, false);
        Ok(created)
    }

    /// Replaces all but the status of what was read, unless somebody else was faster.
    pub(super) fn update(
        &mut self,
        kind: &Kind,
        current: &Arc<Stored>,
        next: Object,
    ) -> Option<Arc<Stored>> {
        match write::update(self.cluster, kind, current, next) {
            Ok(written) => {
                let written = written?;
                self.kin.see(&kind.storage, &written, false);
                Some(written)
            }
            Err(error) => {
                self.tell(kind, current, &error);
                None
            }
        }
    }

    /// Deletes an object.
    pub(super) fn delete(&mut self, kind: &Kind, object: &Stored) {
        write::delete(self.cluster, kind, object, None);
    }

    fn tell(&self, kind: &Kind, object: &Stored, error: &ApiError) {
        let (namespace, name) = (&object.namespace, &object.name);
        let (kind, error) = (&kind.kind, error.message());
        tracing::warn!(kind, namespace, name, error, "it stays as it is");
    }
}
