//! Type-checks a rule against its schema: unknown fields, functions and variables, and operands of
//! wrong types.
//!
//! An expression whose type is unknown passes, and may fail when it is evaluated.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue};

use super::functions::TYPES;
use super::repair::OPTIONAL_FIELD;
use super::types::{self, Type};
use crate::schema::node::Node;

/// The meaning of `self` in an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleScope<'a> {
    pub(super) node: &'a Node,
    /// `node` is the root of a resource.
    pub(super) root: bool,
    pub(super) optional_old_self: bool,
}

/// The type of an expression, or all errors with their positions.
pub(super) fn check<'a>(
    expr: &IdedExpr,
    source: &str,
    scope: &RuleScope<'a>,
) -> Result<Type<'a>, String> {
    let mut checker = Checker::new(source, scope);
    let found = checker.type_of(expr);
    if checker.errors.is_empty() {
        Ok(found)
    } else {
        Err(checker.errors.join("\n"))
    }
}

/// Formats an error with its position and source line.
pub(super) fn located(source: &str, offset: usize, why: &str) -> String {
    let before = source.get(..offset).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count());
    let line = source.lines().nth(number - 1).unwrap_or_default();
    let dots = ".".repeat(column);
    format!(
        "ERROR: <input>:{number}:{}: {why}\n | {line}\n | {dots}^",
        column + 1
    )
}

pub(super) struct Checker<'a, 's> {
    source: &'s str,
    /// The innermost scope is last.
    variables: Vec<(String, Type<'a>)>,
    errors: Vec<String>,
}

impl<'a, 's> Checker<'a, 's> {
    pub(super) fn new(source: &'s str, scope: &RuleScope<'a>) -> Self {
        let this = Type::of(scope.node, scope.root).unwrap_or(Type::Dyn);
        let correlated = if scope.optional_old_self {
            Type::Optional(Box::new(this.clone()))
        } else {
            this.clone()
        };
        Self {
            source,
            variables: vec![
                ("self".to_owned(), this),
                ("oldSelf".to_owned(), correlated),
            ],
            errors: Vec::new(),
        }
    }

    /// Reports an error at the first occurrence of `written` as a whole word.
    fn report(&mut self, written: &str, why: &str) -> Type<'a> {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let wordy = word(written.chars().last());
        let offset = self
            .source
            .match_indices(written)
            .find(|(at, _)| {
                let after = self.source.get(at + written.len()..).unwrap_or_default();
                let before = self.source.get(..*at).unwrap_or_default();
                let joined = word(written.chars().next()) && word(before.chars().last());
                !(joined || wordy && word(after.chars().next()))
            })
            .map_or(0, |(at, _)| at);
        let error = located(self.source, offset, why);
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
        Type::Dyn
    }

    fn variable(&self, name: &str) -> Option<&Type<'a>> {
        let mut variables = self.variables.iter().rev();
        variables.find(|(n, _)| n == name).map(|(_, found)| found)
    }

    fn type_of(&mut self, expr: &IdedExpr) -> Type<'a> {
        match &expr.expr {
            Expr::Literal(literal) => match literal {
                LiteralValue::Boolean(_) => Type::Bool,
                LiteralValue::Bytes(_) => Type::Bytes,
                LiteralValue::Double(_) => Type::Double,
                LiteralValue::Int(_) => Type::Int,
                LiteralValue::Null => Type::Null,
                LiteralValue::String(_) => Type::String,
                LiteralValue::UInt(_) => Type::Uint,
            },
            Expr::Ident(name) => match self.variable(name) {
                Some(found) => found.clone(),
                None if TYPES.contains(&name.as_str()) => Type::Dyn,
                None => self.undeclared(name, name),
            },
            Expr::Select(select) => {
                let operand = self.type_of(&select.operand);
                let field = self.field(&operand, &select.field);
                if select.test { Type::Bool } else { field }
            }
            Expr::List(list) => {
                let mut item = None;
                for element in &list.elements {
                    let found = self.type_of(element);
                    item = Some(match item {
                        Some(Type::Dyn) => Type::Dyn,
                        Some(before) if !found.agrees(&before) => Type::Dyn,
                        _ => found,
                    });
                }
                Type::List(Box::new(item.unwrap_or(Type::Dyn)))
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.type_of(&entry.key);
                        self.type_of(&entry.value);
                    }
                }
                Type::Map(Box::new(Type::Dyn))
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Struct(_) | Expr::Unspecified => Type::Dyn,
        }
    }

    fn undeclared(&mut self, written: &str, name: &str) -> Type<'a> {
        let why = format!("undeclared reference to '{name}' (in container '')");
        self.report(written, &why)
    }

    fn field(&mut self, operand: &Type<'a>, name: &str) -> Type<'a> {
        match operand.field(name) {
            Ok(found) => found,
            Err(why) => self.report(&format!(".{name}"), &why),
        }
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Type<'a> {
        let depth = self.enter(comprehension);
        self.type_of(&comprehension.loop_cond);
        self.type_of(&comprehension.loop_step);
        self.variables.truncate(depth + 1);
        let result = self.type_of(&comprehension.result);
        self.leave(depth);
        result
    }

    /// Declares the variables of a loop: first that of its result, then that of its items. Returns
    /// what [`Self::leave`] needs.
    pub(super) fn enter(&mut self, comprehension: &ComprehensionExpr) -> usize {
        let range = self.type_of(&comprehension.iter_range);
        let item = match range {
            Type::List(items) => *items,
            Type::Map(_) => Type::String,
            Type::Dyn => Type::Dyn,
            other => {
                let why = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    other.name()
                );
                self.report("", &why)
            }
        };
        let start = self.type_of(&comprehension.accu_init);
        let depth = self.variables.len();
        self.variables.push((comprehension.accu_var.clone(), start));
        self.variables.push((comprehension.iter_var.clone(), item));
        depth
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.variables.truncate(depth);
    }

    fn call(&mut self, call: &CallExpr) -> Type<'a> {
        if let Some(found) = self.operator(call) {
            return found;
        }
        let namespace = match call.target.as_deref().map(|target| &target.expr) {
            Some(Expr::Ident(name)) if self.variable(name).is_none() => Some(name.as_str()),
            _ => None,
        };
        let qualified = namespace.map(|namespace| format!("{namespace}.{}", call.func_name));
        if let Some(name) = &qualified
            && let Some(result) = types::result_of(name, None)
        {
            for argument in &call.args {
                self.type_of(argument);
            }
            return result;
        }
        let target = call.target.as_deref().map(|target| self.type_of(target));
        for argument in &call.args {
            self.type_of(argument);
        }
        match types::result_of(&call.func_name, target.as_ref()) {
            Some(result) => result,
            None => self.undeclared(&format!("{}(", call.func_name), &call.func_name),
        }
    }

    /// The result of an operator; `None` if the call is not one.
    fn operator(&mut self, call: &CallExpr) -> Option<Type<'a>> {
        let name = call.func_name.as_str();
        if name == OPTIONAL_FIELD {
            return Some(self.optional_field(call));
        }
        let (symbol, arity) = types::symbol_of(name)?;
        if call.target.is_some() || call.args.len() != arity {
            return None;
        }
        let operands: Vec<Type<'a>> = call.args.iter().map(|a| self.type_of(a)).collect();
        let result = match operands.as_slice() {
            [] => Some(Type::Bool),
            [one] => types::unary(name, one),
            [left, right] => types::binary(name, left, right),
            [condition, yes, no] => (condition.is_bool() && yes.agrees(no)).then(|| {
                if matches!(yes, Type::Dyn | Type::Null) {
                    no.clone()
                } else {
                    yes.clone()
                }
            }),
            _ => None,
        };
        Some(result.unwrap_or_else(|| {
            let types: Vec<String> = operands.iter().map(Type::name).collect();
            let why = format!(
                "found no matching overload for '{name}' applied to '({})'",
                types.join(", ")
            );
            self.report(symbol, &why)
        }))
    }

    fn optional_field(&mut self, call: &CallExpr) -> Type<'a> {
        let [operand, field] = call.args.as_slice() else {
            return Type::Dyn;
        };
        let operand = self.type_of(operand);
        let Expr::Literal(LiteralValue::String(name)) = &field.expr else {
            return Type::Dyn;
        };
        match operand.field(name.inner()) {
            Ok(found @ Type::Optional(_)) => found,
            Ok(found) => Type::Optional(Box::new(found)),
            Err(why) => self.report(&format!("?{}", name.inner()), &why),
        }
    }
}

#[cfg(test)]
mod tests;
