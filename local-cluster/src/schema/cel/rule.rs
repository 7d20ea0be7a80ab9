//! Compilation of rules, and the paths of fields that they name.

use std::collections::BTreeMap;

use kube_cel::cel::IdedExpr;
use kube_cel::cel::parser::Parser;
use serde_json::Value;

use super::check::{self, RuleScope};
use super::types::Type;
use super::{repair, stack};
use crate::field_error::ErrorType;
use crate::object::{items_in, string};
use crate::schema::node::{AdditionalProperties, Node};

/// Parsing takes stack for each operator; rules that people write have far fewer.
const MAX_OPERATORS: usize = 1000;

/// The rules of a schema and of the schemas inside it; parts without rules are left out.
#[derive(Debug)]
pub(crate) struct RuleTree {
    pub(crate) rules: Vec<ValidationRule>,
    pub(super) properties: BTreeMap<String, Self>,
    pub(super) values: Option<Box<Self>>,
    pub(super) items: Option<Box<Self>>,
    /// The largest nesting depth of an expression.
    pub(super) depth: usize,
}

impl RuleTree {
    /// `None` without rules. `node` is the compiled schema.
    pub(crate) fn read(schema: &Value, node: &Node) -> Option<Self> {
        Self::read_at(schema, node, true)
    }

    fn read_at(schema: &Value, node: &Node, root: bool) -> Option<Self> {
        let below = |key: &str, node: Option<&Node>| {
            Self::read_at(schema.get(key)?, node?, false).map(Box::new)
        };
        let rules = ValidationRule::read_all(schema, node, root);
        let properties = node.properties.iter().filter_map(|(name, node)| {
            let schema = schema.get("properties")?.get(name)?;
            Some((name.clone(), Self::read_at(schema, node, false)?))
        });
        let properties: BTreeMap<String, Self> = properties.collect();
        let (values, items) = (
            below("additionalProperties", node.values()),
            below("items", node.items()),
        );
        let inside = properties.values().chain(values.as_deref());
        let depths = inside.chain(items.as_deref()).map(|tree| tree.depth);
        let depth = rules.iter().map(ValidationRule::depth).chain(depths).max();
        Some(Self {
            depth: depth?,
            rules,
            properties,
            values,
            items,
        })
    }

    pub(crate) fn property(&self, name: &str) -> Option<&Self> {
        self.properties.get(name)
    }

    pub(crate) fn values(&self) -> Option<&Self> {
        self.values.as_deref()
    }

    pub(crate) fn items(&self) -> Option<&Self> {
        self.items.as_deref()
    }
}

/// One entry of `x-kubernetes-validations`.
#[derive(Debug)]
pub(crate) struct ValidationRule {
    pub(super) source: String,
    pub(super) message: String,
    pub(super) fault: ErrorType,
    /// The field to report, relative to the value; empty for the value itself.
    pub(super) field_path: String,
    /// The rule is evaluated without an old value, too.
    pub(super) optional_old_self: bool,
    /// `None` if the rule is empty.
    pub(crate) program: Option<Result<Program, String>>,
    pub(crate) message_program: Option<Result<Program, String>>,
}

#[derive(Debug)]
pub(crate) struct Program {
    pub(super) expr: IdedExpr,
    pub(super) depth: usize,
    pub(crate) uses_old_self: bool,
}

impl ValidationRule {
    fn read_all(schema: &Value, node: &Node, root: bool) -> Vec<Self> {
        let rules = items_in(schema, "x-kubernetes-validations");
        rules.map(|rule| Self::read(rule, node, root)).collect()
    }

    fn read(rule: &Value, node: &Node, root: bool) -> Self {
        let word = |key: &str| string(rule, key);
        let optional_old_self = rule.get("optionalOldSelf").and_then(Value::as_bool) == Some(true);
        let scope = RuleScope {
            node,
            root: root || node.embedded,
            optional_old_self,
        };
        let source = word("rule").trim().to_owned();
        let expression = word("messageExpression");
        let field_path = find_field(word("fieldPath"), node, true);
        Self {
            message: word("message").trim().to_owned(),
            fault: match word("reason") {
                "FieldValueForbidden" => ErrorType::Forbidden,
                "FieldValueRequired" => ErrorType::Required,
                "FieldValueDuplicate" => ErrorType::Duplicate,
                _ => ErrorType::Invalid,
            },
            field_path: field_path.map(|(path, _)| path).unwrap_or_default(),
            optional_old_self,
            program: (!source.is_empty()).then(|| {
                let program = compile(word("rule"), &scope, "compilation failed: ")?;
                match program.1 {
                    Type::Bool | Type::Dyn => Ok(program.0),
                    _ => Err("cel expression must evaluate to a bool".to_owned()),
                }
            }),
            message_program: (!expression.is_empty()).then(|| {
                let program =
                    compile(expression, &scope, "messageExpression compilation failed: ")?;
                match program.1 {
                    Type::String | Type::Dyn => Ok(program.0),
                    _ => Err("messageExpression must evaluate to a string".to_owned()),
                }
            }),
            source,
        }
    }

    /// The nesting depth of its expressions.
    fn depth(&self) -> usize {
        let depth = |program: &Option<Result<Program, String>>| match program {
            Some(Ok(program)) => program.depth,
            _ => 0,
        };
        depth(&self.program).max(depth(&self.message_program))
    }
}

/// Parses, adjusts and type-checks an expression.
fn compile<'a>(
    source: &str,
    scope: &RuleScope<'a>,
    failed: &str,
) -> Result<(Program, Type<'a>), String> {
    if operators(source) > MAX_OPERATORS {
        let why = format!("{failed}ERROR: <input>:-1:0: expression has too many operators");
        return Err(why);
    }
    let compiled = stack::with_large_stack(|| {
        let mut expr = Parser::new()
            .enable_optional_syntax(true)
            .parse(source)
            .map_err(|errors| errors.to_string().replace("\n| ", "\n | "))?;
        let at_start = |why: String| check::located(source, 0, &why);
        let depth = repair::repair(&mut expr).map_err(at_start)?;
        let found = check::check(&expr, source, scope)?;
        let program = Program {
            depth,
            uses_old_self: repair::mentions(&expr, "oldSelf"),
            expr,
        };
        Ok::<_, String>((program, found))
    });
    compiled
        .unwrap_or_else(|| Err("ERROR: <input>:1:1: internal error".to_owned()))
        .map_err(|why| format!("{failed}{why}"))
}

/// An upper bound of the nesting depth: each level takes a punctuation character outside of
/// strings.
fn operators(source: &str) -> usize {
    let mut quote = None;
    let mut count = 0;
    for c in source.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            (c, None) => count += usize::from(c.is_ascii_punctuation() && c != '_'),
        }
    }
    // An unclosed or escaped quote would hide the rest.
    if source.contains('\\') || quote.is_some() {
        return source.chars().filter(char::is_ascii_punctuation).count();
    }
    count
}

/// The normalised path and the schema of a field at a path such as `.spec.port` or `.labels['a.b']`, the latter
/// with `brackets` only.
pub(crate) fn find_field<'a>(
    path: &str,
    node: &'a Node,
    brackets: bool,
) -> Option<(String, Option<&'a Node>)> {
    let mut node = Some(node);
    let mut out = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (name, left) = match rest.strip_prefix('.') {
            Some(after) => {
                let (name, left) =
                    after.split_at(after.find(['.', '[', ']']).unwrap_or(after.len()));
                (name.to_owned(), left)
            }
            None => quoted_key(rest.strip_prefix('[').filter(|_| brackets)?)?,
        };
        rest = left;
        let here = node?;
        if here.properties.is_empty() {
            if matches!(here.additional, AdditionalProperties::Unspecified) {
                return None;
            }
            out.push_str(&format!("[{name}]"));
            node = here.additional.node();
        } else {
            node = Some(here.properties.get(&name)?);
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&name);
        }
    }
    Some((out, node))
}

/// The key in `'key']`, and the rest of the path.
fn quoted_key(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('\'')?;
    let mut key = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => key.push(match chars.next()?.1 {
                c @ ('\'' | '\\') => c,
                'n' => '\n',
                't' => '\t',
                _ => return None,
            }),
            '\'' => return Some((key, inner.get(at + 1..)?.strip_prefix(']')?)),
            c => key.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_fields() {
        let node = Node::read(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"a.b": {"type": "string"}, "port": {"type": "integer"}}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }}));
        for (path, expected) in [
            (".spec.port", Some("spec.port")),
            (".spec['a.b']", Some("spec.a.b")),
            (".map['k']", Some("map[k]")),
            (".map.k", Some("map[k]")),
            (".spec.nope", None),
            (".spec.port.deep", None),
            ("spec", None),
            (".spec[0]", None),
            (".spec.", None),
        ] {
            let found = find_field(path, &node, true).map(|(path, _)| path);
            assert_eq!(found.as_deref(), expected, "{path}");
        }
        assert!(find_field(".spec['a.b']", &node, false).is_none());
    }
}
