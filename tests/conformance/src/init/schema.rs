//! The maps of requests in a driver's OpenAPI document.
//!
//! The document is untrusted, and unknown parts are ignored.

use crate::fixture::placeholders;
use serde_json::Value;

const MAX_FIELDS: usize = 64;
/// The most references to follow, because they may be circular.
const MAX_STEPS: usize = 8;
/// The longest description, in characters.
const MAX_ABOUT: usize = 300;
/// The longest suggested name and value, in characters.
const MAX_TEXT: usize = 200;
/// Replaces an unknown value.
pub(super) const FILL_IN: &str = "FILL-IN";

/// The fields of maps; empty for undocumented maps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Maps {
    /// The keys of `lbSpec`.
    pub lb_spec: Vec<Field>,
    /// The keys of `attributes`.
    pub attributes: Vec<Field>,
    /// The keys of `parameters`.
    pub parameters: Vec<Field>,
    /// The keys of `lbInfo`.
    pub lb_info: Vec<Field>,
}

/// A field of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key in the map.
    pub name: String,
    /// True if the document requires it.
    pub is_required: bool,
    /// The description on one line.
    pub about: String,
    /// A sample value from the document, or else a guess by the name and the type.
    pub example: String,
}

impl Maps {
    /// True if no field is known.
    pub const fn is_empty(&self) -> bool {
        self.lb_spec.is_empty()
            && self.attributes.is_empty()
            && self.parameters.is_empty()
            && self.lb_info.is_empty()
    }

    /// Reads an OpenAPI document.
    ///
    /// ```
    /// use lbcf_conformance::init::Maps;
    /// use serde_json::json;
    ///
    /// let maps = Maps::of(&json!({
    ///     "paths": {"/createLoadBalancer": {"post": {"requestBody": {"content": {
    ///         "application/json": {"schema": {"$ref": "#/components/schemas/Create"}}}}}}},
    ///     "components": {"schemas": {"Create": {"properties": {"lbSpec": {
    ///         "properties": {"scheme": {"enum": ["internal", "internet"]}},
    ///         "required": ["scheme"]}}}}},
    /// }));
    /// assert_eq!(maps.lb_spec[0].name, "scheme");
    /// assert_eq!(maps.lb_spec[0].example, "internal");
    /// ```
    pub fn of(document: &Value) -> Self {
        let map = |webhook: &str, property: &str| {
            let request = request(document, webhook)?;
            let map = with_properties(document, request)?;
            let map = map.get("properties")?.get(property)?;
            Some(fields(document, with_properties(document, map)?))
        };
        let map = |webhook, property| map(webhook, property).unwrap_or_default();
        Self {
            lb_spec: map("createLoadBalancer", "lbSpec"),
            attributes: map("createLoadBalancer", "attributes"),
            parameters: map("ensureBackend", "parameters"),
            lb_info: map("ensureBackend", "lbInfo"),
        }
    }
}

/// The schema of a webhook's request, below any path.
fn request<'a>(document: &'a Value, webhook: &str) -> Option<&'a Value> {
    let paths = document.get("paths")?.as_object()?;
    let (_, path) = paths
        .iter()
        .find(|(path, _)| path.trim_end_matches('/').rsplit('/').next() == Some(webhook))?;
    let content = path.get("post")?.get("requestBody")?.get("content")?;
    let json = content.get("application/json");
    let any = || content.as_object()?.values().next();
    json.or_else(any)?.get("schema")
}

/// The schema, or a referenced one, with properties.
fn with_properties<'a>(document: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let mut next = vec![schema];
    for _ in 0..MAX_STEPS {
        let schema = next.pop()?;
        if schema.get("properties").is_some_and(Value::is_object) {
            return Some(schema);
        }
        next.extend(referred(document, schema));
        for several in ["oneOf", "anyOf", "allOf"] {
            let several = schema.get(several).and_then(Value::as_array);
            next.extend(several.into_iter().flatten().take(MAX_STEPS));
        }
    }
    None
}

fn referred<'a>(document: &'a Value, schema: &Value) -> Option<&'a Value> {
    let reference = schema.get("$ref")?.as_str()?;
    document.pointer(reference.strip_prefix('#')?)
}

fn fields(document: &Value, map: &Value) -> Vec<Field> {
    let required = |name: &str| {
        let required = map.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let properties = map.get("properties").and_then(Value::as_object);
    let mut fields: Vec<Field> = properties
        .into_iter()
        .flatten()
        .filter_map(|(name, schema)| field(document, name, schema, required(name)))
        .take(MAX_FIELDS)
        .collect();
    // Required fields first, then by name.
    fields.sort_by_key(|field| !field.is_required);
    fields
}

fn field(document: &Value, name: &str, schema: &Value, is_required: bool) -> Option<Field> {
    let schema = match referred(document, schema) {
        Some(referred) => referred,
        None => schema,
    };
    let about = about(schema);
    // The SDK describes aliases of fields so.
    if name.is_empty()
        || name.chars().count() > MAX_TEXT
        || name.contains("{{")
        || name.contains(char::is_control)
        || about.starts_with("Another name of ")
    {
        return None;
    }
    Some(Field {
        name: name.to_owned(),
        is_required,
        about,
        example: example(name, schema),
    })
}

fn about(schema: &Value) -> String {
    let text = |field: &str| schema.get(field).and_then(Value::as_str);
    let mut about = text("description")
        .or(text("title"))
        .unwrap_or_default()
        .to_owned();
    let words: Vec<String> = schema
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(as_text)
        .filter(|word| !word.is_empty() && !about.contains(word.as_str()))
        .take(MAX_FIELDS)
        .collect();
    if !words.is_empty() {
        about = format!("{about} One of {}.", words.join(", "));
    }
    let limit = |field: &str| schema.get(field).and_then(as_text);
    match (limit("minimum"), limit("maximum")) {
        (Some(least), Some(most)) => about = format!("{about} From {least} to {most}."),
        (Some(least), None) => about = format!("{about} At least {least}."),
        (None, Some(most)) => about = format!("{about} At most {most}."),
        (None, None) => {}
    }
    one_line(&about, MAX_ABOUT)
}

fn example(name: &str, schema: &Value) -> String {
    let first = |field: &str| {
        let several = schema.get(field)?.as_array()?;
        several
            .iter()
            .filter_map(as_text)
            .find(|text| !text.is_empty())
    };
    let single = |field: &str| schema.get(field).and_then(as_text);
    single("example")
        .or_else(|| first("examples"))
        .or_else(|| single("const"))
        .or_else(|| single("default"))
        .or_else(|| first("enum"))
        .filter(|text| is_suggestible(text))
        .unwrap_or_else(|| guess(name, schema))
}

/// A value by the name and the type of a field.
fn guess(name: &str, schema: &Value) -> String {
    let name = name.to_ascii_lowercase();
    let kind = schema.get("type").and_then(Value::as_str);
    let pattern = schema
        .get("pattern")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if name.ends_with("port") {
        return "{{number}}".to_owned();
    }
    let least = schema.get("minimum").and_then(as_text);
    if let Some(least) = least.filter(|least| is_suggestible(least)) {
        return least;
    }
    // The SDK uses such patterns for numbers.
    if matches!(kind, Some("integer" | "number")) || pattern.contains("[1-9][0-9]*") {
        return "1".to_owned();
    }
    if kind == Some("boolean") {
        return "false".to_owned();
    }
    if name.ends_with("name") {
        return "{{unique}}".to_owned();
    }
    FILL_IN.to_owned()
}

fn is_suggestible(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= MAX_TEXT
        && !text.contains(char::is_control)
        && !placeholders::has_any(text)
}

/// All values on the wire are strings.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An untrusted text on one line: without control characters, and cut after `most` characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let is_breaking = |c: char| c.is_control() || c.is_whitespace() || c == '\u{feff}';
    let words: Vec<&str> = text
        .split(is_breaking)
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
