//! ControllerRevisions: the versions of the templates of StatefulSets and DaemonSets.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::desk::{Desk, Owner};
use super::pods::number;
use super::template::{essence, hash};
use super::write::NotCreated;
use crate::object::{Object, at, name, namespace, object};
use crate::resources::Kind;
use crate::store::Stored;

/// Says of which version a pod is; no part of a template.
pub(super) const REVISION_HASH: &str = "controller-revision-hash";

/// How many names are tried for a version.
const ATTEMPTS: i64 = 20;

/// The versions of a template, oldest first; the last is the one that is wanted.
#[derive(Debug)]
pub(super) struct History {
    pub(super) kind: Arc<Kind>,
    pub(super) revisions: Vec<Arc<Stored>>,
    /// How often a name was another's.
    pub(super) collisions: i64,
}

impl History {
    /// The version that is wanted.
    pub(super) fn wanted(&self) -> Option<&Arc<Stored>> {
        self.revisions.last()
    }

    /// A version by its name.
    pub(super) fn find(&self, name: &str) -> Option<&Arc<Stored>> {
        self.revisions.iter().find(|revision| revision.name == name)
    }

    /// Forgets versions that nothing is of any more, but for as many as the owner keeps.
    pub(super) fn forget(&self, desk: &mut Desk<'_>, owner: Owner<'_>, live: &BTreeSet<&str>) {
        let kept = number(owner.object(), &["spec", "revisionHistoryLimit"], 10);
        let kept = usize::try_from(kept).unwrap_or(0);
        let wanted = self.wanted().map(|revision| revision.uid());
        let dead = self.revisions.iter().filter(|revision| {
            Some(revision.uid()) != wanted && !live.contains(revision.name.as_str())
        });
        let dead: Vec<&Arc<Stored>> = dead.collect();
        for revision in dead.iter().take(dead.len().saturating_sub(kept)) {
            desk.delete(&self.kind, revision);
        }
    }
}

/// Finds the version that an owner's template is, or makes it.
pub(super) fn history(desk: &mut Desk<'_>, owner: Owner<'_>) -> Option<History> {
    let kind = desk.kind("apps", "controllerrevisions")?;
    let mut revisions = desk.controlled(&kind, owner.stored.uid());
    revisions.sort_by_key(|revision| (revision_number(revision), revision.name.clone()));
    let last = revisions.last().map_or(0, |last| revision_number(last));
    let template = at(owner.object(), &["spec", "template"])?;
    let wanted = essence(template, REVISION_HASH);
    let same = |revision: &&Arc<Stored>| {
        self::template(revision).is_some_and(|known| essence(&known, REVISION_HASH) == wanted)
    };
    let known = revisions.iter().rposition(|revision| same(&revision));
    let mut collisions = number(owner.object(), &["status", "collisionCount"], 0);
    if let Some(index) = known {
        let revision = revisions.remove(index);
        if revision_number(&revision) == last {
            revisions.push(revision);
        } else {
            // What comes back is the newest again.
            let mut next = revision.object.clone();
            next.insert("revision".to_owned(), (last + 1).into());
            revisions.push(desk.update(&kind, &revision, next).unwrap_or(revision));
        }
    } else {
        let made = make(desk, owner, &kind, &wanted, last + 1, &mut collisions)?;
        revisions.push(made);
    }
    Some(History {
        kind,
        revisions,
        collisions,
    })
}

fn make(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    kind: &Kind,
    wanted: &Value,
    number: i64,
    collisions: &mut i64,
) -> Option<Arc<Stored>> {
    for _ in 0..ATTEMPTS {
        let body = new_revision(owner.object(), wanted, number, *collisions);
        match desk.create(kind, owner, &body) {
            Ok(made) => return Some(made),
            Err(NotCreated::Exists) => *collisions += 1,
            Err(_) => return None,
        }
    }
    None
}

fn new_revision(owner: &Object, wanted: &Value, number: i64, collisions: i64) -> Object {
    let hash = hash(wanted, Some(collisions));
    let mut template = at(owner, &["spec", "template"])
        .cloned()
        .unwrap_or_default();
    let labels = template.get("metadata").and_then(|meta| meta.get("labels"));
    let mut labels = object(labels.cloned().unwrap_or_default());
    for key in ["controller.kubernetes.io/hash", REVISION_HASH] {
        labels.insert(key.to_owned(), hash.clone().into());
    }
    if let Value::Object(template) = &mut template {
        // Applied as a patch when somebody goes back to it.
        template.insert("$patch".to_owned(), json!("replace"));
    }
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

/// The hash in a version's name.
pub(super) fn revision_hash(revision: &Stored) -> &str {
    crate::object::text(&revision.object, &["metadata", "labels", REVISION_HASH])
        .unwrap_or_default()
}

/// The template that a version keeps.
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
        let template_given =
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}});
        let owner = object(json!({
            "metadata": {"name": "web", "namespace": "d", "annotations": {"x": "y"}},
            "spec": {"template": template_given},
        }));
        let wanted = essence(&template_given, REVISION_HASH);
        let made = new_revision(&owner, &wanted, 3, 0);
        assert_ne!(made, new_revision(&owner, &wanted, 3, 1));
        assert_eq!(made["data"]["spec"]["template"]["$patch"], "replace");
        assert_eq!(made["metadata"]["labels"]["a"], "b");
        assert_eq!(made["metadata"]["annotations"]["x"], "y");
        let stored = Stored::new(made, 1);
        assert_eq!(template(&stored), Some(template_given));
        assert_eq!(stored.name, format!("web-{}", revision_hash(&stored)));
        assert_eq!(revision_number(&stored), 3);
    }
}
