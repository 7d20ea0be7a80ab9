//! The report as JSON, its schema, and its parser.

use crate::classification::Feature;
use crate::report::{Report, SkipKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(super) fn render(report: &Report) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}

/// The JSON Schema (draft 2020-12) of a [`Report`] or a
/// [`ConformanceReport`](super::ConformanceReport), as in `tests/conformance/schema/`.
///
/// It allows additional fields, because later versions may add some.
pub fn schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(T).to_value();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema
}

/// Parses a report, also one of a later version: unknown parts are ignored.
///
/// # Errors
/// When a required field is missing or of a wrong type.
pub fn read(text: &str) -> Result<Report, serde_json::Error> {
    let mut report: Value = serde_json::from_str(text)?;
    if let Some(Value::Array(features)) = report.get_mut("features") {
        features.retain(|feature| Feature::deserialize(feature).is_ok());
    }
    if let Some(Value::Array(results)) = report.get_mut("results") {
        for result in results.iter_mut().filter_map(Value::as_object_mut) {
            let is_known = |kind: &Value| Option::<SkipKind>::deserialize(kind).is_ok();
            if !result.get("skip").is_none_or(is_known) {
                result.remove("skip");
            }
        }
    }
    serde_json::from_value(report)
}
