//! Which objects are LBCF's, and their API group.

use super::editor::Editor;
use crate::api::{BackendGroup, BackendRecord, Bind, GROUP, LoadBalancer, LoadBalancerDriver};
use kube::Resource;
use serde_json::{Value, json};

/// The API group of the first editions.
const FORMER_GROUP: &str = "tke.cloud.tencent.com";
/// The only version of the former group.
const FORMER_VERSION: &str = "v1beta1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LbcfKind {
    Driver,
    LoadBalancer,
    BackendGroup,
    BackendRecord,
    Bind,
}

impl LbcfKind {
    /// The kind of an object, or of the items of a list such as `BackendGroupList`.
    fn of(kind: &str) -> Option<(Self, String)> {
        fn entry<K: Resource<DynamicType = ()>>(kind: LbcfKind) -> (String, (LbcfKind, String)) {
            (
                K::kind(&()).into_owned(),
                (kind, K::api_version(&()).into_owned()),
            )
        }
        let known = [
            entry::<LoadBalancerDriver>(Self::Driver),
            entry::<LoadBalancer>(Self::LoadBalancer),
            entry::<BackendGroup>(Self::BackendGroup),
            entry::<BackendRecord>(Self::BackendRecord),
            entry::<Bind>(Self::Bind),
        ];
        let kind = kind.strip_suffix("List").unwrap_or(kind);
        let mut known = known.into_iter();
        known.find_map(|(name, found)| (name == kind).then_some(found))
    }
}

/// Replaces the former group. Returns the kind, or none if the object is not LBCF's or has
/// an unknown version.
pub(super) fn convert_api_version(object: &mut Value, editor: &mut Editor) -> Option<LbcfKind> {
    convert_reference(object, "", editor)
}

/// Like [`convert_api_version`] for an object reference, whose fields have the prefix `at`.
fn convert_reference(object: &mut Value, at: &str, editor: &mut Editor) -> Option<LbcfKind> {
    let field = format!("{at}apiVersion");
    let Some(name) = object.get("kind").and_then(Value::as_str) else {
        let kind = object.get("kind").cloned().unwrap_or_default();
        editor.invalid(
            &format!("{at}kind"),
            &kind,
            "must be the name of a kind, such as BackendGroup",
        );
        return None;
    };
    let (kind, today) = LbcfKind::of(name)?;
    let given = object.get("apiVersion").cloned().unwrap_or_default();
    let former = format!("{FORMER_GROUP}/{FORMER_VERSION}");
    match given.as_str() {
        Some(text) if text == today => Some(kind),
        Some(text) if text == former => {
            editor.replace(&field, &mut object["apiVersion"], json!(today));
            Some(kind)
        }
        Some(text) if is_ours(text) => {
            let allowed = format!("must be {today}, or {former}, which is converted");
            editor.invalid(&field, &given, &allowed);
            None
        }
        // A kind of the same name in another group.
        Some(_) => None,
        None => {
            let allowed = format!("must be the group and version of the kind, such as {today}");
            editor.invalid(&field, &given, &allowed);
            None
        }
    }
}

/// True if this is the API version of an object that is converted.
pub(super) fn is_ours(api_version: &str) -> bool {
    let group = api_version.split_once('/').map(|(group, _)| group);
    group == Some(GROUP) || group == Some(FORMER_GROUP)
}

/// Fields that the API server sets. An object that has the identity of another cannot be applied.
const SET_BY_SERVER: [&str; 6] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

pub(super) fn leave_out_set_by_server(metadata: &mut Value) {
    if let Some(fields) = metadata.as_object_mut() {
        fields.retain(|name, _| !SET_BY_SERVER.contains(&name.as_str()));
    }
}

pub(super) fn convert_metadata(object: &mut Value, editor: &mut Editor) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        let metadata = object.get("metadata").cloned().unwrap_or_default();
        editor.invalid("metadata", &metadata, "must be an object with a name");
        return;
    };
    // YAML reads a name of digits as a number, and a long one is no longer exact.
    if let Some(name) = metadata.get("name").filter(|name| !name.is_string()) {
        editor.invalid(
            "metadata.name",
            name,
            "must be a string; write it in quotes",
        );
    }
    for field in SET_BY_SERVER {
        if metadata.get(field).is_some_and(|value| !value.is_null()) {
            let old = metadata.remove(field);
            editor.record(format!("metadata.{field}"), old, None);
        }
    }
    let owners = editor.list_at(metadata, "metadata", "ownerReferences");
    for (i, owner) in owners.iter_mut().enumerate() {
        convert_reference(owner, &format!("metadata.ownerReferences[{i}]."), editor);
    }
}
