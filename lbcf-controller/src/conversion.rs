//! Conversion of manifests of earlier editions to today's, as `lbcf convert` does.
//!
//! The earlier editions have another API group, fields that were replaced (`lbName`, `pods.port`,
//! `portNumber`, `attributes` of a record), labels in `byLabel` instead of in its `selector`, numbers in
//! maps of strings, and shared load balancers whose names lack the prefix. [`convert`] rewrites them and
//! lists what it changed. It does no I/O.
//!
//! A manifest that needs no conversion keeps its text. One that cannot be converted is an error, because a
//! guess would register the wrong backends.

mod change;
mod document;
mod editor;
mod kind;
mod pod_selector;
mod shared_name;
mod spec;

pub use change::{Change, ConversionError, ConversionErrors};
pub use document::ManifestFile;
pub use pod_selector::{InvalidPodSelector, PodSelector};

use document::Document;
use editor::Editor;
use kind::LbcfKind;
use serde_json::Value;
use shared_name::SharedNames;

/// The result of [`convert`].
#[derive(Debug, Clone)]
pub struct Converted {
    /// All documents in their order, each after a line of `---`.
    pub yaml: String,
    /// The differences from the input.
    pub changes: Vec<Change>,
}

/// Converts manifests. Groups and Binds that select no pods at all get `pod_selector`.
///
/// The files are converted together: a group follows the new name of a shared load balancer, wherever
/// that one is. Objects of other kinds are returned as they are, and a `List` item by item.
///
/// # Errors
/// Everything that cannot be parsed or converted, in all files.
pub fn convert(
    files: &[ManifestFile],
    pod_selector: Option<&PodSelector>,
) -> Result<Converted, ConversionErrors> {
    let mut errors = Vec::new();
    let mut documents: Vec<Document<'_>> = Vec::new();
    for file in files {
        for document in Document::parse_all(file) {
            match document {
                Ok(document) => documents.push(document),
                Err(error) => errors.push(error),
            }
        }
    }
    let objects = documents.iter();
    let objects = objects.flat_map(|document| document::objects(&document.value));
    let shared_names = SharedNames::of(objects);
    let (mut yaml, mut changes) = (String::new(), Vec::new());
    for mut document in documents {
        let mut editor = Editor::new(&document.name);
        convert_document(
            &mut document.value,
            &shared_names,
            pod_selector,
            &mut editor,
        );
        yaml.push_str("---\n");
        match document.text(!editor.changes.is_empty()) {
            Ok(text) => yaml.push_str(&text),
            Err(error) => errors.push(error),
        }
        changes.append(&mut editor.changes);
        errors.append(&mut editor.errors);
    }
    if errors.is_empty() {
        Ok(Converted { yaml, changes })
    } else {
        Err(ConversionErrors(errors))
    }
}

/// The objects of a file, those of a `List` one by one, as `kubectl apply` reads them. What only the API server sets
/// in their metadata is left out.
///
/// # Errors
/// Every document that cannot be parsed.
pub fn read(file: &ManifestFile) -> Result<Vec<Value>, ConversionErrors> {
    let (mut objects, mut errors) = (Vec::new(), Vec::new());
    for document in Document::parse_all(file) {
        match document {
            Ok(mut document) => match document::list_items(&mut document.value) {
                Some(items) => objects.append(items),
                None => objects.push(document.value),
            },
            Err(error) => errors.push(error),
        }
    }
    let metadata = objects.iter_mut().filter_map(|it| it.get_mut("metadata"));
    metadata.for_each(kind::leave_out_set_by_server);
    match errors.is_empty() {
        true => Ok(objects),
        false => Err(ConversionErrors(errors)),
    }
}

fn convert_document(
    document: &mut Value,
    shared_names: &SharedNames,
    pod_selector: Option<&PodSelector>,
    editor: &mut Editor,
) {
    let Some(items) = document::list_items(document) else {
        convert_object(document, shared_names, pod_selector, editor);
        return;
    };
    for (i, item) in items.iter_mut().enumerate() {
        editor.enter_item(i);
        convert_object(item, shared_names, pod_selector, editor);
    }
    editor.leave_items();
    kind::convert_api_version(document, editor);
}

fn convert_object(
    object: &mut Value,
    shared_names: &SharedNames,
    pod_selector: Option<&PodSelector>,
    editor: &mut Editor,
) {
    editor.enter_object(object);
    let Some(kind) = kind::convert_api_version(object, editor) else {
        return;
    };
    kind::convert_metadata(object, editor);
    if kind == LbcfKind::LoadBalancer {
        shared_name::convert(object, shared_names, editor);
    }
    spec::convert(kind, object, shared_names, pod_selector, editor);
}

#[cfg(test)]
mod tests;
