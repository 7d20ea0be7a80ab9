//! The three patches that say what is different, as one type.

use serde_json::Value;

use crate::object::Object;
use crate::status::ApiError;

/// A change to be made to an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Patch {
    /// RFC 6902: a list of operations.
    Json(json_patch::Patch),
    /// RFC 7396: the fields to set, null to remove.
    Merge(Object),
    /// Kubernetes' merge that knows which lists are keyed.
    Strategic(Object),
}

impl Patch {
    /// Reads the operations of a JSON patch.
    pub(crate) fn json(body: Value) -> Result<Self, ApiError> {
        super::json::parse(body).map(Self::Json)
    }

    /// The patch, or the object that it makes, as messages show what could not be read.
    pub(crate) fn shown(&self, object: Object) -> String {
        match self {
            Self::Strategic(patch) => printed(&Value::Object(patch.clone())),
            _ => self
                .apply(object)
                .map(|patched| Value::Object(patched).to_string())
                .unwrap_or_default(),
        }
    }

    /// The object after the change.
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

/// A value as Go prints it.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(printed).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let fields = map.iter().map(|(k, v)| format!("{k}:{}", printed(v)));
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
    fn a_strategic_patch_is_shown_as_go_prints_it() {
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
