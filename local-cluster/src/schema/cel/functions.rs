//! The functions of rules: the library's, Kubernetes', and a few that both lack.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};

use kube_cel::KubeCelExt as _;
use kube_cel::cel::common::ast::{CallExpr, Expr};
use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Key, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, FunctionContext, IdedExpr, Value};
use regex::Regex;

use super::repair::{OPTIONAL_FIELD, TICK};
use crate::schema::pattern::compiled_once;

/// The limit on loop iterations of all rules for one object.
const MAX_ROUNDS: u64 = 1_000_000;

pub(super) const OUT_OF_BUDGET: &str = "operation cancelled: actual cost limit exceeded";

thread_local! {
    static ROUNDS: Cell<u64> = const { Cell::new(0) };
}

pub(super) fn reset_budget() {
    ROUNDS.set(MAX_ROUNDS);
}

/// The context that all rules share.
pub(super) static BASE: LazyLock<Context<'static>> = LazyLock::new(|| {
    let mut context = Context::default().with_all();
    context.add_function(TICK, tick);
    context.add_function(OPTIONAL_FIELD, optional_field);
    context.add_function("type", |value: Value| -> Result<Value, ExecutionError> {
        Ok(type_value(type_name(&value)))
    });
    context.add_function("dyn", |value: Value| -> Result<Value, ExecutionError> {
        Ok(value)
    });
    context.add_function("size", size);
    context.add_function("matches", matches);
    context.add_function("string", string);
    context.add_function("bool", bool_of);
    for name in TYPES {
        context.add_variable_from_value(*name, type_value(name));
    }
    context
});

pub(super) const TYPES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "uint",
];

fn tick(_: &FunctionContext<'_, '_>) -> Result<Value, ExecutionError> {
    let left = ROUNDS.get();
    if left == 0 {
        return Err(ExecutionError::function_error(TICK, OUT_OF_BUDGET));
    }
    ROUNDS.set(left - 1);
    Ok(Value::Bool(true))
}

fn optional_field(value: Value, field: Arc<String>) -> Result<Value, ExecutionError> {
    let of = |value: &Value| match value {
        Value::Map(map) => map
            .map
            .get(&Key::String(Arc::clone(&field)))
            .map_or_else(OptionalValue::none, |found| {
                OptionalValue::of(found.clone())
            }),
        _ => OptionalValue::none(),
    };
    let found = match <&OptionalValue>::try_from(&value) {
        Ok(optional) => optional.value().map_or_else(OptionalValue::none, of),
        Err(_) => of(&value),
    };
    Ok(Value::Opaque(Arc::new(found)))
}

/// The library without the overrides of this module.
static LIBRARY: LazyLock<Context<'static>> = LazyLock::new(|| Context::default().with_all());

/// Adds booleans to the library's `string`.
fn string(value: Value) -> Result<Value, ExecutionError> {
    if let Value::Bool(flag) = value {
        return Ok(Value::String(Arc::new(flag.to_string())));
    }
    let with_id = |expr| IdedExpr { id: 0, expr };
    let call = with_id(Expr::Call(CallExpr {
        func_name: "string".to_owned(),
        target: None,
        args: vec![with_id(Expr::Ident("value".to_owned()))],
    }));
    let mut context = LIBRARY.new_inner_scope();
    context.add_variable_from_value("value", value);
    Value::resolve(&call, &context)
}

fn bool_of(value: Value) -> Result<bool, ExecutionError> {
    match &value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(ExecutionError::function_error(
                "bool",
                "type conversion error from 'string' to 'bool'",
            )),
        },
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

/// Counts characters; the library counts bytes.
fn size(This(this): This<Value>) -> Result<i64, ExecutionError> {
    let length = match &this {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.map.len(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(i64::try_from(length).unwrap_or(i64::MAX))
}

fn matches(This(this): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    let compiled = compiled_once(&pattern, Regex::new).map_err(|error| {
        let why = format!("'{pattern}' not a valid regex:\n{error}");
        ExecutionError::function_error("matches", why)
    })?;
    Ok(compiled.is_match(&this))
}

/// A type as a value, equal only to the same type.
fn type_value(name: &str) -> Value {
    Value::String(Arc::new(format!("\0type {name}")))
}

const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Bytes(_) => "bytes",
        Value::Float(_) => "double",
        Value::Int(_) => "int",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Null => "null_type",
        Value::String(_) => "string",
        Value::UInt(_) => "uint",
        _ => "dyn",
    }
}
