//! Schemas of a driver's maps.

use super::Kind;

/// The fields of a map, derived from its type.
///
/// ```
/// use lbcf_driver_sdk::fields::{Kind, Schema};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize)]
/// #[serde(rename_all = "camelCase", deny_unknown_fields)]
/// struct Parameters {
///     weight: u8,
///     #[serde(default)]
///     is_backup: bool,
/// }
///
/// let schema = Schema::of::<Parameters>();
/// assert!(!schema.other_keys);
/// let [weight, is_backup] = &schema.fields[..] else { panic!() };
/// assert_eq!(weight.kind, Kind::Integer { min: 0, max: 255 });
/// assert!(weight.required);
/// assert_eq!(is_backup.name, "isBackup");
/// assert!(!is_backup.required);
/// ```
///
/// Some fields cannot be found: of a struct with a flattened map, those that are `None` by default; of
/// a type that is untagged or internally tagged, all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The fields, in the order of the type.
    pub fields: Vec<FieldSchema>,
    /// True if other keys are allowed, whether they are kept or ignored.
    pub other_keys: bool,
}

/// A field of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSchema {
    /// The key in the map.
    pub name: String,
    /// Other keys under which it is read (serde's `alias`).
    pub other_names: Vec<String>,
    /// The kind of value that its text represents.
    pub kind: Kind,
    /// The type's own description, where it is more specific than the kind: "IP address".
    pub expected: Option<String>,
    /// True if the map is invalid without it.
    pub required: bool,
    /// Text of the driver's author; see [`DriverSchemas::describe`].
    pub description: Option<String>,
}

impl FieldSchema {
    pub(super) fn optional_text(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            other_names: Vec::new(),
            kind: Kind::Text,
            expected: None,
            required: false,
            description: None,
        }
    }
}

impl Schema {
    /// The schema of any keys with any values.
    #[must_use]
    pub const fn any() -> Self {
        Self {
            fields: Vec::new(),
            other_keys: true,
        }
    }

    fn describe(&mut self, name: &str, description: &str) {
        let field = match self.fields.iter().position(|field| field.name == name) {
            Some(at) => self.fields.get_mut(at),
            None if self.other_keys => {
                self.fields.push(FieldSchema::optional_text(name));
                self.fields.last_mut()
            }
            None => None,
        };
        if let Some(field) = field {
            field.description = Some(description.to_owned());
        }
    }
}

impl Default for Schema {
    fn default() -> Self {
        Self::any()
    }
}

/// The schemas of a driver's maps. The default allows any keys with any values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverSchemas {
    /// Schema of `lbSpec` in all requests.
    pub lb_spec: Schema,
    /// Schema of `lbInfo` in requests and in the response of `createLoadBalancer`.
    pub lb_info: Schema,
    /// Schema of `attributes`, `lbAttributes` and `oldAttributes`.
    pub attributes: Schema,
    /// Schema of `parameters` and `oldParameters`.
    pub parameters: Schema,
}

impl DriverSchemas {
    /// Adds the description of a field, for readers of the driver's OpenAPI document:
    ///
    /// ```
    /// # use lbcf_driver_sdk::fields::DriverSchemas;
    /// let schemas = DriverSchemas::default()
    ///     .describe("lbSpec.vpcID", "The network in which the load balancer is created.");
    /// assert_eq!(schemas.lb_spec.fields[0].name, "vpcID");
    /// ```
    ///
    /// The path is `lbSpec`, `lbInfo`, `attributes` or `parameters`, a dot and the key. A field that is
    /// not in the schema is added as an optional text if its map allows other keys; any other path is
    /// ignored.
    #[must_use]
    pub fn describe(mut self, path: &str, description: &str) -> Self {
        let (map, name) = path.split_once('.').unwrap_or((path, ""));
        let schema = match map {
            "lbSpec" => &mut self.lb_spec,
            "lbInfo" => &mut self.lb_info,
            "attributes" => &mut self.attributes,
            "parameters" => &mut self.parameters,
            _ => return self,
        };
        if !name.is_empty() {
            schema.describe(name, description);
        }
        self
    }
}
