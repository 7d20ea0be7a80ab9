//! Says what in a value its schema does not allow.
//!
//! One walk over value and schema. The order of the checks and what counts as a check that was
//! passed are Kubernetes' own: of alternatives that all fail, it tells about the one that passed most.

mod number;
mod one;
mod several;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::correlate::Past;
use super::node::{Additional, Node};
use super::path::Path;
use super::wording::{Fault, quoted, shown};
use crate::field_error::FieldError;

/// More complaints help nobody.
const MAX_COMPLAINTS: usize = 1000;

/// All complaints about a value; what has a `past` is not told again where nothing changed.
pub(super) fn validate(
    node: &Node,
    value: &Value,
    past: Option<&Past<'_>>,
    base: &str,
) -> Vec<FieldError> {
    let path = Path::root(base);
    let mut errors = Findings::default();
    walk(node, value, &path, past, &mut errors);
    let mut seen = HashSet::new();
    errors
        .list
        .into_iter()
        .filter(|error| seen.insert((error.field.clone(), error.message.clone())))
        .collect()
}

/// What a walk found.
#[derive(Debug, Default)]
struct Findings {
    list: Vec<FieldError>,
    /// How many checks were passed, more or less: as Kubernetes counts them.
    passed: usize,
}

impl Findings {
    fn add(&mut self, error: FieldError) {
        if self.list.len() < MAX_COMPLAINTS {
            self.list.push(error);
        }
    }

    fn merge(&mut self, other: Self) {
        self.passed += other.passed;
        let room = MAX_COMPLAINTS.saturating_sub(self.list.len());
        self.list.extend(other.list.into_iter().take(room));
    }

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A complaint about the whole value that names the place only in its words.
    fn add_about(&mut self, path: &Path<'_>, detail: &str) {
        let field = path.root_field();
        self.add(Fault::Invalid.at(field, Some("\"\""), detail));
    }
}

/// Checks a value and forgets what was wrong with it before.
fn walk(
    node: &Node,
    value: &Value,
    path: &Path<'_>,
    past: Option<&Past<'_>>,
    found: &mut Findings,
) {
    let before = found.list.len();
    check(node, value, path, past, found);
    if found.list.len() > before && past.is_some_and(Past::is_unchanged) {
        found.list.truncate(before);
    }
}

/// Checks a value.
fn check(
    node: &Node,
    value: &Value,
    path: &Path<'_>,
    past: Option<&Past<'_>>,
    found: &mut Findings,
) {
    if value.is_null() {
        found.passed += usize::from(one::check_type(node, value, path, found));
        one::check_enum(node, value, path, found);
        return;
    }
    if !node.types.is_empty() || node.format.is_some() {
        found.passed += usize::from(one::check_type(node, value, path, found)) + 1;
    }
    several::check_junctors(node, value, path, past, found);
    found.passed += 1;
    match value {
        Value::String(text) => {
            one::check_text(node, text, path, found);
            found.passed += 1;
            if let (Some(format), Some(name)) = (node.text.format, &node.format) {
                if !format.fits(text) {
                    let detail = format!(
                        "{} in body must be of type {name}: {}",
                        path.dotted(),
                        quoted(text)
                    );
                    found.add(Fault::WrongType.at(path.as_field(), Some(&quoted(text)), &detail));
                }
                found.passed += 1;
            }
        }
        Value::Number(number) => {
            number::check_number(node, number, path, found);
            found.passed += 2;
        }
        Value::Array(items) => {
            check_items(node, items, path, past, found);
            found.passed += 2;
        }
        _ => {}
    }
    one::check_enum(node, value, path, found);
    found.passed += 1;
    if let Value::Object(map) = value {
        check_object(node, map, path, past, found);
        found.passed += 1;
    }
    found.passed += 1;
}

fn check_items(
    node: &Node,
    items: &[Value],
    path: &Path<'_>,
    past: Option<&Past<'_>>,
    found: &mut Findings,
) {
    if let Some(item_node) = &node.items {
        let pasts = past.and_then(Past::items);
        for (index, item) in items.iter().enumerate() {
            let past = pasts.as_ref().and_then(|pasts| pasts.get(index));
            walk(item_node, item, &path.index(index), past.as_ref(), found);
        }
    }
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.item_count.least.filter(|least| count < *least) {
        let detail = format!(
            "{} in body should have at least {least} items",
            path.dotted()
        );
        found.add(Fault::Invalid.at(path.as_field(), Some(&count.to_string()), &detail));
    }
    too_many(node.item_count.most, count, path, found);
    let mut seen = HashSet::new();
    if node.unique_items && !items.iter().all(|item| seen.insert(item.to_string())) {
        let detail = format!("{} in body shouldn't contain duplicates", path.dotted());
        found.add(Fault::Invalid.at(path.as_field(), Some("\"\""), &detail));
    }
}

fn too_many(most: Option<i64>, count: i64, path: &Path<'_>, found: &mut Findings) {
    if let Some(most) = most.filter(|most| count > *most) {
        let items = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {items}");
        found.add(Fault::TooMany.at(path.as_field(), Some(&count.to_string()), &detail));
    }
}

fn check_object(
    node: &Node,
    map: &Map<String, Value>,
    path: &Path<'_>,
    past: Option<&Past<'_>>,
    found: &mut Findings,
) {
    let count = i64::try_from(map.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.property_count.least.filter(|least| count < *least) {
        let detail = format!(
            "{} in body should have at least {least} properties",
            path.dotted()
        );
        found.add(Fault::Invalid.at(path.as_field(), Some(&count.to_string()), &detail));
    }
    too_many(node.property_count.most, count, path, found);
    // The type of the whole object never changes visibly.
    let past_of = |key: &str| {
        let typed = path.is_root() && matches!(key, "apiVersion" | "kind");
        past.filter(|_| !typed).and_then(|past| past.field(key))
    };
    let others = || {
        map.iter()
            .filter(|(key, _)| !node.properties.contains_key(*key))
    };
    match &node.additional {
        Additional::Allowed(false) => {
            for (key, _) in others() {
                let detail = format!("{}.{key} in body is a forbidden property", path.dotted());
                let key = shown(&Value::from(key.as_str()));
                found.add(Fault::Invalid.at(path.as_field(), Some(&key), &detail));
            }
        }
        Additional::Like(other) => {
            for (key, inner) in others() {
                walk(other, inner, &path.key(key), past_of(key).as_ref(), found);
            }
        }
        Additional::Unsaid | Additional::Allowed(true) => {}
    }
    for (key, property) in &node.properties {
        if let Some(inner) = map.get(key) {
            walk(
                property,
                inner,
                &path.field(key),
                past_of(key).as_ref(),
                found,
            );
        }
    }
    for key in node.required.iter().filter(|key| !map.contains_key(*key)) {
        found.add(Fault::Required.at(path.field(key).as_field(), None, ""));
    }
}

#[cfg(test)]
mod tests;
