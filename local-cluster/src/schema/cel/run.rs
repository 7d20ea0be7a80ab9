//! Asks the rules of a schema about an object.

use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{Context, ExecutionError, Value};
use serde_json::Value as Json;
use std::sync::Arc;

use super::functions::{BASE, OUT_OF_BUDGET, reset_budget};
use super::rule::{Program, Rule};
use super::stack;
use super::value::value_of;
use crate::field_error::FieldError;
use crate::schema::correlate::{KeyedItems, Past, in_order_of};
use crate::schema::node::Node;
use crate::schema::path::Path;
use crate::schema::wording::{Fault, quoted, shown};

/// Rules that nest deeper are evaluated with more stack.
const DEPTH_HERE: usize = 10;

/// The most bytes of a message that a rule makes.
const MAX_MESSAGE: usize = 5 << 10;

/// What the rules said.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) errors: Vec<FieldError>,
    /// What is wrong, but was before and has not changed.
    pub(crate) warnings: Vec<String>,
}

/// Asks all rules of a schema about an object and what it was.
pub(crate) fn run(node: &Node, new: &Json, old: Option<&Json>) -> Verdict {
    run_at(node, new, old, &Path::root(""))
}

/// The same for a part of an object.
pub(crate) fn run_at(node: &Node, new: &Json, old: Option<&Json>, path: &Path<'_>) -> Verdict {
    let Some(depth) = node.rule_depth else {
        return Verdict::default();
    };
    let work = || {
        reset_budget();
        let mut verdict = Verdict::default();
        let ratchet = Ratchet {
            current: old.map(|old| Past { node, new, old }),
            parent: None,
        };
        // When the budget is spent, what was found so far is said.
        let _ = walk(node, (new, old), path, ratchet, &mut verdict);
        verdict
    };
    let done = if depth > DEPTH_HERE {
        stack::with_room(work)
    } else {
        stack::here(work)
    };
    done.unwrap_or_else(|| Verdict {
        errors: vec![Fault::Invalid.at(
            path.bracketed(),
            None,
            "validation rules could not be evaluated",
        )],
        warnings: Vec::new(),
    })
}

/// The budget is spent.
struct Spent;

/// Which past decides whether a complaint is an old one.
#[derive(Clone, Copy)]
struct Ratchet<'a> {
    /// The past of the value, if it can be told.
    current: Option<Past<'a>>,
    /// The past of the nearest part around it whose past can be told.
    parent: Option<Past<'a>>,
}

impl<'a> Ratchet<'a> {
    fn is_unchanged(&self) -> bool {
        self.current
            .or(self.parent)
            .is_some_and(|past| past.is_unchanged())
    }

    fn field(self, name: &str) -> Self {
        match self.current {
            None => self,
            Some(_) if self.parent.is_none() && matches!(name, "apiVersion" | "kind") => Self {
                current: None,
                parent: None,
            },
            Some(current) => self.to(current, current.field(name)),
        }
    }

    fn item(self, past: Option<Past<'a>>) -> Self {
        match self.current {
            None => self,
            Some(current) => self.to(current, past),
        }
    }

    const fn to(self, parent: Past<'a>, current: Option<Past<'a>>) -> Self {
        Self {
            current,
            parent: Some(parent),
        }
    }
}

fn walk<'a>(
    node: &'a Node,
    (new, old): (&'a Json, Option<&'a Json>),
    path: &Path<'_>,
    ratchet: Ratchet<'a>,
    verdict: &mut Verdict,
) -> Result<(), Spent> {
    if node.rule_depth.is_none() || new.is_null() {
        return Ok(());
    }
    if !node.rules.is_empty() {
        ask(
            node,
            (new, old.filter(|o| !o.is_null())),
            path,
            &ratchet,
            verdict,
        )?;
    }
    match new {
        Json::Object(map) => {
            let old = old.and_then(Json::as_object);
            for (key, inner) in map {
                let before = old.and_then(|old| old.get(key));
                if let Some(other) = node.additional.node() {
                    let path = path.key(key);
                    walk(other, (inner, before), &path, ratchet.field(key), verdict)?;
                }
                if let Some(property) = node.properties.get(key) {
                    let path = path.field(key);
                    walk(
                        property,
                        (inner, before),
                        &path,
                        ratchet.field(key),
                        verdict,
                    )?;
                }
            }
        }
        Json::Array(items) => {
            let Some(item_node) = &node.items else {
                return Ok(());
            };
            let before = old.and_then(|old| KeyedItems::of(node, old));
            let pasts = ratchet.current.and_then(|past| past.items());
            for (index, item) in items.iter().enumerate() {
                let before = before.as_ref().and_then(|before| before.get(item));
                let past = pasts.as_ref().and_then(|pasts| pasts.get(index));
                let path = path.index(index);
                walk(
                    item_node,
                    (item, before),
                    &path,
                    ratchet.item(past),
                    verdict,
                )?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Asks the rules of one part.
fn ask(
    node: &Node,
    (new, old): (&Json, Option<&Json>),
    path: &Path<'_>,
    ratchet: &Ratchet<'_>,
    verdict: &mut Verdict,
) -> Result<(), Spent> {
    let contexts = Contexts::of(node, new, old);
    let type_name = quoted(node.type_name());
    for rule in &node.rules {
        let words = if rule.message.is_empty() {
            &rule.source
        } else {
            &rule.message
        };
        let mut odd = |detail: &str| {
            let error = Fault::Invalid.at(path.bracketed(), Some(&type_name), detail);
            verdict.errors.push(error);
        };
        let program = match &rule.program {
            None => continue,
            Some(Err(why)) => {
                odd(&format!("rule compile error: {why}"));
                continue;
            }
            Some(Ok(program)) => program,
        };
        // What compares with the past is not asked without one, unless it wants to be.
        if program.uses_old_self && old.is_none() && !rule.optional_old_self {
            continue;
        }
        match contexts.evaluate(rule, program) {
            Ok(Value::Bool(true)) => {}
            Ok(_) => {
                let detail = message(rule, &contexts);
                let error = refusal(rule, node, new, path, &detail);
                if !program.uses_old_self && ratchet.is_unchanged() {
                    let warning = format!("{}: {}", error.field, error.message);
                    verdict.warnings.push(warning);
                } else {
                    verdict.errors.push(error);
                }
            }
            Err(error) => {
                let why = in_words(&error);
                if why == OUT_OF_BUDGET {
                    odd(&format!(
                        "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {words}"
                    ));
                    return Err(Spent);
                }
                if why.starts_with("no such overload") {
                    odd(&format!(
                        "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {words}"
                    ));
                } else {
                    odd(&format!("{why} evaluating rule: {words}"));
                }
            }
        }
    }
    Ok(())
}

/// What the rules of one part can refer to.
struct Contexts {
    plain: Context<'static>,
    /// For rules to which the past is optional, if there are any.
    optional: Option<Context<'static>>,
}

impl Contexts {
    fn of(node: &Node, new: &Json, old: Option<&Json>) -> Self {
        let this = value_of(Some(node), new);
        let before = old.map(|old| value_of(Some(node), &in_order_of(node, old, new)));
        let optional = node.rules.iter().any(|rule| rule.optional_old_self);
        let optional = optional.then(|| {
            let before = before.clone();
            let before = before.map_or_else(OptionalValue::none, OptionalValue::of);
            let mut context = BASE.new_inner_scope();
            context.add_variable_from_value("self", this.clone());
            context.add_variable_from_value("oldSelf", Value::Opaque(Arc::new(before)));
            context
        });
        let mut plain = BASE.new_inner_scope();
        plain.add_variable_from_value("self", this);
        if let Some(before) = before {
            plain.add_variable_from_value("oldSelf", before);
        }
        Self { plain, optional }
    }

    fn evaluate(&self, rule: &Rule, program: &Program) -> Result<Value, ExecutionError> {
        let optional = self.optional.as_ref().filter(|_| rule.optional_old_self);
        Value::resolve(&program.expr, optional.unwrap_or(&self.plain))
    }
}

/// The words of a refusal: what the rule computes, or what it says, or the rule itself.
fn message(rule: &Rule, contexts: &Contexts) -> String {
    if let Some(Ok(program)) = &rule.message_program
        && let Ok(Value::String(text)) = contexts.evaluate(rule, program)
    {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n') {
            return text.to_owned();
        }
    }
    if rule.message.is_empty() {
        format!("failed rule: {}", rule.source)
    } else {
        rule.message.clone()
    }
}

fn refusal(rule: &Rule, node: &Node, new: &Json, path: &Path<'_>, detail: &str) -> FieldError {
    let named = path.field(&rule.field_path);
    let field = if rule.field_path.is_empty() {
        path.bracketed()
    } else {
        named.bracketed()
    };
    let whole = matches!(node.type_name(), "object" | "array");
    let value = (!whole).then(|| shown(new));
    match rule.fault {
        Fault::Forbidden | Fault::Required => rule.fault.at(field, None, detail),
        Fault::Duplicate => rule.fault.at(field, value.as_deref(), ""),
        fault => fault.at(field, value.as_deref(), detail),
    }
}

/// An error as Kubernetes words it.
fn in_words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => {
            format!("index out of bounds: {index}")
        }
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::UndeclaredReference(name) => format!("no such attribute(s): {name}"),
        ExecutionError::NoSuchOverload
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::NotSupportedAsMethod { .. }
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedUnaryOperator(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::UnsupportedMapIndex(_)
        | ExecutionError::UnsupportedListIndex(_)
        | ExecutionError::UnsupportedIndex(..) => "no such overload".to_owned(),
        ExecutionError::FunctionError { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
