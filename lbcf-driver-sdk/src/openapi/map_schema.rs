//! From the JSON Schema of a driver's type to the schema of its map, in which every value is a text.

use serde_json::{Map, Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

const DECIMAL: &str = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?";

/// The ranges of integers whose schema has a format and no bounds.
const RANGES: [(&str, i128, u128); 8] = [
    ("int32", i32::MIN as i128, i32::MAX as u128),
    ("int64", i64::MIN as i128, i64::MAX as u128),
    ("int128", i128::MIN, i128::MAX as u128),
    ("int", isize::MIN as i128, isize::MAX as u128),
    ("uint32", 0, u32::MAX as u128),
    ("uint64", 0, u64::MAX as u128),
    ("uint128", 0, u128::MAX),
    ("uint", 0, usize::MAX as u128),
];

/// `None` for a type that has no fields of its own and allows any keys.
pub(super) fn map_schema(of: &Value, description: &str) -> Option<RefOr<Schema>> {
    let no_keys = of["type"] == "null";
    let no_fields = Map::new();
    let fields = match of["properties"].as_object() {
        Some(fields) => fields,
        None if no_keys => &no_fields,
        None => return None,
    };
    let required = of["required"].as_array().map_or(&[][..], Vec::as_slice);
    let properties = fields.iter().map(|(name, field)| {
        let is_required = required.iter().any(|required| required == name);
        (name.clone(), field_schema(field, is_required))
    });
    let others = match no_keys || of["additionalProperties"] == false {
        true => json!(false),
        false => json!({"type": "string"}),
    };
    let schema = json!({
        "type": "object",
        "description": description,
        "properties": properties.collect::<Map<_, _>>(),
        "required": required,
        "additionalProperties": others,
    });
    serde_json::from_value(schema).ok()
}

/// An optional field may be an empty text.
fn field_schema(field: &Value, is_required: bool) -> Value {
    let expected = expected(field);
    let mut words = expected.chars();
    let first = words.next().map(|c| c.to_uppercase().to_string());
    let mut description = format!("{}{}.", first.unwrap_or_default(), words.as_str());
    if let Some(own) = field["description"].as_str() {
        description = format!("{own}\n\n{description}");
    }
    let mut schema = json!({"type": "string", "description": description});
    let of = without_null(field);
    if kind(of) == "string" {
        for keyword in ["format", "maxLength", "contentMediaType", "examples"] {
            if let Some(value) = of.get(keyword) {
                schema[keyword] = value.clone();
            }
        }
    }
    if let Some(mut words) = words_of(of) {
        words.extend((!is_required).then_some(""));
        schema["enum"] = json!(words);
    } else if let Some(pattern) = pattern(of) {
        let may_be_empty = if is_required { "" } else { "?" };
        schema["pattern"] = json!(format!("^({pattern}){may_be_empty}$"));
    } else if is_required {
        schema["minLength"] = json!(1);
    }
    if kind(of) == "object" {
        schema["contentMediaType"] = json!("application/json");
    }
    schema
}

/// The schema of an `Option`'s content.
fn without_null(of: &Value) -> &Value {
    let variants = of["anyOf"].as_array().map(Vec::as_slice);
    match variants {
        Some([content, null]) if null["type"] == "null" => content,
        _ => of,
    }
}

/// The type, without `null`.
fn named_type(of: &Value) -> Option<&str> {
    let several = of["type"].as_array();
    let mut types = several.into_iter().flatten().chain([&of["type"]]);
    types.find_map(|found| found.as_str().filter(|found| *found != "null"))
}

/// The type of the value, `object` for whatever is JSON text.
fn kind(of: &Value) -> &str {
    let word = || words_of(of).map(|_| "string");
    named_type(of).or_else(word).unwrap_or("object")
}

/// The texts of a bool, or of an enum without data.
fn words_of(of: &Value) -> Option<Vec<&str>> {
    if named_type(of) == Some("boolean") {
        return Some(vec!["true", "false"]);
    }
    if let Some(words) = of["enum"].as_array() {
        return Some(words.iter().filter_map(Value::as_str).collect());
    }
    // Each variant with a description is one; those without are an `enum` among them.
    let mut words = Vec::new();
    for variant in of["oneOf"].as_array()? {
        match &variant["const"] {
            Value::String(word) => words.push(word.as_str()),
            _ => words.extend(words_of(variant)?),
        }
    }
    Some(words)
}

/// The bounds of an integer.
fn bounds(of: &Value) -> (i128, u128) {
    let format = of["format"].as_str().unwrap_or("int128");
    let range = RANGES.into_iter().find(|(name, _, _)| *name == format);
    let (_, min, max) = range.unwrap_or(("", i128::MIN, u128::MAX));
    (
        of["minimum"].as_i64().map_or(min, i128::from),
        of["maximum"].as_u64().map_or(max, u128::from),
    )
}

fn pattern(of: &Value) -> Option<&'static str> {
    let pattern = match kind(of) {
        "integer" => match bounds(of) {
            (1.., _) => "[1-9][0-9]*",
            (0, _) => "0|[1-9][0-9]*",
            _ => "0|-?[1-9][0-9]*",
        },
        "number" => DECIMAL,
        _ => return None,
    };
    Some(pattern)
}

/// The words of error messages about such a value.
fn expected(of: &Value) -> String {
    let of = without_null(of);
    if let Some(words) = words_of(of) {
        return match kind(of) {
            "boolean" => "true or false".to_owned(),
            _ => format!("one of {}", words.join(", ")),
        };
    }
    match kind(of) {
        "integer" => {
            let (min, max) = bounds(of);
            format!("a number from {min} to {max}")
        }
        "number" => "a number such as 1 or 0.25".to_owned(),
        "array" => format!(
            "a list separated by commas, each {}",
            expected(&of["items"])
        ),
        "string" if of["maxLength"] == 1 => "a single character".to_owned(),
        "string" if of["contentMediaType"].is_null() => "a text".to_owned(),
        _ => "JSON text".to_owned(),
    }
}

#[cfg(test)]
mod tests;
