//! Records changes and errors under the name of the object that is being converted.

use super::change::{Change, ConversionError, quoted};
use crate::api::earlier_fields::RewrittenField;
use serde_json::{Map, Value};

#[derive(Debug)]
pub(super) struct Editor {
    /// Such as `old.yaml: document 2`.
    document: String,
    /// The position in a `List`, or nothing.
    item: String,
    /// Such as `old.yaml: document 2: BackendGroup shop/web`.
    object: String,
    pub(super) changes: Vec<Change>,
    pub(super) errors: Vec<ConversionError>,
}

impl Editor {
    pub(super) fn new(document: &str) -> Self {
        Self {
            document: document.to_owned(),
            item: String::new(),
            object: document.to_owned(),
            changes: Vec::new(),
            errors: Vec::new(),
        }
    }

    pub(super) fn enter_item(&mut self, index: usize) {
        self.item = format!(", items[{index}]");
    }

    pub(super) fn leave_items(&mut self) {
        self.item = String::new();
        self.object = self.document.clone();
    }

    /// Attributes the changes that follow to this object, by its kind, namespace and name.
    pub(super) fn enter_object(&mut self, object: &Value) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        self.object = format!("{}{}", self.document, self.item);
        let Some(kind) = text("/kind") else {
            return;
        };
        self.object.push_str(": ");
        self.object.push_str(kind);
        let name = text("/metadata/name").or_else(|| text("/metadata/generateName"));
        if let Some(name) = name {
            self.object.push(' ');
            if let Some(namespace) = text("/metadata/namespace") {
                self.object.push_str(namespace);
                self.object.push('/');
            }
            self.object.push_str(name);
        }
    }

    /// Records what was rewritten in the object at `at`.
    pub(super) fn rewritten(&mut self, at: &str, fields: impl IntoIterator<Item = RewrittenField>) {
        for RewrittenField { field, old, new } in fields {
            let new = new.map(|(field, value)| (format!("{at}.{field}"), value));
            self.record(format!("{at}.{field}"), Some(old), new);
        }
    }

    /// Replaces a value where it is.
    pub(super) fn replace(&mut self, field: &str, value: &mut Value, new: Value) {
        let old = std::mem::replace(value, new.clone());
        self.record(field.to_owned(), Some(old), Some((field.to_owned(), new)));
    }

    pub(super) fn record(
        &mut self,
        field: String,
        old: Option<Value>,
        new: Option<(String, Value)>,
    ) {
        self.changes.push(Change {
            object: self.object.clone(),
            field,
            old,
            new,
        });
    }

    /// A value that is not allowed.
    pub(super) fn invalid(&mut self, field: &str, value: &Value, allowed: &str) {
        self.problem(format!("{field}: {}: {allowed}", quoted(value)));
    }

    /// A problem without a value to quote, such as a missing field.
    pub(super) fn problem(&mut self, problem: String) {
        self.errors.push(ConversionError {
            object: self.object.clone(),
            problem,
        });
    }

    /// The object in this field, if there is one. Null is as good as absent; another type is an error.
    pub(super) fn object_at<'v>(
        &mut self,
        parent: &'v mut Map<String, Value>,
        at: &str,
        name: &str,
    ) -> Option<&'v mut Map<String, Value>> {
        match parent.get_mut(name) {
            None | Some(Value::Null) => None,
            Some(Value::Object(object)) => Some(object),
            Some(other) => {
                self.invalid(&format!("{at}.{name}"), other, "must be an object");
                None
            }
        }
    }

    /// The items of the list in this field. Null is as good as absent; another type is an error.
    pub(super) fn list_at<'v>(
        &mut self,
        parent: &'v mut Map<String, Value>,
        at: &str,
        name: &str,
    ) -> &'v mut [Value] {
        match parent.get_mut(name) {
            Some(Value::Array(list)) => list,
            None | Some(Value::Null) => &mut [],
            Some(other) => {
                self.invalid(&format!("{at}.{name}"), other, "must be a list");
                &mut []
            }
        }
    }
}
