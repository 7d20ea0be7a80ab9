//! Estimates what a rule costs at most, as the API server does before it accepts a definition.
//!
//! The cost grows with the sizes that the schema allows: a loop costs its step for each possible
//! item, a comparison of strings a tenth for each possible character. Where the server knows more
//! than this estimate, such as the size of a list that a rule computes, this assumes the largest, so
//! what is accepted here is accepted there.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators,
};

use super::bounds::SchemaLocation;
use super::check::{Checker, RuleScope};
use super::repair::TICK;
use super::types::Type;

/// The size of what no schema limits.
const UNKNOWN: u64 = u64::MAX;
/// The cost of creating a list and a map.
const LIST: u64 = 10;
const MAP: u64 = 30;
/// An upper bound of the length of the patterns behind named formats.
const NAMED_FORMAT: u64 = 128;

/// The largest cost of one evaluation.
pub(super) fn max_cost(expr: &IdedExpr, scope: &RuleScope<'_>) -> u64 {
    let root = SchemaLocation::Schema {
        node: scope.node,
        root: scope.root,
    };
    let mut estimator = Estimator {
        checker: Checker::new("", scope),
        locals: Vec::new(),
        root,
    };
    estimator.visit(expr).cost
}

#[derive(Clone, Copy, Debug)]
struct Estimate<'a> {
    cost: u64,
    /// The largest number of characters, items or entries; 1 for values without a length.
    size: u64,
    /// The schema, if the value is a part of the object.
    place: Option<SchemaLocation<'a>>,
}

struct Local<'a> {
    name: String,
    place: Option<SchemaLocation<'a>>,
    size: u64,
}

struct Estimator<'a> {
    /// Knows the types of expressions.
    checker: Checker<'a, 'static>,
    /// Variables of loops; the innermost is last.
    locals: Vec<Local<'a>>,
    root: SchemaLocation<'a>,
}

impl<'a> Estimator<'a> {
    fn visit(&mut self, expr: &IdedExpr) -> Estimate<'a> {
        match &expr.expr {
            Expr::Literal(literal) => Estimate {
                cost: 0,
                size: match literal {
                    LiteralValue::String(text) => text.inner().chars().count() as u64,
                    LiteralValue::Bytes(bytes) => bytes.inner().len() as u64,
                    _ => 1,
                },
                place: None,
            },
            Expr::Ident(name) => {
                let local = self.locals.iter().rev().find(|local| local.name == *name);
                let (place, size) = match local {
                    Some(local) => (local.place, local.size),
                    // The names of types count as the object.
                    None => (Some(self.root), UNKNOWN),
                };
                let mut found = self.sized(expr, 1, place);
                found.size = found.size.min(size);
                found
            }
            Expr::Select(select) => {
                let operand = self.visit(&select.operand);
                if select.test {
                    return self.sized(expr, operand.cost, None);
                }
                let of = self.checker.type_of(&select.operand);
                let selects = matches!(of, Type::Map(_) | Type::Object { .. } | Type::Metadata);
                let place = operand.place.and_then(|place| place.field(&select.field));
                let cost = operand.cost.saturating_add(u64::from(selects));
                self.sized(expr, cost, place)
            }
            Expr::List(list) => Estimate {
                cost: self.sum(&list.elements).saturating_add(LIST),
                size: list.elements.len() as u64,
                place: None,
            },
            Expr::Map(map) => {
                let mut cost = MAP;
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        cost = cost.saturating_add(self.visit(&entry.key).cost);
                        cost = cost.saturating_add(self.visit(&entry.value).cost);
                    }
                }
                Estimate {
                    cost,
                    size: map.entries.len() as u64,
                    place: None,
                }
            }
            Expr::Call(call) => self.call(expr, call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Struct(_) | Expr::Unspecified => self.sized(expr, 0, None),
        }
    }

    fn sum(&mut self, exprs: &[IdedExpr]) -> u64 {
        let costs = exprs.iter().map(|expr| self.visit(expr).cost);
        costs.fold(0, u64::saturating_add)
    }

    /// An estimate with the size that the schema or the type allows.
    fn sized(
        &mut self,
        expr: &IdedExpr,
        cost: u64,
        place: Option<SchemaLocation<'a>>,
    ) -> Estimate<'a> {
        let size = match place {
            Some(place) => place.max_size(),
            None if is_scalar(&self.checker.type_of(expr)) => 1,
            None => UNKNOWN,
        };
        Estimate { cost, size, place }
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Estimate<'a> {
        let range = self.visit(&loops.iter_range);
        let start = self.visit(&loops.accu_init);
        let (outer, locals) = (self.checker.enter(loops), self.locals.len());
        self.locals.push(Local {
            name: loops.accu_var.clone(),
            place: start.place,
            size: start.size,
        });
        self.locals.push(Local {
            name: loops.iter_var.clone(),
            place: range.place.and_then(SchemaLocation::iterated),
            size: UNKNOWN,
        });
        let condition = self.visit(&loops.loop_cond).cost;
        let step = self.visit(&loops.loop_step).cost;
        self.locals.truncate(locals + 1);
        let result = self.visit(&loops.result).cost;
        self.locals.truncate(locals);
        self.checker.leave(outer);
        let rounds = range.size.saturating_mul(condition.saturating_add(step));
        let costs = [range.cost, start.cost, rounds, result];
        Estimate {
            cost: costs.into_iter().fold(0, u64::saturating_add),
            size: match loops.accu_init.expr {
                Expr::List(_) | Expr::Map(_) => range.size,
                _ => start.size,
            },
            place: None,
        }
    }

    fn call(&mut self, expr: &IdedExpr, call: &CallExpr) -> Estimate<'a> {
        if call.func_name == TICK {
            return self.sized(expr, 0, None);
        }
        let is_namespace = call.target.as_deref().is_some_and(
            |target| matches!(&target.expr, Expr::Ident(name) if !self.checker.has_variable(name)),
        );
        let target = call.target.as_deref().filter(|_| !is_namespace);
        let target = target.map(|target| (self.visit(target), self.checker.type_of(target)));
        let args: Vec<_> = call
            .args
            .iter()
            .map(|arg| (self.visit(arg), self.checker.type_of(arg)))
            .collect();
        let given = |(estimate, _): &(Estimate<'a>, Type<'a>)| estimate.cost;
        let operands = target
            .iter()
            .chain(&args)
            .map(given)
            .fold(0, u64::saturating_add);
        match (call.func_name.as_str(), args.as_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, _) => self.sized(expr, operands, None),
            (operators::CONDITIONAL, [condition, (yes, _), (no, _)]) => Estimate {
                cost: given(condition).saturating_add(yes.cost.max(no.cost)),
                size: yes.size.max(no.size),
                place: None,
            },
            (operators::INDEX, [(container, _), _]) => {
                let place = container.place.and_then(SchemaLocation::element);
                self.sized(expr, operands.saturating_add(1), place)
            }
            ("isSorted" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes", _) => {
                let (list, kind) = match &target {
                    Some((list, kind)) => (list.size, compared(list, kind)),
                    None => (UNKNOWN, UNKNOWN),
                };
                let cost = list.saturating_mul(traversal(kind).saturating_add(1));
                self.sized(expr, operands.saturating_add(cost), None)
            }
            (name, args) => {
                let target = target.as_ref().map(|(estimate, _)| estimate.size);
                let args: Vec<_> = args.iter().map(|(of, kind)| (of.size, kind)).collect();
                let (cost, size) = function(name, target, &args);
                let mut result = self.sized(expr, operands.saturating_add(cost), None);
                result.size = size.unwrap_or(result.size);
                result
            }
        }
    }
}

fn is_scalar(of: &Type<'_>) -> bool {
    match of {
        Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::Duration
        | Type::Timestamp
        | Type::Null => true,
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}

/// The largest size of a list's items, which a function compares.
fn compared(list: &Estimate<'_>, kind: &Type<'_>) -> u64 {
    match (list.place.and_then(SchemaLocation::element), kind) {
        (Some(item), _) => item.max_size(),
        (None, Type::List(item)) if is_scalar(item) => 1,
        (None, _) => UNKNOWN,
    }
}

/// The cost of visiting each character once.
const fn traversal(size: u64) -> u64 {
    size.div_ceil(10)
}

/// The cost of matching a text with a pattern of this length.
const fn matching(text: u64, pattern: u64) -> u64 {
    traversal(text.saturating_add(1)).saturating_mul(pattern.div_ceil(4))
}

/// The cost of a function without its operands, and the size of its result where it is known.
fn function(name: &str, target: Option<u64>, args: &[(u64, &Type<'_>)]) -> (u64, Option<u64>) {
    let arg = |index: usize| args.get(index).map_or(1, |(size, _)| *size);
    let this = target.unwrap_or_else(|| arg(0));
    let smaller = traversal(arg(0).min(arg(1)));
    match name {
        operators::EQUALS | operators::NOT_EQUALS => (smaller, None),
        operators::LESS
        | operators::LESS_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS => match args {
            [(_, Type::String | Type::Bytes), _] => (smaller, None),
            [(_, Type::Dyn), _] | [_, (_, Type::Dyn)] => (smaller.max(1), None),
            _ => (1, None),
        },
        operators::IN => match args {
            [_, (_, Type::Map(_))] => (1, None),
            _ => (arg(1).max(1), None),
        },
        operators::ADD => {
            let both = arg(0).saturating_add(arg(1));
            match args {
                [(_, Type::List(_)), _] => (1, Some(both)),
                [(_, Type::String | Type::Bytes | Type::Dyn), _] | [_, (_, Type::Dyn)] => {
                    (traversal(both).max(1), Some(both))
                }
                _ => (1, None),
            }
        }
        "dyn" => (1, Some(arg(0))),
        "startsWith" | "endsWith" => (traversal(arg(0)), None),
        "contains" => (traversal(this).saturating_mul(traversal(arg(0))), None),
        "matches" => (matching(this, arg(0)), None),
        "find" | "findAll" => (matching(this, arg(0)), Some(this)),
        "lowerAscii" | "upperAscii" | "substring" | "trim" | "url" | "jsonpatch.escapeKey" => {
            (traversal(this), Some(this))
        }
        "replace" | "ip.isCanonical" => (this.div_ceil(5), None),
        "split" => (this.div_ceil(5), Some(this)),
        "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver"
        | "bytes" | "string" | "quote" | "format" | "strings.quote" => (traversal(this), None),
        "validate" => (matching(arg(0), NAMED_FORMAT), None),
        _ if is_constant(name) => (1, None),
        // At worst each item of one operand meets each of the others.
        _ => {
            let sizes = target.into_iter().chain(args.iter().map(|(size, _)| *size));
            let product = sizes.map(|size| size.max(1)).fold(1, u64::saturating_mul);
            (product, None)
        }
    }
}

/// True for a function that takes the same time for all operands.
fn is_constant(name: &str) -> bool {
    const CONSTANT: &str = "\
        asApproximateFloat asInteger bool charAt compareTo double duration family format.named \
        hasValue int isGlobalUnicast isInteger isGreaterThan isLessThan isLinkLocalMulticast \
        isLinkLocalUnicast isLoopback isURL isUnspecified major masked minor optional.none \
        optional.of or orValue patch prefixLength sign size timestamp type uint value";
    let is_operator = !name.starts_with(|c: char| c.is_ascii_alphabetic());
    is_operator
        || CONSTANT.split(' ').any(|known| known == name)
        || (name.starts_with("get") && name.ends_with(|c: char| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests;
