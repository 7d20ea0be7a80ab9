//! The patch types besides server-side apply.

use serde_json::Value;

use crate::object::Object;
use crate::status::ApiError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Patch {
    /// A JSON patch (RFC 6902).
    Json(json_patch::Patch),
    /// A JSON merge patch (RFC 7396).
    Merge(Object),
    /// A strategic merge patch, which merges lists by keys.
    Strategic(Object),
}

impl Patch {
    /// Decodes a JSON patch.
    pub(crate) fn json(body: Value) -> Result<Self, ApiError> {
        super::json::parse(body).map(Self::Json)
    }

    /// The text of error messages: a strategic patch, or the result of any other.
    pub(crate) fn shown(&self, object: Object) -> String {
        match self {
            Self::Strategic(patch) => go_format(&Value::Object(patch.clone())),
            _ => self
                .apply(object)
                .map(|patched| Value::Object(patched).to_string())
                .unwrap_or_default(),
        }
    }

    pub(crate) fn apply(&self, object: Object) -> Result<Object, ApiError> {
        let mut value = Value::Object(object);
        match self {
            Self::Json(patch) => super::json::apply(&mut value, patch)?,
            Self::Merge(patch) => json_patch::merge(&mut value, &Value::Object(patch.clone())),
            Self::Strategic(patch) => super::strategic::merge(&mut value, patch),
        }
        match value {
            Value::Object(object) => Ok(object),
            _ => Err(ApiError::bad_request("the patch leaves no object")),
        }
    }
}

/// Formats a value as Go's `%v` does: `map[a:1 b:[x y]]`.
pub(crate) fn go_format(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_format).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let fields = map.iter().map(|(k, v)| format!("{k}:{}", go_format(v)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    #[test]
    fn a_strategic_patch_is_formatted_as_go_does() {
        let patch = json!({"spec": {"containers": null, "x": [{"port": 80, "on": true}, "a"]}});
        assert_eq!(
            Patch::Strategic(object(patch.clone())).shown(Object::new()),
            "map[spec:map[containers:<nil> x:[map[on:true port:80] a]]]"
        );
        let merged = Patch::Merge(object(patch)).shown(object(json!({"a": 1})));
        assert_eq!(
            merged,
            r#"{"a":1,"spec":{"x":[{"on":true,"port":80},"a"]}}"#
        );
    }
}
