//! Paths of fields in definitions: `.spec.port`, `.labels['a.b']`.

use crate::schema::node::{AdditionalProperties, Node};

/// The normalised path and the schema of the field.
pub(crate) fn find_field<'a>(
    path: &str,
    node: &'a Node,
    brackets: bool,
) -> Result<(String, Option<&'a Node>), String> {
    let mut node = Some(node);
    let mut out = String::new();
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let name = match c {
            '.' => {
                let end = after.find(['.', '[', ']']).unwrap_or(after.len());
                let (name, left) = after.split_at(end);
                if name.is_empty() && left.is_empty() {
                    return Err("unexpected end of JSON path".to_owned());
                }
                rest = left;
                name.to_owned()
            }
            '[' if !brackets => return Err("array notation is not allowed".to_owned()),
            '[' => {
                let (name, left) = quoted_key(after)?;
                rest = left;
                name
            }
            _ => {
                let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
                let token = rest.get(..end.max(1)).unwrap_or(rest);
                return Err(format!("expected [ or . but got: {token}"));
            }
        };
        let here = node.ok_or("does not refer to a valid field")?;
        if here.properties.is_empty() {
            if matches!(here.additional, AdditionalProperties::Unspecified) {
                return Err("does not refer to a valid field".to_owned());
            }
            out.push_str(&format!("[{name}]"));
            node = here.additional.node();
        } else {
            let property = here.properties.get(&name);
            node = Some(property.ok_or("does not refer to a valid field")?);
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&name);
        }
    }
    Ok((out, node))
}

/// The key in `'key']`, and the rest of the path.
fn quoted_key(text: &str) -> Result<(String, &str), String> {
    let Some(inner) = text.strip_prefix('\'') else {
        let end = text.find(['.', '[', ']']).unwrap_or(text.len());
        let token = text.get(..end).unwrap_or_default();
        return Err(format!("expected single quoted string but got {token}"));
    };
    let mut key = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, c @ ('\'' | '\\'))) => key.push(c),
                Some((_, 'n')) => key.push('\n'),
                Some((_, 't')) => key.push('\t'),
                other => {
                    let c = other.map(|(_, c)| c).unwrap_or_default();
                    return Err(format!("invalid string literal: invalid escape char \\{c}"));
                }
            },
            '\'' => {
                let rest = inner.get(at + 1..).unwrap_or_default();
                return match rest.strip_prefix(']') {
                    Some(left) => Ok((key, left)),
                    None => Err("unexpected end of JSON path".to_owned()),
                };
            }
            c => key.push(c),
        }
    }
    Err("unexpected end of JSON path".to_owned())
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
        for (path, result) in [
            (".spec.port", Ok("spec.port")),
            (".spec['a.b']", Ok("spec.a.b")),
            (".map['k']", Ok("map[k]")),
            (".map.k", Ok("map[k]")),
            (".spec.nope", Err("does not refer to a valid field")),
            (".spec.port.deep", Err("does not refer to a valid field")),
            ("spec", Err("expected [ or . but got: spec")),
            (".spec[0]", Err("expected single quoted string but got 0")),
            (".spec.", Err("unexpected end of JSON path")),
        ] {
            let found = find_field(path, &node, true).map(|(path, _)| path);
            assert_eq!(
                found,
                result.map(str::to_owned).map_err(str::to_owned),
                "{path}"
            );
        }
        assert!(find_field(".spec['a.b']", &node, false).is_err());
    }
}
