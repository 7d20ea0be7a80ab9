//! The request half of an `AdmissionReview`.

use serde_json::{Value, json};

use super::asked::Asked;
use crate::object::{self, Object};
use crate::resources::Kind;

/// What a webhook is shown, in the version it wants.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) version: &'a Kind,
    /// The object as it is to be.
    pub(super) object: Option<Object>,
    /// The object as it was.
    pub(super) before: Option<Object>,
}

/// The review that asks a webhook, under this uid.
pub(super) fn question(uid: &str, asked: &Asked<'_>, shown: Shown<'_>) -> Value {
    let subresource = asked.subresource();
    // A name that the server chose is known only after it has chosen.
    let name = match (asked.name, &shown.object) {
        ("", Some(object)) => object::name(object).to_owned(),
        (name, _) => name.to_owned(),
    };
    let mut options = asked.options.given();
    options.insert("kind".to_owned(), asked.operation.options_kind().into());
    options.insert("apiVersion".to_owned(), "meta.k8s.io/v1".into());
    let mut request = json!({
        "uid": uid,
        "kind": kind(shown.version),
        "resource": resource(shown.version),
        "requestKind": kind(asked.kind),
        "requestResource": resource(asked.kind),
        "operation": asked.operation.word(),
        "userInfo": user(),
        "dryRun": asked.options.dry_run(),
        "options": options,
    });
    request["object"] = shown.object.map_or(Value::Null, Value::Object);
    request["oldObject"] = shown.before.map_or(Value::Null, Value::Object);
    for (key, value) in [
        ("subResource", subresource),
        ("requestSubResource", subresource),
        ("name", &name),
        ("namespace", asked.reviewed_namespace()),
    ] {
        if !value.is_empty() {
            request[key] = Value::from(value);
        }
    }
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
}

/// Nobody is asked who they are here, so everybody is the one who may do all.
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
    fn a_review_says_who_asks_for_what() {
        let registry = Registry::new();
        let old = registry.builtin("", "events").unwrap();
        let new = registry.builtin("events.k8s.io", "events").unwrap();
        let options = WriteOptions {
            dry_run: true,
            field_manager: Some("m"),
            ..WriteOptions::default()
        };
        let asked = Asked {
            kind: &old,
            part: Part::Main,
            operation: Operation::Create,
            namespace: "d",
            name: "",
            options: Options::Write(&options),
        };
        let shown = Shown {
            version: &new,
            object: Some(object(json!({"metadata": {"name": "chosen"}}))),
            before: None,
        };
        let wanted = json!({
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
        assert_eq!(question("u", &asked, shown), wanted);
    }

    #[test]
    fn parts_and_namespaces_are_named() {
        let namespaces = Registry::new().builtin("", "namespaces").unwrap();
        let options = WriteOptions::default();
        let asked = Asked {
            kind: &namespaces,
            part: Part::Status,
            operation: Operation::Update,
            namespace: "",
            name: "room",
            options: Options::Write(&options),
        };
        let shown = Shown {
            version: &namespaces,
            object: None,
            before: Some(Object::new()),
        };
        let review = question("u", &asked, shown);
        let request = &review["request"];
        for (key, value) in [
            ("subResource", json!("status")),
            ("requestSubResource", json!("status")),
            ("name", json!("room")),
            ("namespace", json!("room")),
            ("object", Value::Null),
            ("oldObject", json!({})),
        ] {
            assert_eq!(request[key], value, "{key}");
        }
        assert_eq!(request["options"]["kind"], "UpdateOptions");
    }
}
