//! Walks an object along the paths of a table and checks the values there.

use std::collections::HashSet;

use serde_json::Value;

use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{Object, is_empty};

/// The values at a path, and what they must fulfil; the first check that fails is reported.
///
/// The path leads through fields (`spec.type`), the items of lists (`ports[*].name`) and alternatives
/// (`containers|initContainers[*]`). Behind a field with `?`, nothing is checked if that is missing.
pub(super) type Row = (&'static str, &'static [Check]);

#[derive(Clone, Copy)]
pub(super) enum Check {
    /// Neither missing nor empty.
    Required,
    /// A text for which the function is true, with the message otherwise.
    Text(fn(&str) -> bool, &'static str),
    OneOf(&'static [&'static str]),
    /// A number in this range.
    Range(i64, i64),
    /// A list with this many items at the most.
    Most(usize),
    /// Not the value of another item of the list.
    Unique,
    /// As `Unique`; a missing text counts as an empty one.
    UniqueText,
    /// A value with these rows.
    All(&'static [Row]),
}

/// A value at the path of a row.
struct Match<'a> {
    place: String,
    value: Found<'a>,
    /// The innermost list around it.
    list: usize,
}

#[derive(Clone, Copy)]
enum Found<'a> {
    Root(&'a Object),
    /// `None` if its parent lacks it.
    Value(Option<&'a Value>),
}

impl<'a> Found<'a> {
    fn field(self, name: &str) -> Option<&'a Value> {
        let value = match self {
            Self::Root(object) => object.get(name),
            Self::Value(value) => value?.get(name),
        };
        value.filter(|value| !value.is_null())
    }
}

pub(super) fn errors(rows: &[Row], object: &Object) -> Vec<FieldError> {
    let root = Match {
        place: String::new(),
        value: Found::Root(object),
        list: 0,
    };
    let mut found = Vec::new();
    check_rows(rows, &[root], &mut found);
    found
}

fn check_rows(rows: &[Row], parents: &[Match<'_>], found: &mut Vec<FieldError>) {
    for (path, checks) in rows {
        let matches = select(path, parents);
        let mut seen = HashSet::new();
        for one in &matches {
            let mut failing = checks.iter().map(|check| check.errors(one, &mut seen));
            let first = failing.find(|errors| !errors.is_empty());
            found.extend(first.unwrap_or_default());
        }
        for check in *checks {
            if let Check::All(rows) = check {
                check_rows(rows, &matches, found);
            }
        }
    }
}

fn select<'a>(path: &str, parents: &[Match<'a>]) -> Vec<Match<'a>> {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let mut found = Vec::new();
    for (number, parent) in parents.iter().enumerate() {
        for name in step.trim_end_matches("[*]").split('|') {
            let field = name.trim_end_matches('?');
            let value = parent.value.field(field);
            let place = match parent.place.as_str() {
                "" => field.to_owned(),
                outer => format!("{outer}.{field}"),
            };
            if step.ends_with("[*]") {
                let items = value.and_then(Value::as_array).into_iter().flatten();
                found.extend(items.enumerate().map(|(index, item)| Match {
                    place: format!("{place}[{index}]"),
                    value: Found::Value(Some(item)),
                    list: number,
                }));
            } else if value.is_some() || !name.ends_with('?') {
                found.push(Match {
                    place,
                    value: Found::Value(value),
                    list: parent.list,
                });
            }
        }
    }
    match rest {
        "" => found,
        rest => select(rest, &found),
    }
}

fn is_unset(value: Option<&Value>) -> bool {
    value.is_none_or(|value| is_empty(value) || *value == "")
}

impl Check {
    fn errors(self, one: &Match<'_>, seen: &mut HashSet<(usize, String)>) -> Vec<FieldError> {
        let (field, mut errors) = (one.place.as_str(), Vec::new());
        let Found::Value(value) = one.value else {
            return errors;
        };
        match (self, value) {
            (Self::Required, value) if is_unset(value) => errors.required(field, ""),
            (Self::UniqueText, value) => {
                let text = value.and_then(Value::as_str).unwrap_or_default();
                if !seen.insert((one.list, text.to_owned())) {
                    errors.duplicate(field, text);
                }
            }
            // An empty text is a missing one.
            (_, value) if is_unset(value) => {}
            (Self::Unique, Some(value)) if !seen.insert((one.list, value.to_string())) => {
                errors.duplicate(field, value.clone());
            }
            (Self::Text(fits, why), Some(Value::String(text))) if !fits(text) => {
                errors.invalid(field, text.as_str(), why);
            }
            (Self::OneOf(known), Some(Value::String(text))) if !known.contains(&text.as_str()) => {
                errors.not_supported(field, text.as_str(), known);
            }
            (Self::Range(least, most), Some(Value::Number(number)))
                if !number.as_i64().is_some_and(|n| (least..=most).contains(&n)) =>
            {
                let why = match most {
                    i64::MAX => format!("must be greater than or equal to {least}"),
                    most => format!("must be between {least} and {most}, inclusive"),
                };
                errors.invalid(field, number.clone(), &why);
            }
            (Self::Most(most), Some(Value::Array(items))) if items.len() > most => {
                errors.too_many(field, items.len(), most);
            }
            _ => {}
        }
        errors
    }
}
