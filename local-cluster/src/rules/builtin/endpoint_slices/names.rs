//! The names in EndpointSlices, with all messages that Kubernetes has for each.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::names::{self, LABEL, LABEL_KEY, LABEL_VALUE, MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN};

/// The message for a name with more than one slash.
const QUALIFIED_NAME: &str = "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";

pub(super) fn label_errors(field: &str, name: &str) -> Vec<FieldError> {
    invalid(field, name, &label_messages(name))
}

pub(super) fn subdomain_errors(field: &str, name: &str) -> Vec<FieldError> {
    invalid(field, name, &subdomain_messages(name))
}

/// The value of a label may be empty.
pub(super) fn label_value_errors(field: &str, value: &str) -> Vec<FieldError> {
    let has_form = |text: &str| text.is_empty() || names::is_qualified_part_of_any_length(text);
    let found = messages(value, MAX_LABEL, has_form, LABEL_VALUE);
    invalid(field, value, &found)
}

/// A name with an optional DNS subdomain before a slash, such as an `appProtocol`.
pub(super) fn qualified_name_errors(field: &str, value: &str) -> Vec<FieldError> {
    let (prefix, name) = match value.split_once('/') {
        Some((_, name)) if name.contains('/') => {
            return invalid(field, value, &[QUALIFIED_NAME.to_owned()]);
        }
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, value),
    };
    let mut found = match prefix {
        None => Vec::new(),
        Some("") => vec!["prefix part must be non-empty".to_owned()],
        Some(prefix) => {
            let messages = subdomain_messages(prefix).into_iter();
            messages.map(|why| format!("prefix part {why}")).collect()
        }
    };
    if name.is_empty() {
        found.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_LABEL {
        found.push(format!("name part {}", too_long(MAX_LABEL)));
    }
    if !names::is_qualified_part_of_any_length(name) {
        found.push(LABEL_KEY.to_owned());
    }
    invalid(field, value, &found)
}

pub(super) fn label_messages(name: &str) -> Vec<String> {
    messages(name, MAX_LABEL, names::is_label_of_any_length, LABEL)
}

pub(super) fn subdomain_messages(name: &str) -> Vec<String> {
    let has_form = names::is_subdomain_of_any_length;
    messages(name, MAX_SUBDOMAIN, has_form, SUBDOMAIN)
}

/// Kubernetes reports the length and the form of a name separately.
fn messages(
    text: &str,
    longest: usize,
    has_form: impl Fn(&str) -> bool,
    form: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > longest {
        found.push(too_long(longest));
    }
    if !has_form(text) {
        found.push(form.to_owned());
    }
    found
}

fn too_long(longest: usize) -> String {
    format!("must be no more than {longest} characters")
}

fn invalid(field: &str, value: &str, messages: &[String]) -> Vec<FieldError> {
    let value = Value::from(value);
    let error = |why: &String| FieldError::invalid(field, &value, why);
    messages.iter().map(error).collect()
}
