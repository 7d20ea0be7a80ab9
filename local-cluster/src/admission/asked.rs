//! What is asked of the API, as webhooks choose by it and are told of it.

use serde_json::{Value, json};

use crate::object::Object;
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Part, Propagation, WriteOptions};

/// What a request does to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    /// The operation as rules and reviews name it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// The kind of the options that come with it.
    pub(super) fn options_kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Delete => "DeleteOptions",
        }
    }
}

/// The options of a request to write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Options<'a> {
    Write(&'a WriteOptions<'a>),
    Delete(&'a DeleteOptions),
}

/// A request to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) part: Part,
    pub(crate) operation: Operation,
    /// Empty for what is in none.
    pub(crate) namespace: &'a str,
    /// Empty where the server chooses the name, and where many are deleted at once.
    pub(crate) name: &'a str,
    pub(crate) options: Options<'a>,
}

impl Asked<'_> {
    /// Whether webhooks have no say: a bad configuration must not defend itself.
    pub(super) fn is_exempt(&self) -> bool {
        // A scale is another kind of object than what it is about, which is what they would be shown.
        self.kind.group == "admissionregistration.k8s.io" || self.part == Part::Scale
    }

    /// Whether it is about a namespace itself.
    pub(super) fn is_namespace(&self) -> bool {
        self.kind.is("", "namespaces")
    }

    /// The namespace that reviews name: a namespace counts as being in itself.
    pub(super) fn reviewed_namespace(&self) -> &str {
        if self.is_namespace() {
            self.name
        } else {
            self.namespace
        }
    }

    /// The part of the object as rules and reviews name it; empty for the object as a whole.
    pub(super) fn subresource(&self) -> &'static str {
        self.part.subresource()
    }
}

impl Options<'_> {
    /// Whether nothing is to be stored.
    pub(super) fn dry_run(self) -> bool {
        match self {
            Self::Write(options) => options.dry_run,
            Self::Delete(options) => options.dry_run,
        }
    }

    /// The options as the client gave them.
    pub(super) fn given(self) -> Object {
        let mut given = Object::new();
        if self.dry_run() {
            given.insert("dryRun".to_owned(), json!(["All"]));
        }
        let more = match self {
            Self::Write(options) => vec![
                ("fieldManager", options.field_manager.map(Value::from)),
                ("fieldValidation", options.field_validation.map(Value::from)),
            ],
            Self::Delete(options) => vec![
                ("gracePeriodSeconds", options.grace_seconds.map(Value::from)),
                (
                    "propagationPolicy",
                    options.propagation.map(|propagation| match propagation {
                        Propagation::Background => Value::from("Background"),
                        Propagation::Foreground => Value::from("Foreground"),
                        Propagation::Orphan => Value::from("Orphan"),
                    }),
                ),
                ("preconditions", preconditions(options)),
            ],
        };
        for (key, value) in more {
            if let Some(value) = value {
                given.insert(key.to_owned(), value);
            }
        }
        given
    }
}

fn preconditions(options: &DeleteOptions) -> Option<Value> {
    let mut preconditions = Object::new();
    for (key, value) in [
        ("uid", &options.uid),
        ("resourceVersion", &options.resource_version),
    ] {
        if let Some(value) = value {
            preconditions.insert(key.to_owned(), Value::from(value.as_str()));
        }
    }
    (!preconditions.is_empty()).then_some(Value::Object(preconditions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_show_what_was_given_and_no_more() {
        let nothing = DeleteOptions::default();
        assert!(Options::Delete(&nothing).given().is_empty());
        let delete = DeleteOptions {
            grace_seconds: Some(5),
            propagation: Some(Propagation::Foreground),
            uid: Some("u".to_owned()),
            resource_version: None,
            dry_run: true,
        };
        let wanted = json!({
            "gracePeriodSeconds": 5, "propagationPolicy": "Foreground", "dryRun": ["All"],
            "preconditions": {"uid": "u"},
        });
        assert_eq!(Value::Object(Options::Delete(&delete).given()), wanted);
        let write = WriteOptions {
            field_manager: Some("m"),
            field_validation: Some("Strict"),
            ..WriteOptions::default()
        };
        let wanted = json!({"fieldManager": "m", "fieldValidation": "Strict"});
        assert_eq!(Value::Object(Options::Write(&write).given()), wanted);
    }
}
