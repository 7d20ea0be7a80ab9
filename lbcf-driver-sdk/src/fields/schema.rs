//! What the maps of a driver hold, as plain data.

use super::{Fields, Kind, probe};
use crate::Driver;

/// What one map holds: its fields, found by asking the type, so that it costs its author nothing.
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
/// What a type hides is left out: of a struct with a flattened map, the fields that are `None`
/// when nothing is given; of a type that reads itself (`untagged`, tagged inside), all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The fields, in the order of the type.
    pub fields: Vec<FieldSchema>,
    /// Whether further keys are let through, be they kept or ignored.
    pub other_keys: bool,
}

/// What one field of a map holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSchema {
    /// Its key.
    pub name: String,
    /// Further keys by which it is read (`alias`).
    pub other_names: Vec<String>,
    /// What its text stands for.
    pub kind: Kind,
    /// What the type itself says that it expects, where it says more than its kind: "IP address".
    pub expected: Option<String>,
    /// Whether reading fails without it.
    pub required: bool,
    /// What it is, for people; see [`DriverSchemas::describe`].
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
    /// What maps of this type hold.
    #[must_use]
    pub fn of<T: Fields>() -> Self {
        probe::schema::<T>()
    }

    /// Any keys with any texts.
    #[must_use]
    pub const fn any() -> Self {
        Self {
            fields: Vec::new(),
            other_keys: true,
        }
    }

    fn describe(&mut self, name: &str, description: &str) {
        let field = match self.fields.iter().position(|field| field.name == name) {
            Some(place) => self.fields.get_mut(place),
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

/// [`Schema::any`].
impl Default for Schema {
    fn default() -> Self {
        Self::any()
    }
}

/// What the maps of one driver hold. By default any keys with any texts, as for a driver that
/// takes the maps as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverSchemas {
    /// `lbSpec`.
    pub lb_spec: Schema,
    /// `lbInfo`.
    pub lb_info: Schema,
    /// `attributes`, and the same under other names: `lbAttributes`, `oldAttributes`.
    pub attributes: Schema,
    /// `parameters`, and `oldParameters`.
    pub parameters: Schema,
}

impl DriverSchemas {
    /// What the maps of this driver's types hold.
    #[must_use]
    pub fn of<D: Driver + ?Sized>() -> Self {
        Self {
            lb_spec: Schema::of::<D::LbSpec>(),
            lb_info: Schema::of::<D::LbInfo>(),
            attributes: Schema::of::<D::Attributes>(),
            parameters: Schema::of::<D::Parameters>(),
        }
    }

    /// Says what a field is, for people who read the driver's OpenAPI document:
    ///
    /// ```
    /// # use lbcf_driver_sdk::fields::DriverSchemas;
    /// let schemas = DriverSchemas::default()
    ///     .describe("lbSpec.vpcID", "The network in which the load balancer is created.");
    /// assert_eq!(schemas.lb_spec.fields[0].name, "vpcID");
    /// ```
    ///
    /// The path is `lbSpec`, `lbInfo`, `attributes` or `parameters`, a dot and the key. A field
    /// that the type does not tell of is added as an optional text, where its map lets further
    /// keys through; any other path is left alone.
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
