//! Plans the writes that bring a service's slices to the desired endpoints, as few as possible.
//!
//! An endpoint stays in its slice. New endpoints fill slices that are written anyway, then the fullest
//! slice that has space for all of them, then new slices; and a slice that would be deleted is reused for
//! one that would be created.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::desired::{EndpointGroup, slice_labels};
use crate::object::{Object, at, child, list, name, namespace, object, text, uid};
use crate::store::Stored;

const MAX_ENDPOINTS: usize = 100;

/// Whose endpoints are planned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    All,
    /// Those of the pods with these uids; other endpoints stay as they are.
    Pods(&'a BTreeSet<String>),
}

impl Scope<'_> {
    fn contains(self, identity: &str) -> bool {
        match self {
            Self::All => true,
            Self::Pods(uids) => uids.contains(identity),
        }
    }
}

/// The slices to write.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SlicePlan {
    pub(super) create: Vec<Object>,
    /// Names and next versions.
    pub(super) update: Vec<(String, Object)>,
    pub(super) delete: Vec<String>,
}

/// The next version of a slice.
struct SliceDraft<'a> {
    /// `None` for a new slice.
    before: Option<&'a Stored>,
    ports: &'a [Value],
    endpoints: Vec<&'a Value>,
    changed: bool,
}

pub(super) fn plan(
    service: &Object,
    families: &[(&str, Vec<EndpointGroup>)],
    existing: &[Arc<Stored>],
    scope: Scope<'_>,
) -> SlicePlan {
    let mut plan = SlicePlan::default();
    for slice in existing {
        let family = text(&slice.object, &["addressType"]).unwrap_or_default();
        if !families.iter().any(|(desired, _)| *desired == family) {
            plan.delete.push(slice.name.clone());
        }
    }
    for (family, groups) in families {
        let of_family: Vec<&Stored> = existing
            .iter()
            .map(Arc::as_ref)
            .filter(|slice| text(&slice.object, &["addressType"]) == Some(family))
            .collect();
        let groups = with_unchanged(groups, &of_family, scope);
        let planned = plan_family(service, family, &groups, &of_family, scope);
        plan.create.extend(planned.create);
        plan.update.extend(planned.update);
        plan.delete.extend(planned.delete);
    }
    plan
}

/// The groups, and those of slices whose endpoints mostly stay as they are.
fn with_unchanged<'a>(
    groups: &'a [EndpointGroup],
    existing: &[&Stored],
    scope: Scope<'_>,
) -> Cow<'a, [EndpointGroup]> {
    let mut all = Cow::Borrowed(groups);
    if matches!(scope, Scope::Pods(_)) {
        for slice in existing {
            let ports = list(&slice.object, &["ports"]);
            if all.iter().all(|group| group.ports != ports) {
                all.to_mut().push(EndpointGroup {
                    ports: ports.to_vec(),
                    endpoints: Vec::new(),
                });
            }
        }
    }
    all
}

fn plan_family(
    service: &Object,
    family: &str,
    groups: &[EndpointGroup],
    existing: &[&Stored],
    scope: Scope<'_>,
) -> SlicePlan {
    let mut plan = SlicePlan::default();
    let mut drafts = Vec::new();
    let mut spare: Vec<&Stored> = Vec::new();
    for group in groups {
        let own = existing
            .iter()
            .filter(|slice| list(&slice.object, &["ports"]) == group.ports);
        fill(group, own.copied(), scope, &mut drafts, &mut spare);
    }
    let has_group = |slice: &&&Stored| {
        let ports = list(&slice.object, &["ports"]);
        groups.iter().any(|group| group.ports == ports)
    };
    spare.extend(existing.iter().filter(|slice| !has_group(slice)));
    if drafts.is_empty() {
        // A service without endpoints has one slice, which shows that it was reconciled.
        drafts.push(SliceDraft {
            before: None,
            ports: &[],
            endpoints: Vec::new(),
            changed: true,
        });
    }
    // An unused slice that is already as desired is kept.
    for draft in drafts.iter_mut().filter(|draft| draft.before.is_none()) {
        let same = spare.iter().position(|slice| {
            list(&slice.object, &["ports"]) == draft.ports
                && is_equal(list(&slice.object, &["endpoints"]), &draft.endpoints)
        });
        if let Some(index) = same {
            draft.before = Some(spare.remove(index));
            draft.changed = false;
        } else if !spare.is_empty() {
            draft.before = Some(spare.remove(0));
        }
    }
    plan.delete
        .extend(spare.iter().map(|slice| slice.name.clone()));
    let labels = Value::Object(slice_labels(service));
    for draft in drafts {
        let Some(before) = draft.before else {
            plan.create
                .push(new_slice(service, family, &draft, labels.clone()));
            continue;
        };
        let labels_before = at(&before.object, &["metadata", "labels"]);
        if !draft.changed && labels_before == Some(&labels) {
            continue;
        }
        let mut next = before.object.clone();
        child(&mut next, "metadata").insert("labels".to_owned(), labels.clone());
        set_lists(&mut next, &draft);
        plan.update.push((before.name.clone(), next));
    }
    plan
}

/// Distributes a group's endpoints over its slices and new ones; slices left empty are spare.
fn fill<'a>(
    group: &'a EndpointGroup,
    slices: impl Iterator<Item = &'a Stored>,
    scope: Scope<'_>,
    drafts: &mut Vec<SliceDraft<'a>>,
    spare: &mut Vec<&'a Stored>,
) {
    let mut left: BTreeMap<Cow<'_, str>, &Value> = BTreeMap::new();
    for endpoint in &group.endpoints {
        left.insert(identity(endpoint), endpoint);
    }
    let mut own: Vec<SliceDraft<'a>> = Vec::new();
    for slice in slices {
        let before = list(&slice.object, &["endpoints"]);
        let endpoints = before.iter().filter_map(|endpoint| {
            let identity = identity(endpoint);
            match scope.contains(&identity) {
                true => left.remove(&identity),
                false => Some(endpoint),
            }
        });
        let endpoints: Vec<&Value> = endpoints.take(MAX_ENDPOINTS).collect();
        if endpoints.is_empty() {
            spare.push(slice);
            continue;
        }
        own.push(SliceDraft {
            before: Some(slice),
            ports: &group.ports,
            changed: !is_equal(before, &endpoints),
            endpoints,
        });
    }
    let mut left = left.into_values();
    for draft in own.iter_mut().filter(|draft| draft.changed) {
        let space = MAX_ENDPOINTS.saturating_sub(draft.endpoints.len());
        draft.endpoints.extend(left.by_ref().take(space));
    }
    let mut left: Vec<&Value> = left.collect();
    while !left.is_empty() {
        let count = left.len().min(MAX_ENDPOINTS);
        let part: Vec<&Value> = left.drain(..count).collect();
        let fits = own
            .iter_mut()
            .filter(|draft| draft.endpoints.len() + count <= MAX_ENDPOINTS)
            .max_by_key(|draft| draft.endpoints.len());
        match fits {
            Some(draft) => {
                draft.endpoints.extend(part);
                draft.changed = true;
            }
            None => own.push(SliceDraft {
                before: None,
                ports: &group.ports,
                endpoints: part,
                changed: true,
            }),
        }
    }
    drafts.extend(own);
}

/// The uid of an endpoint's pod.
fn identity(endpoint: &Value) -> Cow<'_, str> {
    let target = endpoint.get("targetRef").and_then(|t| t.get("uid"));
    match target.and_then(Value::as_str) {
        Some(uid) => Cow::Borrowed(uid),
        None => Cow::Owned(endpoint.to_string()),
    }
}

/// Endpoints that stay as they are need no comparison.
fn is_equal(before: &[Value], endpoints: &[&Value]) -> bool {
    let mut pairs = before.iter().zip(endpoints);
    before.len() == endpoints.len() && pairs.all(|(a, b)| std::ptr::eq(a, *b) || a == *b)
}

fn set_lists(slice: &mut Object, draft: &SliceDraft<'_>) {
    // Empty lists are stored as null, as the API server does.
    let stored = |list: Vec<Value>| match list.is_empty() {
        true => Value::Null,
        false => Value::from(list),
    };
    let endpoints = draft.endpoints.iter().copied().cloned().collect();
    slice.insert("endpoints".to_owned(), stored(endpoints));
    slice.insert("ports".to_owned(), stored(draft.ports.to_vec()));
}

fn new_slice(service: &Object, family: &str, draft: &SliceDraft<'_>, labels: Value) -> Object {
    let mut slice = object(json!({
        "metadata": {
            "generateName": format!("{}-", name(service)),
            "namespace": namespace(service),
            "labels": labels,
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Service", "name": name(service), "uid": uid(service),
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "addressType": family,
    }));
    set_lists(&mut slice, draft);
    slice
}

#[cfg(test)]
mod tests;
