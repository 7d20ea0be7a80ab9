use super::*;
use crate::object::{at, child};
use crate::resources::{Kind, Registry, kinds_of};
use serde_json::json;

fn maps() -> Kind {
    (*Registry::new().builtin("", "configmaps").unwrap()).clone()
}

fn widgets() -> Kind {
    let crd = object(json!({"metadata": {"name": "widgets.x"}, "spec": {
    "group": "x", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
    "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                     "items": {"type": "object", "properties": {"name": {"type": "string"}, "x": {"type": "integer"}}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "plain": {"type": "array", "items": {"type": "string"}},
        }}}}}}]}}));
    kinds_of(&crd).remove(0)
}

fn apply_as(
    kind: &Kind,
    live: &Object,
    manager: &str,
    force: bool,
    desired: Value,
) -> Result<Object, ApiError> {
    let request = Apply {
        manager: manager.to_owned(),
        force,
        subresource: String::new(),
        desired: object(desired),
    };
    let applied = request.to(kind, live, "now")?;
    let mut object = applied.object;
    let meta = child(&mut object, "metadata");
    meta.insert("uid".to_owned(), "u".into());
    meta.insert("managedFields".to_owned(), applied.managed.into());
    Ok(object)
}

fn apply(live: &Object, manager: &str, force: bool, desired: Value) -> Result<Object, ApiError> {
    apply_as(&maps(), live, manager, force, desired)
}

fn managed(object: &Object) -> Vec<Value> {
    let managed = at(object, &["metadata", "managedFields"]);
    managed
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

fn fields(object: &Object, manager: &str) -> Value {
    let entries = managed(object).into_iter();
    let mut own = entries.filter(|entry| entry["manager"] == manager);
    own.next()
        .map(|e| e["fieldsV1"].clone())
        .unwrap_or_default()
}

#[test]
fn fields_that_a_manager_no_longer_applies_are_removed() {
    let none = Object::new();
    let first = apply(&none, "m", false, json!({"data": {"a": "1", "b": "2"}})).unwrap();
    let second = apply(&first, "m", false, json!({"data": {"a": "1"}})).unwrap();
    assert_eq!(second["data"], json!({"a": "1"}));
    assert_eq!(fields(&second, "m"), json!({"f:data": {"f:a": {}}}));
    let same = apply(&second, "m", false, json!({"data": {"a": "1"}})).unwrap();
    assert_eq!(same, second);
    let nothing = apply(&second, "m", false, json!({"metadata": {"name": "x"}})).unwrap();
    assert_eq!((nothing.get("data"), managed(&nothing)), (None, vec![]));
}

#[test]
fn other_managers_conflict_unless_they_agree_or_force() {
    let none = Object::new();
    let first = apply(&none, "m", false, json!({"data": {"a": "1", "b": "2"}})).unwrap();
    let agreed = apply(&first, "n", false, json!({"data": {"a": "1"}})).unwrap();
    assert_eq!(managed(&agreed).len(), 2);
    // Nothing changed, so there is no time.
    assert_eq!(managed(&agreed)[0].get("time"), None);
    let refused = apply(&first, "n", false, json!({"data": {"a": "9"}})).unwrap_err();
    assert_eq!(
        refused.message(),
        "Apply failed with 1 conflict: conflict with \"m\": .data.a"
    );
    let forced = apply(&first, "n", true, json!({"data": {"a": "9"}})).unwrap();
    assert_eq!(forced["data"], json!({"a": "9", "b": "2"}));
    assert_eq!(fields(&forced, "m"), json!({"f:data": {"f:b": {}}}));
}

#[test]
fn updates_conflict_too() {
    let mut live = object(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"uid": "u"}, "data": {"a": "1", "b": "1"}}));
    let entry = json!({"apiVersion": "v1", "fieldsType": "FieldsV1", "operation": "Update",
        "manager": "kubectl-client-side-apply", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:b": {}}}});
    child(&mut live, "metadata").insert("managedFields".to_owned(), json!([entry]));
    let refused = apply(&live, "m", false, json!({"data": {"a": "2", "b": "2"}})).unwrap_err();
    assert_eq!(
        refused.message(),
        "Apply failed with 2 conflicts: conflicts with \"kubectl-client-side-apply\" using v1:\n- .data.a\n- .data.b"
    );
    let status = refused.to_value();
    assert_eq!(status["details"]["causes"][1]["field"], ".data.b");
    assert_eq!(
        status["details"]["causes"][1]["message"],
        "conflict with \"kubectl-client-side-apply\" using v1"
    );
    // Fields that others update stay when the applier drops them.
    let shared = apply(&live, "m", false, json!({"data": {"a": "1"}})).unwrap();
    let left = apply(&shared, "m", false, json!({"data": {}})).unwrap();
    assert_eq!(left["data"], json!({"a": "1", "b": "1"}));
}

#[test]
fn fields_without_owner_belong_to_before_first_apply() {
    let live = object(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"uid": "u"}, "data": {"a": "1"}}));
    let refused = apply(&live, "m", false, json!({"data": {"a": "2"}})).unwrap_err();
    assert_eq!(
        refused.message(),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a"
    );
}

#[test]
fn kubectl_does_not_conflict_with_its_client_side_apply() {
    let last = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}).to_string();
    let mut live = object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"uid": "u",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": last}},
        "data": {"a": "1", "b": "1"}}),
    );
    let entry = json!({"apiVersion": "v1", "fieldsType": "FieldsV1", "operation": "Update",
        "manager": "kubectl-client-side-apply", "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}}});
    child(&mut live, "metadata").insert("managedFields".to_owned(), json!([entry]));
    let desired =
        |b: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2", "b": b}});
    let refused = apply(&live, "kubectl", false, desired("2")).unwrap_err();
    assert_eq!(
        refused.message(),
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.b"
    );
    let applied = apply(&live, "kubectl", false, desired("1")).unwrap();
    assert_eq!(applied["data"], json!({"a": "2", "b": "1"}));
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    assert_eq!(
        applied["metadata"]["annotations"][annotation],
        format!("{}\n", desired("1"))
    );
    assert!(apply(&live, "other", false, desired("1")).is_err());
}

#[test]
fn custom_resources_are_owned_by_their_schema() {
    let kind = widgets();
    let apply = |live: &Object, manager: &str, desired: Value| {
        apply_as(&kind, live, manager, false, json!({"spec": desired}))
    };
    let first = apply(
        &Object::new(),
        "a",
        json!({"list": [{"name": "x", "x": 1}], "set": ["s"], "plain": ["p"], "map": {"k": "v"}}),
    )
    .unwrap();
    assert_eq!(
        fields(&first, "a"),
        json!({"f:spec": {
            "f:list": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}, "f:x": {}}},
            "f:set": {"v:\"s\"": {}}, "f:plain": {}, "f:map": {"f:k": {}}}})
    );
    let second = apply(
        &first,
        "b",
        json!({"list": [{"name": "y"}], "set": ["t"], "map": {"l": "w"}}),
    )
    .unwrap();
    assert_eq!(
        second["spec"],
        json!({"list": [{"name": "x", "x": 1}, {"name": "y"}], "set": ["s", "t"],
               "plain": ["p"], "map": {"k": "v", "l": "w"}})
    );
    let refused = apply(&second, "b", json!({"plain": ["q"]})).unwrap_err();
    assert!(
        refused
            .message()
            .ends_with("conflict with \"a\": .spec.plain")
    );
    let third = apply(&second, "a", json!({"list": [{"name": "x"}]})).unwrap();
    assert_eq!(
        third["spec"],
        json!({"list": [{"name": "x"}, {"name": "y"}], "set": ["t"], "map": {"l": "w"}})
    );
}

#[test]
fn keys_of_items_must_be_unique() {
    let kind = widgets();
    let desired = json!({"metadata": {"name": "w", "namespace": "d"},
        "spec": {"list": [{"name": "x"}, {"name": "x"}]}});
    let refused = apply_as(&kind, &Object::new(), "a", false, desired).unwrap_err();
    assert_eq!(
        refused.message(),
        "failed to create typed patch object (d/w; x/v1, Kind=Widget): .spec.list: duplicate entries for key [name=\"x\"]"
    );
    assert_eq!(refused.code(), 500);
}
