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
    let mut paths = document["paths"].as_object()?.iter();
    let is_of = |path: &str| path.trim_end_matches('/').rsplit('/').next() == Some(webhook);
    let (_, path) = paths.find(|(path, _)| is_of(path))?;
    let content = path["post"]["requestBody"]["content"].as_object()?;
    let json = content.get("application/json");
    json.or_else(|| content.values().next())?.get("schema")
}

/// The schema, or a referenced one, with properties.
fn with_properties<'a>(document: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let mut next = vec![schema];
    for _ in 0..MAX_STEPS {
        let schema = next.pop()?;
        if schema["properties"].is_object() {
            return Some(schema);
        }
        next.extend(referred(document, schema));
        let several = ["oneOf", "anyOf", "allOf"].into_iter();
        let several = several.filter_map(|name| schema[name].as_array());
        next.extend(several.flatten().take(MAX_STEPS));
    }
    None
}

fn referred<'a>(document: &'a Value, schema: &Value) -> Option<&'a Value> {
    let reference = schema.get("$ref")?.as_str()?;
    document.pointer(reference.strip_prefix('#')?)
}

fn fields(document: &Value, map: &Value) -> Vec<Field> {
    let required = map["required"].as_array();
    let is_required = |name| required.is_some_and(|names| names.iter().any(|other| other == name));
    let properties = map["properties"].as_object().into_iter().flatten();
    let mut fields: Vec<Field> = properties
        .filter_map(|(name, schema)| field(document, name, schema, is_required(name)))
        .take(MAX_FIELDS)
        .collect();
    // Required fields first, then by name.
    fields.sort_by_key(|field| !field.is_required);
    fields
}

fn field(document: &Value, name: &str, schema: &Value, is_required: bool) -> Option<Field> {
    let schema = referred(document, schema).unwrap_or(schema);
    let about = about(schema);
    // The SDK describes aliases of fields so.
    if !is_suggestible(name) || about.starts_with("Another name of ") {
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
    let text = |field: &str| schema[field].as_str();
    let about = text("description").or(text("title"));
    let mut about = about.unwrap_or_default().to_owned();
    let words: Vec<String> = texts(schema, "enum")
        .filter(|word| !about.contains(word.as_str()))
        .take(MAX_FIELDS)
        .collect();
    if !words.is_empty() {
        about += &format!(" One of {}.", words.join(", "));
    }
    about += &match (as_text(&schema["minimum"]), as_text(&schema["maximum"])) {
        (Some(least), Some(most)) => format!(" From {least} to {most}."),
        (Some(least), None) => format!(" At least {least}."),
        (None, Some(most)) => format!(" At most {most}."),
        (None, None) => String::new(),
    };
    one_line(&about, MAX_ABOUT)
}

fn example(name: &str, schema: &Value) -> String {
    let single = |field: &str| as_text(&schema[field]);
    let first = |field: &str| texts(schema, field).next();
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
    if name.ends_with("port") {
        return "{{number}}".to_owned();
    }
    let least = as_text(&schema["minimum"]);
    if let Some(least) = least.filter(|least| is_suggestible(least)) {
        return least;
    }
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    let guess = match schema["type"].as_str() {
        Some("integer" | "number") => "1",
        // The SDK uses such patterns for numbers.
        _ if pattern.contains("[1-9][0-9]*") => "1",
        Some("boolean") => "false",
        _ if name.ends_with("name") => "{{unique}}",
        _ => FILL_IN,
    };
    guess.to_owned()
}

fn is_suggestible(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= MAX_TEXT
        && !text.contains(char::is_control)
        && !placeholders::has_any(text)
}

/// The items of a list that have a text.
fn texts(schema: &Value, field: &str) -> impl Iterator<Item = String> {
    let items = schema[field].as_array().into_iter().flatten();
    items.filter_map(as_text).filter(|text| !text.is_empty())
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
    let words = text.split(is_breaking).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
