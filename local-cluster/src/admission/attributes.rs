//! The attributes of a request, by which webhooks are selected and which reviews contain.

use serde_json::json;

use crate::object::{Object, object};
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Part, Propagation, WriteOptions};

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
    use serde_json::Value;

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
