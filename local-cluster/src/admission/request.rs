//! The request half of an `AdmissionReview`, and the attributes by which webhooks are selected.

use serde_json::{Value, json};

use crate::object::{self, Object, object};
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Part, Propagation, WriteOptions};

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
    let kind_of_options = attributes.operation.options_kind();
    options.insert("kind".to_owned(), kind_of_options.into());
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    /// The name in rules and reviews.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// The kind of `request.options`.
    pub(super) fn options_kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Delete => "DeleteOptions",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Options<'a> {
    Write(&'a WriteOptions<'a>),
    Delete(&'a DeleteOptions),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) part: Part,
    pub(crate) operation: Operation,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: &'a str,
    /// Empty for a generated name and in a delete collection.
    pub(crate) name: &'a str,
    pub(crate) options: Options<'a>,
}

impl Attributes<'_> {
    /// Requests for which no webhook is called. Otherwise a bad configuration could prevent its own deletion.
    pub(super) fn is_exempt(&self) -> bool {
        // Webhooks would receive the scaled object instead of the Scale.
        self.kind.group == "admissionregistration.k8s.io" || self.part == Part::Scale
    }

    pub(super) fn is_namespace(&self) -> bool {
        self.kind.is("", "namespaces")
    }

    /// The namespace in reviews; a namespace counts as being in itself.
    pub(super) fn reviewed_namespace(&self) -> &str {
        if self.is_namespace() {
            self.name
        } else {
            self.namespace
        }
    }

    /// The subresource in rules and reviews; empty for the object itself.
    pub(super) fn subresource(&self) -> &'static str {
        self.part.subresource()
    }
}

impl Options<'_> {
    pub(super) fn dry_run(self) -> bool {
        match self {
            Self::Write(options) => options.dry_run,
            Self::Delete(options) => options.dry_run,
        }
    }

    /// The options that the client set.
    pub(super) fn to_object(self) -> Object {
        let propagation = |propagation| match propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        let mut given = object(match self {
            Self::Write(options) => json!({
                "fieldManager": options.field_manager,
                "fieldValidation": options.field_validation,
            }),
            Self::Delete(options) => json!({
                "gracePeriodSeconds": options.grace_seconds,
                "propagationPolicy": options.propagation.map(propagation),
                "preconditions": preconditions(options),
            }),
        });
        if self.dry_run() {
            given.insert("dryRun".to_owned(), json!(["All"]));
        }
        given.retain(|_, value| !value.is_null());
        given
    }
}

fn preconditions(options: &DeleteOptions) -> Option<Object> {
    let mut given = object(json!({
        "uid": options.uid, "resourceVersion": options.resource_version,
    }));
    given.retain(|_, value| !value.is_null());
    (!given.is_empty()).then_some(given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::{Operation, Options};
    use crate::object::object;
    use crate::resources::Registry;
    use crate::rules::{Part, WriteOptions};
    use serde_json::Value;

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

    #[test]
    fn options_contain_what_the_client_set() {
        let nothing = DeleteOptions::default();
        assert!(Options::Delete(&nothing).to_object().is_empty());
        let delete = DeleteOptions {
            grace_seconds: Some(5),
            propagation: Some(Propagation::Foreground),
            uid: Some("u".to_owned()),
            resource_version: None,
            dry_run: true,
            collection: false,
        };
        let expected = json!({
            "gracePeriodSeconds": 5, "propagationPolicy": "Foreground", "dryRun": ["All"],
            "preconditions": {"uid": "u"},
        });
        assert_eq!(
            Value::Object(Options::Delete(&delete).to_object()),
            expected
        );
        let write = WriteOptions {
            field_manager: Some("m"),
            field_validation: Some("Strict"),
            ..WriteOptions::default()
        };
        let expected = json!({"fieldManager": "m", "fieldValidation": "Strict"});
        assert_eq!(Value::Object(Options::Write(&write).to_object()), expected);
    }
}
