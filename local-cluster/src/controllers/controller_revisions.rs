//! ControllerRevisions: the former and present templates of StatefulSets and DaemonSets.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::context::Context;
use super::template::{hash, normalized};
use super::write::CreateError;
use crate::object::{Object, at, name, namespace, number, object, text};
use crate::resources::Kind;
use crate::store::Stored;

/// The label of a pod with the name or hash of its revision; it is not part of a template.
pub(super) const REVISION_HASH: &str = "controller-revision-hash";

/// How many names are tried for a new revision.
const ATTEMPTS: i64 = 20;

/// The revisions of a workload's template, oldest first.
#[derive(Debug)]
pub(super) struct RevisionHistory {
    kind: Arc<Kind>,
    pub(super) revisions: Vec<Arc<Stored>>,
    pub(super) collisions: i64,
}

impl RevisionHistory {
    /// The revision of the current template.
    pub(super) fn update_revision(&self) -> Option<&Arc<Stored>> {
        self.revisions.last()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<Stored>> {
        self.revisions.iter().find(|revision| revision.name == name)
    }

    /// Deletes the oldest revisions that are not live, beyond `spec.revisionHistoryLimit`.
    pub(super) fn prune(&self, ctx: &Context<'_>, live: &BTreeSet<&str>) {
        let limit = number(ctx.object(), &["spec", "revisionHistoryLimit"], 10);
        let limit = usize::try_from(limit).unwrap_or(0);
        let update = self.update_revision().map(|revision| revision.uid());
        let unused: Vec<&Arc<Stored>> = self
            .revisions
            .iter()
            .filter(|r| Some(r.uid()) != update && !live.contains(r.name.as_str()))
            .collect();
        for revision in unused.iter().take(unused.len().saturating_sub(limit)) {
            ctx.delete(&self.kind, revision);
        }
    }
}

/// The revisions of the workload; one is created for its template if there is none.
pub(super) fn history(ctx: &mut Context<'_>) -> Option<RevisionHistory> {
    let kind = ctx.builtin("apps", "controllerrevisions")?;
    let mut revisions = ctx.controlled(&kind, ctx.owner.uid());
    revisions.sort_by_key(|revision| (revision_number(revision), revision.name.clone()));
    let last = revisions.last().map_or(0, |last| revision_number(last));
    let current = normalized(at(ctx.object(), &["spec", "template"])?, REVISION_HASH);
    let known = revisions.iter().rposition(|revision| {
        template(revision).is_some_and(|known| normalized(&known, REVISION_HASH) == current)
    });
    let mut collisions = number(ctx.object(), &["status", "collisionCount"], 0);
    let revision = match known.map(|index| revisions.remove(index)) {
        Some(revision) if revision_number(&revision) == last => revision,
        Some(revision) => {
            // A rollback makes an old revision the newest.
            let mut next = revision.object.clone();
            next.insert("revision".to_owned(), (last + 1).into());
            ctx.update(&kind, &revision, next).unwrap_or(revision)
        }
        None => create_revision(ctx, &kind, &current, last + 1, &mut collisions)?,
    };
    revisions.push(revision);
    Some(RevisionHistory {
        kind,
        revisions,
        collisions,
    })
}

fn create_revision(
    ctx: &mut Context<'_>,
    kind: &Kind,
    template: &Value,
    number: i64,
    collisions: &mut i64,
) -> Option<Arc<Stored>> {
    for _ in 0..ATTEMPTS {
        let body = new_revision(ctx.object(), template, number, *collisions);
        match ctx.create(kind, &body) {
            Ok(created) => return Some(created),
            Err(CreateError::Exists) => *collisions += 1,
            Err(_) => return None,
        }
    }
    None
}

fn new_revision(owner: &Object, normalized: &Value, number: i64, collisions: i64) -> Object {
    let hash = hash(normalized, Some(collisions));
    let mut template = object(
        at(owner, &["spec", "template"])
            .cloned()
            .unwrap_or_default(),
    );
    let mut labels = object(
        at(&template, &["metadata", "labels"])
            .cloned()
            .unwrap_or_default(),
    );
    for key in ["controller.kubernetes.io/hash", REVISION_HASH] {
        labels.insert(key.to_owned(), hash.clone().into());
    }
    // `kubectl rollout undo` applies the data as a strategic merge patch.
    template.insert("$patch".to_owned(), json!("replace"));
    let annotations = at(owner, &["metadata", "annotations"]);
    object(json!({
        "metadata": {
            "name": format!("{}-{hash}", name(owner)), "namespace": namespace(owner),
            "labels": labels, "annotations": annotations.cloned().unwrap_or(json!({})),
        },
        "data": {"spec": {"template": template}},
        "revision": number,
    }))
}

fn revision_number(revision: &Stored) -> i64 {
    number(&revision.object, &["revision"], 0)
}

/// The hash in a revision's name.
pub(super) fn revision_hash(revision: &Stored) -> &str {
    text(&revision.object, &["metadata", "labels", REVISION_HASH]).unwrap_or_default()
}

pub(super) fn template(revision: &Stored) -> Option<Value> {
    let mut template = at(&revision.object, &["data", "spec", "template"])?.clone();
    if let Value::Object(map) = &mut template {
        map.remove("$patch");
    }
    Some(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_keeps_its_template() {
        let given = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}});
        let owner = object(json!({
            "metadata": {"name": "web", "namespace": "d", "annotations": {"x": "y"}},
            "spec": {"template": given},
        }));
        let normalized = normalized(&given, REVISION_HASH);
        let created = new_revision(&owner, &normalized, 3, 0);
        assert_ne!(created, new_revision(&owner, &normalized, 3, 1));
        assert_eq!(created["data"]["spec"]["template"]["$patch"], "replace");
        assert_eq!(created["metadata"]["labels"]["a"], "b");
        assert_eq!(created["metadata"]["annotations"]["x"], "y");
        let stored = Stored::new(created, 1);
        assert_eq!(template(&stored), Some(given));
        assert_eq!(stored.name, format!("web-{}", revision_hash(&stored)));
        assert_eq!(revision_number(&stored), 3);
    }
}
