//! Evaluation of rules.

use std::sync::Arc;

use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{Context, ExecutionError, Value};
use serde_json::Value as Json;

use super::functions::{BASE, OUT_OF_BUDGET, reset_budget};
use super::rule::{Program, RuleTree, ValidationRule};
use super::stack;
use super::value::value_of;
use crate::field_error::{ErrorType, FieldError};
use crate::schema::correlate::{CorrelatedValue, ItemsByKey, in_order_of};
use crate::schema::message::{FieldPath, quoted, shown};
use crate::schema::node::Node;

/// Rules with deeper nesting are evaluated with a larger stack.
const SMALL_STACK_DEPTH: usize = 10;

/// The longest result of a `messageExpression`, in bytes.
const MAX_MESSAGE: usize = 5 << 10;

/// Errors of an object, and warnings of its rules.
#[derive(Debug, Default)]
pub(crate) struct ValidationResult {
    pub(crate) errors: Vec<FieldError>,
    /// Errors of values that the update does not change (ratcheting).
    pub(crate) warnings: Vec<String>,
}

/// A schema with its rules.
#[derive(Clone, Copy)]
pub(crate) struct Ruled<'a> {
    pub(crate) node: &'a Node,
    pub(crate) tree: &'a RuleTree,
}

/// Evaluates all rules of a schema for a value and its old state.
pub(crate) fn run(
    schema: Ruled<'_>,
    new: &Json,
    old: Option<&Json>,
    path: &FieldPath<'_>,
) -> ValidationResult {
    let node = schema.node;
    let work = || {
        reset_budget();
        let mut result = ValidationResult::default();
        let ratchet = Ratchet {
            current: old.map(|old| CorrelatedValue { node, new, old }),
            parent: None,
        };
        // If the budget is exhausted, the errors so far are reported.
        let _ = walk(schema, (new, old), path, ratchet, &mut result);
        result
    };
    let done = if schema.tree.depth > SMALL_STACK_DEPTH {
        stack::with_large_stack(work)
    } else {
        stack::catch_panic(work)
    };
    done.unwrap_or_else(|| ValidationResult {
        errors: vec![ErrorType::Invalid.at(
            path.bracketed(),
            None,
            "validation rules could not be evaluated",
        )],
        ..ValidationResult::default()
    })
}

struct BudgetExhausted;

/// The old value that decides whether an error is ratcheted.
#[derive(Clone, Copy)]
struct Ratchet<'a> {
    /// The correlated old value, if there is one.
    current: Option<CorrelatedValue<'a>>,
    /// That of the nearest ancestor with one.
    parent: Option<CorrelatedValue<'a>>,
}

impl<'a> Ratchet<'a> {
    fn is_unchanged(&self) -> bool {
        self.current
            .or(self.parent)
            .is_some_and(|correlated| correlated.is_unchanged())
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

    fn item(self, correlated: Option<CorrelatedValue<'a>>) -> Self {
        match self.current {
            None => self,
            Some(current) => self.to(current, correlated),
        }
    }

    const fn to(self, parent: CorrelatedValue<'a>, current: Option<CorrelatedValue<'a>>) -> Self {
        Self {
            current,
            parent: Some(parent),
        }
    }
}

fn walk<'a>(
    Ruled { node, tree }: Ruled<'a>,
    (new, old): (&'a Json, Option<&'a Json>),
    path: &FieldPath<'_>,
    ratchet: Ratchet<'a>,
    result: &mut ValidationResult,
) -> Result<(), BudgetExhausted> {
    if new.is_null() {
        return Ok(());
    }
    if !tree.rules.is_empty() {
        evaluate_rules(
            (node, &tree.rules),
            (new, old.filter(|o| !o.is_null())),
            path,
            &ratchet,
            result,
        )?;
    }
    match new {
        Json::Object(map) => {
            let old = old.and_then(Json::as_object);
            for (key, inner) in map {
                let before = old.and_then(|old| old.get(key));
                if let (Some(node), Some(tree)) = (node.values(), tree.values()) {
                    let (schema, path) = (Ruled { node, tree }, path.key(key));
                    walk(schema, (inner, before), &path, ratchet.field(key), result)?;
                }
                if let (Some(node), Some(tree)) = (node.property(key), tree.property(key)) {
                    let (schema, path) = (Ruled { node, tree }, path.field(key));
                    walk(schema, (inner, before), &path, ratchet.field(key), result)?;
                }
            }
        }
        Json::Array(items) => {
            let (Some(item_node), Some(tree)) = (node.items(), tree.items()) else {
                return Ok(());
            };
            let item_schema = Ruled {
                node: item_node,
                tree,
            };
            let before = old.and_then(|old| ItemsByKey::of(node, old));
            let correlated_items = ratchet.current.and_then(|correlated| correlated.items());
            for (index, item) in items.iter().enumerate() {
                let before = before.as_ref().and_then(|before| before.get(item));
                let correlated = correlated_items
                    .as_ref()
                    .and_then(|correlated_items| correlated_items.get(index));
                let path = path.index(index);
                let ratchet = ratchet.item(correlated);
                walk(item_schema, (item, before), &path, ratchet, result)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Evaluates the rules of one value.
fn evaluate_rules(
    (node, rules): (&Node, &[ValidationRule]),
    (new, old): (&Json, Option<&Json>),
    path: &FieldPath<'_>,
    ratchet: &Ratchet<'_>,
    result: &mut ValidationResult,
) -> Result<(), BudgetExhausted> {
    let contexts = RuleContexts::of(node, rules, new, old);
    let type_name = quoted(node.type_name());
    for rule in rules {
        let words = if rule.message.is_empty() {
            &rule.source
        } else {
            &rule.message
        };
        let mut odd = |detail: &str| {
            let error = ErrorType::Invalid.at(path.bracketed(), Some(&type_name), detail);
            result.errors.push(error);
        };
        let program = match &rule.program {
            None => continue,
            Some(Err(why)) => {
                odd(&format!("rule compile error: {why}"));
                continue;
            }
            Some(Ok(program)) => program,
        };
        // Transition rules need an old value, unless `optionalOldSelf` is set.
        if program.uses_old_self && old.is_none() && !rule.optional_old_self {
            continue;
        }
        match contexts.evaluate(rule, program) {
            Ok(Value::Bool(true)) => {}
            Ok(_) => {
                let detail = message(rule, &contexts);
                let error = rule_error(rule, node, new, path, &detail);
                if !program.uses_old_self && ratchet.is_unchanged() {
                    let warning = format!("{}: {}", error.field, error.message);
                    result.warnings.push(warning);
                } else {
                    result.errors.push(error);
                }
            }
            Err(error) => {
                let why = cel_go_message(&error);
                if why == OUT_OF_BUDGET {
                    odd(&format!(
                        "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {words}"
                    ));
                    return Err(BudgetExhausted);
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

/// The variables of the rules of one value.
struct RuleContexts {
    plain: Context<'static>,
    /// With `oldSelf` as an optional, if a rule has `optionalOldSelf`.
    optional: Option<Context<'static>>,
}

impl RuleContexts {
    fn of(node: &Node, rules: &[ValidationRule], new: &Json, old: Option<&Json>) -> Self {
        let this = value_of(Some(node), new);
        let before = old.map(|old| value_of(Some(node), &in_order_of(node, old, new)));
        let optional = rules.iter().any(|rule| rule.optional_old_self);
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

    fn evaluate(&self, rule: &ValidationRule, program: &Program) -> Result<Value, ExecutionError> {
        let optional = self.optional.as_ref().filter(|_| rule.optional_old_self);
        Value::resolve(&program.expr, optional.unwrap_or(&self.plain))
    }
}

/// The result of `messageExpression`, or the message, or the rule itself.
fn message(rule: &ValidationRule, contexts: &RuleContexts) -> String {
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

fn rule_error(
    rule: &ValidationRule,
    node: &Node,
    new: &Json,
    path: &FieldPath<'_>,
    detail: &str,
) -> FieldError {
    let named = path.field(&rule.field_path);
    let field = if rule.field_path.is_empty() {
        path.bracketed()
    } else {
        named.bracketed()
    };
    let whole = matches!(node.type_name(), "object" | "array");
    let value = (!whole).then(|| shown(new));
    match rule.fault {
        ErrorType::Forbidden | ErrorType::Required => rule.fault.at(field, None, detail),
        ErrorType::Duplicate => rule.fault.at(field, value.as_deref(), ""),
        fault => fault.at(field, value.as_deref(), detail),
    }
}

/// An evaluation error in the words of cel-go.
fn cel_go_message(error: &ExecutionError) -> String {
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
