//! Formatting of values and errors as Go does.

use serde_json::{Number, Value};

use crate::field_error::FieldError;

/// A number as Go decodes it: an integer if it is written as one and fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Num {
    Int(i64),
    Float(f64),
}

impl Num {
    pub(crate) fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(whole) => Self::Int(whole),
            None => Self::Float(number.as_f64().unwrap_or(f64::MAX)),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "as Kubernetes compares them")]
    pub(crate) fn float(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Float(float) => float,
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::Int(whole) => whole.to_string(),
            Self::Float(float) => float_text(float),
        }
    }
}

/// Formats a float with `%v`: the shortest digits, with an exponent if very small or large.
pub(crate) fn float_text(float: f64) -> String {
    if !float.is_finite() || float == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{float:e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..21).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{float}"),
    }
}

/// Formats a string with `%q`.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Formats JSON as Go does, which escapes HTML characters.
pub(crate) fn json_text(value: &Value) -> String {
    let text = value.to_string();
    if !text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return text;
    }
    text.chars()
        .fold(String::with_capacity(text.len()), |mut out, c| {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    out.push_str(&format!("\\u{:04x}", u32::from(c)));
                }
                c => out.push(c),
            }
            out
        })
}

/// Formats a value for an error message.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(number) => Num::of(number).text(),
        other => json_text(other),
    }
}

/// The types of errors of apimachinery's `field` package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorType {
    Invalid,
    WrongType,
    NotSupported,
    Required,
    Duplicate,
    Forbidden,
    TooLong,
    TooMany,
}

impl ErrorType {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Invalid => ("FieldValueInvalid", "Invalid value"),
            Self::WrongType => ("FieldValueTypeInvalid", "Invalid value"),
            Self::NotSupported => ("FieldValueNotSupported", "Unsupported value"),
            Self::Required => ("FieldValueRequired", "Required value"),
            Self::Duplicate => ("FieldValueDuplicate", "Duplicate value"),
            Self::Forbidden => ("FieldValueForbidden", "Forbidden"),
            Self::TooLong => ("FieldValueTooLong", "Too long"),
            Self::TooMany => ("FieldValueTooMany", "Too many"),
        }
    }

    /// The error; without `shown`, the message has no value.
    pub(crate) fn at(
        self,
        field: impl Into<String>,
        shown: Option<&str>,
        detail: &str,
    ) -> FieldError {
        let (reason, label) = self.words();
        let mut message = label.to_owned();
        for part in [shown.unwrap_or_default(), detail] {
            if !part.is_empty() {
                message.push_str(": ");
                message.push_str(part);
            }
        }
        FieldError {
            reason,
            field: field.into(),
            message,
        }
    }

    /// True for errors that prevent the evaluation of rules, which may rely on their absence.
    pub(crate) fn blocks_rules(error: &FieldError) -> bool {
        [
            Self::NotSupported,
            Self::Required,
            Self::TooLong,
            Self::TooMany,
            Self::WrongType,
        ]
        .iter()
        .any(|fault| fault.words().0 == error.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_formatted_like_gos() {
        for (value, text) in [
            (json!(5), "5"),
            (json!(5.0), "5"),
            (json!(0.5), "0.5"),
            (json!(1e21), "1e+21"),
            (json!(123_456_789.25), "123456789.25"),
            (json!(0.000_01), "1e-05"),
            (json!("a\"b\u{1}ä"), "\"a\\\"b\\x01ä\""),
            (json!(true), "true"),
            (json!(null), "null"),
            (json!({"a": "<b>"}), "{\"a\":\"\\u003cb\\u003e\"}"),
        ] {
            assert_eq!(shown(&value), text);
        }
    }
}
