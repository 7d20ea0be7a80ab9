//! Selectors of pods, as the controller and Services apply them.

use crate::cluster::{Labels, Object};
use crate::object::ObjectRef;
use lbcf_controller::api::PodSelection;
use serde_json::{Map, Value, json};

/// The selector of a BackendGroup or Bind.
pub(super) const BY_LABEL: &str = "/spec/pods/byLabel/selector";
/// The names that it does not select.
pub(super) const EXCEPT: &str = "/spec/pods/byLabel/except";
/// The names that it selects if it has no selector.
pub(super) const BY_NAME: &str = "/spec/pods/byName";

/// An empty selector selects nothing.
pub(super) fn has_labels(object: &Object, selector: &Labels) -> bool {
    let mut wanted = selector.iter();
    !selector.is_empty() && wanted.all(|(label, value)| object.labels().get(label) == Some(value))
}

/// True if a BackendGroup or Bind selects a pod of its namespace by itself.
pub(super) fn selects(owner: &Object, (pod, found): (&ObjectRef, &Object)) -> bool {
    let rule = serde_json::from_value::<PodSelection>(owner.at("/spec/pods").clone());
    rule.is_ok_and(|rule| rule.selects(&pod.key.name, found.labels()))
}

/// The merge patch that makes one map another one.
pub(super) fn change(old: &Labels, new: &Labels) -> Value {
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let removed = removed.map(|key| (key.clone(), Value::Null));
    let set = new.iter().map(|(key, value)| (key.clone(), json!(value)));
    Value::Object(removed.chain(set).collect::<Map<_, _>>())
}
