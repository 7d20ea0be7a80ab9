//! The request half of an `AdmissionReview`.

use serde_json::{Value, json};

use super::attributes::Attributes;
use crate::object::{self, Object};
use crate::resources::Kind;

/// The objects of a review, as the kind that the webhook's rules match.
#[derive(Debug)]
pub(super) struct ReviewedObjects<'a> {
    pub(super) kind: &'a Kind,
    pub(super) object: Option<Object>,
    pub(super) before: Option<Object>,
}

pub(super) fn admission_review(
    uid: &str,
    attributes: &Attributes<'_>,
    objects: ReviewedObjects<'_>,
) -> Value {
    let subresource = attributes.subresource();
    // A generated name is known to validating webhooks only.
    let name = match (attributes.name, &objects.object) {
        ("", Some(object)) => object::name(object).to_owned(),
        (name, _) => name.to_owned(),
    };
    let mut options = attributes.options.to_object();
    options.insert(
        "kind".to_owned(),
        attributes.operation.options_kind().into(),
    );
    options.insert("apiVersion".to_owned(), "meta.k8s.io/v1".into());
    let mut request = json!({
        "uid": uid,
        "kind": kind(objects.kind),
        "resource": resource(objects.kind),
        "requestKind": kind(attributes.kind),
        "requestResource": resource(attributes.kind),
        "operation": attributes.operation.as_str(),
        "userInfo": user(),
        "dryRun": attributes.options.dry_run(),
        "options": options,
    });
    request["object"] = objects.object.map_or(Value::Null, Value::Object);
    request["oldObject"] = objects.before.map_or(Value::Null, Value::Object);
    for (key, value) in [
        ("subResource", subresource),
        ("requestSubResource", subresource),
        ("name", &name),
        ("namespace", attributes.reviewed_namespace()),
    ] {
        if !value.is_empty() {
            request[key] = Value::from(value);
        }
    }
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
}

/// There is no authentication by user: every client is the administrator.
fn user() -> Value {
    json!({
        "username": "system:admin",
        "groups": ["system:masters", "system:authenticated"],
    })
}

fn kind(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

fn resource(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "resource": kind.plural})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::{Operation, Options};
    use crate::object::object;
    use crate::resources::Registry;
    use crate::rules::{Part, WriteOptions};

    #[test]
    fn a_review_describes_the_request() {
        let registry = Registry::new();
        let old = registry.builtin("", "events").unwrap();
        let new = registry.builtin("events.k8s.io", "events").unwrap();
        let options = WriteOptions {
            dry_run: true,
            field_manager: Some("m"),
            ..WriteOptions::default()
        };
        let attributes = Attributes {
            kind: &old,
            part: Part::Main,
            operation: Operation::Create,
            namespace: "d",
            name: "",
            options: Options::Write(&options),
        };
        let objects = ReviewedObjects {
            kind: &new,
            object: Some(object(json!({"metadata": {"name": "chosen"}}))),
            before: None,
        };
        let expected = json!({
            "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "request": {
                "uid": "u",
                "kind": {"group": "events.k8s.io", "version": "v1", "kind": "Event"},
                "resource": {"group": "events.k8s.io", "version": "v1", "resource": "events"},
                "requestKind": {"group": "", "version": "v1", "kind": "Event"},
                "requestResource": {"group": "", "version": "v1", "resource": "events"},
                "name": "chosen", "namespace": "d", "operation": "CREATE",
                "userInfo": {"username": "system:admin", "groups": ["system:masters", "system:authenticated"]},
                "object": {"metadata": {"name": "chosen"}}, "oldObject": null, "dryRun": true,
                "options": {
                    "kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1",
                    "fieldManager": "m", "dryRun": ["All"],
                },
            },
        });
        assert_eq!(admission_review("u", &attributes, objects), expected);
    }

    #[test]
    fn subresources_and_namespaces_are_named() {
        let namespaces = Registry::new().builtin("", "namespaces").unwrap();
        let options = WriteOptions::default();
        let attributes = Attributes {
            kind: &namespaces,
            part: Part::Status,
            operation: Operation::Update,
            namespace: "",
            name: "team",
            options: Options::Write(&options),
        };
        let objects = ReviewedObjects {
            kind: &namespaces,
            object: None,
            before: Some(Object::new()),
        };
        let review = admission_review("u", &attributes, objects);
        let request = &review["request"];
        for (key, value) in [
            ("subResource", json!("status")),
            ("requestSubResource", json!("status")),
            ("name", json!("team")),
            ("namespace", json!("team")),
            ("object", Value::Null),
            ("oldObject", json!({})),
        ] {
            assert_eq!(request[key], value, "{key}");
        }
        assert_eq!(request["options"]["kind"], "UpdateOptions");
    }
}
