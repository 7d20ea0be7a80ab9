//! Plans the writes that bring a service's slices to the desired endpoints, as few as possible.
//!
//! An endpoint stays in its slice. New endpoints fill slices that are written anyway, then the fullest
//! slice that has space for all of them, then new slices; and a slice that would be deleted is reused for
//! one that would be created.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::desired::{EndpointGroup, slice_labels};
use crate::object::{Object, at, child, name, namespace, object, text, uid};
use crate::store::Stored;

const MAX_ENDPOINTS: usize = 100;

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
    ports: Vec<Value>,
    endpoints: Vec<Value>,
    changed: bool,
}

pub(super) fn plan(
    service: &Object,
    families: &[(&str, Vec<EndpointGroup>)],
    existing: &[Arc<Stored>],
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
        plan_family(service, family, groups, &of_family, &mut plan);
    }
    plan
}

fn plan_family(
    service: &Object,
    family: &str,
    groups: &[EndpointGroup],
    existing: &[&Stored],
    plan: &mut SlicePlan,
) {
    let mut drafts = Vec::new();
    let mut spare: Vec<&Stored> = Vec::new();
    for group in groups {
        let own = existing
            .iter()
            .filter(|slice| list(&slice.object, "ports") == group.ports);
        fill(group, own.copied(), &mut drafts, &mut spare);
    }
    let has_group = |slice: &&&Stored| {
        let ports = list(&slice.object, "ports");
        groups.iter().any(|group| group.ports == ports)
    };
    spare.extend(existing.iter().filter(|slice| !has_group(slice)));
    if drafts.is_empty() {
        // A service without endpoints has one slice, which shows that it was reconciled.
        drafts.push(SliceDraft {
            before: None,
            ports: Vec::new(),
            endpoints: Vec::new(),
            changed: true,
        });
    }
    // An unused slice that is already as desired is kept.
    for draft in drafts.iter_mut().filter(|draft| draft.before.is_none()) {
        let same = spare.iter().position(|slice| {
            list(&slice.object, "ports") == draft.ports
                && list(&slice.object, "endpoints") == draft.endpoints
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
}

/// Distributes a group's endpoints over its slices and new ones; slices left empty are spare.
fn fill<'a>(
    group: &EndpointGroup,
    slices: impl Iterator<Item = &'a Stored>,
    drafts: &mut Vec<SliceDraft<'a>>,
    spare: &mut Vec<&'a Stored>,
) {
    let mut left: BTreeMap<String, &Value> = BTreeMap::new();
    for endpoint in &group.endpoints {
        left.insert(identity(endpoint), endpoint);
    }
    let mut own: Vec<SliceDraft<'a>> = Vec::new();
    for slice in slices {
        let before = list(&slice.object, "endpoints");
        let endpoints: Vec<Value> = before
            .iter()
            .filter_map(|endpoint| left.remove(&identity(endpoint)).cloned())
            .take(MAX_ENDPOINTS)
            .collect();
        if endpoints.is_empty() {
            spare.push(slice);
            continue;
        }
        own.push(SliceDraft {
            before: Some(slice),
            ports: group.ports.clone(),
            changed: endpoints != before,
            endpoints,
        });
    }
    let mut left = left.into_values().cloned();
    for draft in own.iter_mut().filter(|draft| draft.changed) {
        let space = MAX_ENDPOINTS.saturating_sub(draft.endpoints.len());
        draft.endpoints.extend(left.by_ref().take(space));
    }
    let mut left: Vec<Value> = left.collect();
    while !left.is_empty() {
        let count = left.len().min(MAX_ENDPOINTS);
        let part: Vec<Value> = left.drain(..count).collect();
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
                ports: group.ports.clone(),
                endpoints: part,
                changed: true,
            }),
        }
    }
    drafts.extend(own);
}

/// The uid of an endpoint's pod.
fn identity(endpoint: &Value) -> String {
    let target = endpoint.get("targetRef").and_then(|t| t.get("uid"));
    match target.and_then(Value::as_str) {
        Some(uid) => uid.to_owned(),
        None => endpoint.to_string(),
    }
}

fn list(slice: &Object, key: &str) -> Vec<Value> {
    let list = slice.get(key).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

fn set_lists(slice: &mut Object, draft: &SliceDraft<'_>) {
    // Empty lists are stored as null, as the API server does.
    let stored = |list: &[Value]| match list {
        [] => Value::Null,
        list => Value::from(list.to_vec()),
    };
    slice.insert("endpoints".to_owned(), stored(&draft.endpoints));
    slice.insert("ports".to_owned(), stored(&draft.ports));
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
