//! Formatting of values and paths as Go does.

use serde_json::{Number, Value};

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
        Ok(exponent) if !(-4..6).contains(&exponent) => {
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

/// A path, linked to that of its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPath<'a> {
    parent: Option<&'a Self>,
    segment: PathSegment<'a>,
}

#[derive(Clone, Copy, Debug)]
enum PathSegment<'a> {
    /// The prefix of all paths, often empty.
    Root(&'a str),
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

impl<'a> FieldPath<'a> {
    /// `base` is the path of the root value (`status`), or empty.
    pub(crate) const fn root(base: &'a str) -> Self {
        Self {
            parent: None,
            segment: PathSegment::Root(base),
        }
    }

    pub(crate) const fn field(&'a self, name: &'a str) -> Self {
        self.to(PathSegment::Field(name))
    }

    pub(crate) const fn key(&'a self, key: &'a str) -> Self {
        self.to(PathSegment::Key(key))
    }

    pub(crate) const fn index(&'a self, index: usize) -> Self {
        self.to(PathSegment::Index(index))
    }

    const fn to(&'a self, segment: PathSegment<'a>) -> Self {
        Self {
            parent: Some(self),
            segment,
        }
    }

    pub(crate) const fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    /// In the notation of the OpenAPI validator: relative to the root value, map keys with dots.
    pub(crate) fn dotted(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, false);
        text
    }

    fn write(&self, text: &mut String, bracketed: bool) {
        if let Some(parent) = self.parent {
            parent.write(text, bracketed);
        }
        match self.segment {
            PathSegment::Root(base) if bracketed => text.push_str(base),
            PathSegment::Root(_) => {}
            PathSegment::Field(name) if text.is_empty() => text.push_str(name),
            PathSegment::Field(name) => text.push_str(&format!(".{name}")),
            PathSegment::Key(key) if bracketed => text.push_str(&format!("[{key}]")),
            PathSegment::Key(key) => text.push_str(&format!(".{key}")),
            PathSegment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }

    /// The dotted path as the field of an error.
    pub(crate) fn as_field(&self) -> String {
        let dotted = self.dotted();
        let dotted = dotted.strip_prefix('.').unwrap_or(&dotted);
        match (self.base(), dotted) {
            ("", "") => NIL_PATH.to_owned(),
            (base, "") => base.to_owned(),
            ("", dotted) => dotted.to_owned(),
            (base, dotted) => format!("{base}.{dotted}"),
        }
    }

    /// The root value as the field of an error.
    pub(crate) fn root_field(&self) -> String {
        match self.base() {
            "" => NIL_PATH.to_owned(),
            base => base.to_owned(),
        }
    }

    /// In the notation of `field.Path`: map keys in brackets.
    pub(crate) fn bracketed(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, true);
        if text.is_empty() {
            NIL_PATH.clone_into(&mut text);
        }
        text
    }

    fn base(&self) -> &'a str {
        match (self.parent, self.segment) {
            (Some(parent), _) => parent.base(),
            (None, PathSegment::Root(base)) => base,
            (None, _) => "",
        }
    }
}

/// An empty `field.Path`, as Go prints it.
pub(crate) const NIL_PATH: &str = "<nil>";

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
            (json!(123_456.5), "123456.5"),
            (json!(123_456_789.25), "1.2345678925e+08"),
            (json!(0.000_01), "1e-05"),
            (json!("a\"b\u{1}ä"), "\"a\\\"b\\x01ä\""),
            (json!(true), "true"),
            (json!(null), "null"),
            (json!({"a": "<b>"}), "{\"a\":\"\\u003cb\\u003e\"}"),
        ] {
            assert_eq!(shown(&value), text);
        }
    }

    #[test]
    fn paths_are_written_in_two_ways() {
        let root = FieldPath::root("");
        let spec = root.field("spec");
        let list = spec.field("list");
        let item = list.index(3);
        let entry = item.key("a.b/c");
        assert_eq!(entry.dotted(), "spec.list[3].a.b/c");
        assert_eq!(entry.bracketed(), "spec.list[3][a.b/c]");
        assert_eq!(
            (root.as_field(), root.bracketed()),
            (NIL_PATH.into(), NIL_PATH.into())
        );
        assert_eq!(
            (root.key("k").dotted(), root.key("k").as_field()),
            (".k".into(), "k".into())
        );
        let status = FieldPath::root("status");
        let ready = status.field("ready");
        assert_eq!(ready.dotted(), "ready");
        assert_eq!(
            (ready.as_field(), status.as_field()),
            ("status.ready".into(), "status".into())
        );
    }
}
