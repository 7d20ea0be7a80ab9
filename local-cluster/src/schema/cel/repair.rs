//! Adjusts parsed rules where the library differs from Kubernetes.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, operators,
};

/// Counts the iterations of loops.
pub(super) const TICK: &str = "@tick";
/// The function behind the operator in `a.?b`.
pub(super) const OPTIONAL_FIELD: &str = "@optionalField";

const MAX_DEPTH: usize = 200;

/// Adjusts an expression and returns its depth.
pub(super) fn repair(expr: &mut IdedExpr) -> Result<usize, String> {
    walk(expr, 1)
}

fn walk(expr: &mut IdedExpr, depth: usize) -> Result<usize, String> {
    if depth > MAX_DEPTH {
        return Err("expression is nested too deep".to_owned());
    }
    bind(expr);
    let mut deepest = depth;
    let mut below = |inner: &mut IdedExpr| {
        deepest = deepest.max(walk(inner, depth + 1)?);
        Ok::<(), String>(())
    };
    match &mut expr.expr {
        Expr::Literal(_) | Expr::Ident(_) => {}
        Expr::Unspecified => return Err("expression is empty".to_owned()),
        Expr::Struct(comprehension) => {
            return Err(format!(
                "undeclared reference to '{}' (in container '')",
                comprehension.type_name
            ));
        }
        Expr::Select(select) => below(&mut select.operand)?,
        Expr::List(list) => list.elements.iter_mut().try_for_each(below)?,
        Expr::Map(map) => {
            for entry in &mut map.entries {
                match &mut entry.expr {
                    EntryExpr::StructField(field) => below(&mut field.value)?,
                    EntryExpr::MapEntry(entry) => {
                        below(&mut entry.key)?;
                        below(&mut entry.value)?;
                    }
                }
            }
        }
        Expr::Call(call) => {
            if let Some(target) = &mut call.target {
                below(target)?;
            }
            call.args.iter_mut().try_for_each(below)?;
            // The library's own function fails if the field is missing.
            if call.func_name == operators::OPT_SELECT {
                OPTIONAL_FIELD.clone_into(&mut call.func_name);
            }
        }
        Expr::Comprehension(comprehension) => {
            for inner in [
                &mut comprehension.iter_range,
                &mut comprehension.accu_init,
                &mut comprehension.loop_cond,
                &mut comprehension.loop_step,
                &mut comprehension.result,
            ] {
                below(inner)?;
            }
            let condition = std::mem::take(&mut comprehension.loop_cond);
            let counted = vec![call(expr.id, TICK, Vec::new()), condition];
            comprehension.loop_cond = call(expr.id, operators::LOGICAL_AND, counted);
            deepest += 1;
        }
    }
    Ok(deepest)
}

fn call(id: u64, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr {
        id,
        expr: Expr::Call(CallExpr {
            func_name: name.to_owned(),
            target: None,
            args,
        }),
    }
}

/// `cel.bind(name, value, expression)` becomes a loop without iterations that has a variable.
fn bind(expr: &mut IdedExpr) {
    let id = expr.id;
    let Expr::Call(call) = &mut expr.expr else {
        return;
    };
    let namespace = call.target.as_ref().map(|target| &target.expr);
    if call.func_name != "bind" || namespace != Some(&Expr::Ident("cel".to_owned())) {
        return;
    }
    let [name, value, result] = call.args.as_mut_slice() else {
        return;
    };
    let Expr::Ident(name) = name.expr.clone() else {
        return;
    };
    let with_id = |expr: Expr| IdedExpr { id, expr };
    let comprehension = ComprehensionExpr {
        iter_range: with_id(Expr::List(ListExpr::new(Vec::new()))),
        iter_var: "#unused".to_owned(),
        iter_var2: None,
        accu_init: std::mem::take(value),
        loop_cond: with_id(Expr::Literal(LiteralValue::Boolean(false.into()))),
        loop_step: with_id(Expr::Ident(name.clone())),
        accu_var: name,
        result: std::mem::take(result),
    };
    expr.expr = Expr::Comprehension(Box::new(comprehension));
}

pub(super) fn mentions(expr: &IdedExpr, name: &str) -> bool {
    let inside = |inner: &IdedExpr| mentions(inner, name);
    match &expr.expr {
        Expr::Ident(ident) => ident == name,
        Expr::Select(select) => inside(&select.operand),
        Expr::List(list) => list.elements.iter().any(inside),
        Expr::Map(map) => map.entries.iter().any(|entry| match &entry.expr {
            EntryExpr::StructField(field) => inside(&field.value),
            EntryExpr::MapEntry(entry) => inside(&entry.key) || inside(&entry.value),
        }),
        Expr::Call(call) => {
            call.target.as_deref().is_some_and(inside) || call.args.iter().any(inside)
        }
        Expr::Comprehension(comprehension) => [
            &comprehension.iter_range,
            &comprehension.accu_init,
            &comprehension.loop_cond,
            &comprehension.loop_step,
            &comprehension.result,
        ]
        .into_iter()
        .any(inside),
        Expr::Literal(_) | Expr::Unspecified | Expr::Struct(_) => false,
    }
}
