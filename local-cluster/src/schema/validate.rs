//! Validation of values against schemas.
//!
//! One walk over value and schema. The order of checks and the match count are those of Kubernetes'
//! validator: if all alternatives of `anyOf` or `oneOf` fail, it reports the one that matched most.

mod number;
mod result;
mod scalar;

use std::collections::HashSet;

use serde_json::{Map, Value};

use self::result::ValidatorResult;
use super::correlate::CorrelatedValue;
use super::message::{ErrorType, quoted, shown};
use super::node::{AdditionalProperties, Node};
use super::path::FieldPath;
use crate::field_error::FieldError;

/// Errors of a value; those of unchanged values are dropped if it is correlated.
pub(super) fn validate(
    node: &Node,
    value: &Value,
    correlated: Option<&CorrelatedValue<'_>>,
    base: &str,
) -> Vec<FieldError> {
    let path = FieldPath::root(base);
    let mut errors = ValidatorResult::default();
    walk(node, value, &path, correlated, &mut errors);
    let mut seen = HashSet::new();
    errors
        .list
        .into_iter()
        .filter(|error| seen.insert((error.field.clone(), error.message.clone())))
        .collect()
}

/// Validates a value; drops errors if it is unchanged.
fn walk(
    node: &Node,
    value: &Value,
    path: &FieldPath<'_>,
    correlated: Option<&CorrelatedValue<'_>>,
    found: &mut ValidatorResult,
) {
    let before = found.list.len();
    check(node, value, path, correlated, found);
    if found.list.len() > before && correlated.is_some_and(CorrelatedValue::is_unchanged) {
        found.list.truncate(before);
    }
}

fn check(
    node: &Node,
    value: &Value,
    path: &FieldPath<'_>,
    correlated: Option<&CorrelatedValue<'_>>,
    found: &mut ValidatorResult,
) {
    if value.is_null() {
        found.match_count += usize::from(scalar::check_type(node, value, path, found));
        scalar::check_enum(node, value, path, found);
        return;
    }
    if !node.types.is_empty() || node.format.is_some() {
        found.match_count += usize::from(scalar::check_type(node, value, path, found)) + 1;
    }
    check_junctors(node, value, path, correlated, found);
    found.match_count += 1;
    match value {
        Value::String(text) => {
            scalar::check_text(node, text, path, found);
            found.match_count += 1;
            if let (Some(format), Some(name)) = (node.text.format, &node.format) {
                if !format.fits(text) {
                    let detail = format!(
                        "{} in body must be of type {name}: {}",
                        path.dotted(),
                        quoted(text)
                    );
                    found.add(ErrorType::WrongType.at(
                        path.as_field(),
                        Some(&quoted(text)),
                        &detail,
                    ));
                }
                found.match_count += 1;
            }
        }
        Value::Number(number) => {
            number::check_number(node, number, path, found);
            found.match_count += 2;
        }
        Value::Array(items) => {
            check_items(node, items, path, correlated, found);
            found.match_count += 2;
        }
        _ => {}
    }
    scalar::check_enum(node, value, path, found);
    found.match_count += 1;
    if let Value::Object(map) = value {
        check_object(node, map, path, correlated, found);
        found.match_count += 1;
    }
    found.match_count += 1;
}

fn check_items(
    node: &Node,
    items: &[Value],
    path: &FieldPath<'_>,
    correlated: Option<&CorrelatedValue<'_>>,
    found: &mut ValidatorResult,
) {
    if let Some(item_node) = &node.items {
        let correlated_items = correlated.and_then(CorrelatedValue::items);
        for (index, item) in items.iter().enumerate() {
            let correlated = correlated_items
                .as_ref()
                .and_then(|correlated_items| correlated_items.get(index));
            walk(
                item_node,
                item,
                &path.index(index),
                correlated.as_ref(),
                found,
            );
        }
    }
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.item_count.least.filter(|least| count < *least) {
        let detail = format!(
            "{} in body should have at least {least} items",
            path.dotted()
        );
        found.add(ErrorType::Invalid.at(path.as_field(), Some(&count.to_string()), &detail));
    }
    too_many(node.item_count.most, count, path, found);
    let mut seen = HashSet::new();
    if node.unique_items && !items.iter().all(|item| seen.insert(item.to_string())) {
        let detail = format!("{} in body shouldn't contain duplicates", path.dotted());
        found.add(ErrorType::Invalid.at(path.as_field(), Some("\"\""), &detail));
    }
}

fn too_many(most: Option<i64>, count: i64, path: &FieldPath<'_>, found: &mut ValidatorResult) {
    if let Some(most) = most.filter(|most| count > *most) {
        let items = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {items}");
        found.add(ErrorType::TooMany.at(path.as_field(), Some(&count.to_string()), &detail));
    }
}

fn check_object(
    node: &Node,
    map: &Map<String, Value>,
    path: &FieldPath<'_>,
    correlated: Option<&CorrelatedValue<'_>>,
    found: &mut ValidatorResult,
) {
    let count = i64::try_from(map.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.property_count.least.filter(|least| count < *least) {
        let detail = format!(
            "{} in body should have at least {least} properties",
            path.dotted()
        );
        found.add(ErrorType::Invalid.at(path.as_field(), Some(&count.to_string()), &detail));
    }
    too_many(node.property_count.most, count, path, found);
    // `apiVersion` and `kind` of the root never correlate.
    let correlated_field = |key: &str| {
        let typed = path.is_root() && matches!(key, "apiVersion" | "kind");
        correlated
            .filter(|_| !typed)
            .and_then(|correlated| correlated.field(key))
    };
    let others = || {
        map.iter()
            .filter(|(key, _)| !node.properties.contains_key(*key))
    };
    match &node.additional {
        AdditionalProperties::Allowed(false) => {
            for (key, _) in others() {
                let detail = format!("{}.{key} in body is a forbidden property", path.dotted());
                let key = shown(&Value::from(key.as_str()));
                found.add(ErrorType::Invalid.at(path.as_field(), Some(&key), &detail));
            }
        }
        AdditionalProperties::Schema(other) => {
            for (key, inner) in others() {
                walk(
                    other,
                    inner,
                    &path.key(key),
                    correlated_field(key).as_ref(),
                    found,
                );
            }
        }
        AdditionalProperties::Unspecified | AdditionalProperties::Allowed(true) => {}
    }
    for (key, property) in &node.properties {
        if let Some(inner) = map.get(key) {
            walk(
                property,
                inner,
                &path.field(key),
                correlated_field(key).as_ref(),
                found,
            );
        }
    }
    for key in node.required.iter().filter(|key| !map.contains_key(*key)) {
        found.add(ErrorType::Required.at(path.field(key).as_field(), None, ""));
    }
}

/// Validates against `allOf`, `anyOf`, `oneOf` and `not`.
fn check_junctors(
    node: &Node,
    value: &Value,
    path: &FieldPath<'_>,
    correlated: Option<&CorrelatedValue<'_>>,
    found: &mut ValidatorResult,
) {
    let against = |node: &Node| {
        let mut found = ValidatorResult::default();
        check(node, value, path, correlated, &mut found);
        found
    };
    if !node.any_of.is_empty() {
        check_any(node, path, &against, found);
    }
    if !node.one_of.is_empty() {
        check_one(node, path, &against, found);
    }
    if !node.all_of.is_empty() {
        check_all(node, path, &against, found);
    }
    if let Some(not) = &node.not
        && against(not).is_empty()
    {
        report(path, "must not validate the schema (not)", found);
    }
    found.match_count += 1;
}

fn report(path: &FieldPath<'_>, what: &str, found: &mut ValidatorResult) {
    let detail = format!("{} {what}", quoted(&path.dotted()));
    found.add_about(path, &detail);
}

fn check_all(
    node: &Node,
    path: &FieldPath<'_>,
    against: &dyn Fn(&Node) -> ValidatorResult,
    found: &mut ValidatorResult,
) {
    let mut fitting = 0;
    for branch in &node.all_of {
        let result = against(branch);
        fitting += usize::from(result.is_empty());
        found.merge(result);
    }
    if fitting < node.all_of.len() {
        let none = if fitting == 0 { ". None validated" } else { "" };
        let what = format!("must validate all the schemas (allOf){none}");
        report(path, &what, found);
    }
}

fn check_any(
    node: &Node,
    path: &FieldPath<'_>,
    against: &dyn Fn(&Node) -> ValidatorResult,
    found: &mut ValidatorResult,
) {
    let mut best: Option<ValidatorResult> = None;
    for branch in &node.any_of {
        let result = against(branch);
        if result.is_empty() {
            found.merge(result);
            return;
        }
        keep_better(&mut best, result);
    }
    report(path, "must validate at least one schema (anyOf)", found);
    if let Some(best) = best {
        found.merge(best);
    }
}

fn check_one(
    node: &Node,
    path: &FieldPath<'_>,
    against: &dyn Fn(&Node) -> ValidatorResult,
    found: &mut ValidatorResult,
) {
    let mut best: Option<ValidatorResult> = None;
    let mut first: Option<ValidatorResult> = None;
    let mut fitting = 0;
    for branch in &node.one_of {
        let result = against(branch);
        if result.is_empty() {
            fitting += 1;
            best = None;
            first.get_or_insert(result);
        } else if fitting == 0 {
            keep_better(&mut best, result);
        }
    }
    if let (1, Some(first)) = (fitting, first) {
        return found.merge(first);
    }
    let how_many = if fitting == 0 {
        "Found none valid".to_owned()
    } else {
        format!("Found {fitting} valid alternatives")
    };
    let what = format!("must validate one and only one schema (oneOf). {how_many}");
    report(path, &what, found);
    if let Some(best) = best {
        found.merge(best);
    }
}

/// Keeps the result that matched more; of equals, the first.
fn keep_better(best: &mut Option<ValidatorResult>, result: ValidatorResult) {
    if best
        .as_ref()
        .is_none_or(|best| result.match_count > best.match_count)
    {
        *best = Some(result);
    }
}

#[cfg(test)]
mod tests;
