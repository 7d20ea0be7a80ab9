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
