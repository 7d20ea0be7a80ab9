//! Validation of values against schemas.
//!
//! One walk over value and schema. The order of checks and the match count are those of Kubernetes'
//! validator: if all alternatives of `anyOf` or `oneOf` fail, it reports the one that matched most.

mod scalar;

use std::collections::HashSet;

use serde_json::{Map, Value};

use self::scalar::{Place, ValidatorResult};
use super::correlate::CorrelatedValue;
use super::message::{FieldPath, quoted, shown};
use super::node::{AdditionalProperties, CountLimits, Node};
use crate::field_error::{ErrorType, FieldError};

/// Errors of a value; those of unchanged values are dropped if it is correlated.
pub(super) fn validate(
    node: &Node,
    value: &Value,
    correlated: Option<&CorrelatedValue<'_>>,
    base: &str,
) -> Vec<FieldError> {
    let path = &FieldPath::root(base);
    let mut errors = ValidatorResult::default();
    walk(Place { node, path }, value, correlated, &mut errors);
    let mut seen = HashSet::new();
    errors
        .list
        .into_iter()
        .filter(|error| seen.insert((error.field.clone(), error.message.clone())))
        .collect()
}

type Correlated<'a> = Option<&'a CorrelatedValue<'a>>;

/// Validates a value; drops errors if it is unchanged.
fn walk(at: Place<'_>, value: &Value, correlated: Correlated<'_>, found: &mut ValidatorResult) {
    let before = found.list.len();
    check(at, value, correlated, found);
    if found.list.len() > before && correlated.is_some_and(CorrelatedValue::is_unchanged) {
        found.list.truncate(before);
    }
}

fn check(at: Place<'_>, value: &Value, correlated: Correlated<'_>, found: &mut ValidatorResult) {
    let node = at.node;
    if value.is_null() {
        found.match_count += usize::from(scalar::check_type(at, value, found));
        scalar::check_enum(at, value, found);
        return;
    }
    if !node.types.is_empty() || node.format.is_some() {
        found.match_count += usize::from(scalar::check_type(at, value, found)) + 1;
    }
    check_junctors(at, value, correlated, found);
    found.match_count += 1;
    match value {
        Value::String(text) => {
            scalar::check_text(at, text, found);
            found.match_count += 1;
            if let (Some(format), Some(name)) = (node.text.format, &node.format) {
                if !format.fits(text) {
                    let shown = quoted(text);
                    let what = format!("must be of type {name}: {shown}");
                    found.add_in_body(ErrorType::WrongType, at, &shown, &what);
                }
                found.match_count += 1;
            }
        }
        Value::Number(number) => {
            scalar::check_number(at, number, found);
            found.match_count += 2;
        }
        Value::Array(items) => {
            check_items(at, items, correlated, found);
            found.match_count += 2;
        }
        _ => {}
    }
    scalar::check_enum(at, value, found);
    found.match_count += 1;
    if let Value::Object(map) = value {
        check_object(at, map, correlated, found);
        found.match_count += 1;
    }
    found.match_count += 1;
}

fn check_items(
    at: Place<'_>,
    items: &[Value],
    correlated: Correlated<'_>,
    found: &mut ValidatorResult,
) {
    if let Some(node) = &at.node.items {
        let correlated = correlated.and_then(CorrelatedValue::items);
        for (index, item) in items.iter().enumerate() {
            let path = &at.path.index(index);
            let correlated = correlated.as_ref().and_then(|items| items.get(index));
            walk(Place { node, path }, item, correlated.as_ref(), found);
        }
    }
    check_count(at, at.node.item_count, items.len(), "items", found);
    let mut seen = HashSet::new();
    if at.node.unique_items && !items.iter().all(|item| seen.insert(item.to_string())) {
        let what = "shouldn't contain duplicates";
        found.add_in_body(ErrorType::Invalid, at, "\"\"", what);
    }
}

fn check_count(
    at: Place<'_>,
    limits: CountLimits,
    count: usize,
    what: &str,
    found: &mut ValidatorResult,
) {
    let (count, shown) = (i64::try_from(count).unwrap_or(i64::MAX), count.to_string());
    if let Some(least) = limits.least.filter(|least| count < *least) {
        let what = format!("should have at least {least} {what}");
        found.add_in_body(ErrorType::Invalid, at, &shown, &what);
    }
    if let Some(most) = limits.most.filter(|most| count > *most) {
        let items = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {items}");
        found.add(ErrorType::TooMany.at(at.path.as_field(), Some(&shown), &detail));
    }
}

fn check_object(
    at: Place<'_>,
    map: &Map<String, Value>,
    correlated: Correlated<'_>,
    found: &mut ValidatorResult,
) {
    let Place { node, path } = at;
    check_count(at, node.property_count, map.len(), "properties", found);
    // `apiVersion` and `kind` of the root never correlate.
    let correlated_field = |key: &str| {
        let typed = path.is_root() && matches!(key, "apiVersion" | "kind");
        correlated.filter(|_| !typed)?.field(key)
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
        AdditionalProperties::Schema(node) => {
            for (key, inner) in others() {
                let path = &path.key(key);
                walk(
                    Place { node, path },
                    inner,
                    correlated_field(key).as_ref(),
                    found,
                );
            }
        }
        AdditionalProperties::Unspecified | AdditionalProperties::Allowed(true) => {}
    }
    for (key, node) in &node.properties {
        if let Some(inner) = map.get(key) {
            let path = &path.field(key);
            walk(
                Place { node, path },
                inner,
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
    at: Place<'_>,
    value: &Value,
    correlated: Correlated<'_>,
    found: &mut ValidatorResult,
) {
    let against = |node: &Node| {
        let (mut found, path) = (ValidatorResult::default(), at.path);
        check(Place { node, path }, value, correlated, &mut found);
        found
    };
    let Place { node, path } = at;
    if !node.any_of.is_empty() {
        check_any(path, node.any_of.iter().map(against), found);
    }
    if !node.one_of.is_empty() {
        check_one(path, node.one_of.iter().map(against), found);
    }
    if !node.all_of.is_empty() {
        check_all(path, node.all_of.iter().map(against), found);
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

/// The results of the branches of a junctor, each computed when it is needed.
trait Branches: Iterator<Item = ValidatorResult> {}

impl<I: Iterator<Item = ValidatorResult>> Branches for I {}

fn check_all(path: &FieldPath<'_>, branches: impl Branches, found: &mut ValidatorResult) {
    let (mut fitting, mut all) = (0, 0);
    for result in branches {
        fitting += usize::from(result.is_empty());
        all += 1;
        found.merge(result);
    }
    if fitting < all {
        let none = if fitting == 0 { ". None validated" } else { "" };
        let what = format!("must validate all the schemas (allOf){none}");
        report(path, &what, found);
    }
}

fn check_any(path: &FieldPath<'_>, branches: impl Branches, found: &mut ValidatorResult) {
    let mut best: Option<ValidatorResult> = None;
    for result in branches {
        if result.is_empty() {
            found.merge(result);
            return;
        }
        keep_better(&mut best, result);
    }
    report(path, "must validate at least one schema (anyOf)", found);
    found.merge(best.unwrap_or_default());
}

fn check_one(path: &FieldPath<'_>, branches: impl Branches, found: &mut ValidatorResult) {
    let mut best: Option<ValidatorResult> = None;
    let mut first: Option<ValidatorResult> = None;
    let mut fitting = 0;
    for result in branches {
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
    let how_many = match fitting {
        0 => "Found none valid".to_owned(),
        _ => format!("Found {fitting} valid alternatives"),
    };
    let what = format!("must validate one and only one schema (oneOf). {how_many}");
    report(path, &what, found);
    found.merge(best.unwrap_or_default());
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
