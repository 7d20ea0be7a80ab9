//! Schemas of a driver's types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

/// The schemas of a driver's maps, for its OpenAPI document. The default allows any keys with any values.
///
/// A driver whose types derive `schemars::JsonSchema` returns those of its types:
///
/// ```
/// # use lbcf_driver_sdk::request::*;
/// # use lbcf_driver_sdk::webhook::StringMap;
/// # use lbcf_driver_sdk::{Driver, HookError};
/// use lbcf_driver_sdk::fields::DriverSchemas;
/// use lbcf_driver_sdk::openapi;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// struct Parameters {
///     /// The share of the traffic.
///     weight: u8,
/// }
///
/// struct MyCloud;
///
/// impl Driver for MyCloud {
///     type LbSpec = StringMap;
///     type LbInfo = StringMap;
///     type Attributes = StringMap;
///     type Parameters = Parameters;
///     type BackendAddr = String;
///
///     fn schemas(&self) -> DriverSchemas {
///         DriverSchemas::of::<Self>()
///     }
///     // …
/// #   async fn create_load_balancer(&self, _: CreateLoadBalancer<Self>) -> Result<StringMap, HookError> { Ok(StringMap::new()) }
/// #   async fn delete_load_balancer(&self, _: DeleteLoadBalancer<Self>) -> Result<(), HookError> { Ok(()) }
/// #   async fn generate_backend_addr(&self, _: GenerateBackendAddr<Self>) -> Result<String, HookError> { Ok("a".into()) }
/// #   async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> { Ok(StringMap::new()) }
/// #   async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> { Ok(()) }
/// }
///
/// let document = serde_json::to_value(openapi::document_for(&MyCloud))?;
/// let weight = &document["components"]["schemas"]["Parameters"]["properties"]["weight"];
/// assert_eq!(weight["description"], "The share of the traffic.\n\nA number from 0 to 255.");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// A field with serde's `with`, such as a duration, also needs `#[schemars(with = "String")]`. Names that
/// serde's `alias` adds are not part of the schema.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DriverSchemas {
    /// JSON Schema of `lbSpec` in all requests.
    pub lb_spec: schemars::Schema,
    /// JSON Schema of `lbInfo` in requests and in the response of `createLoadBalancer`.
    pub lb_info: schemars::Schema,
    /// JSON Schema of `attributes`, `lbAttributes` and `oldAttributes`.
    pub attributes: schemars::Schema,
    /// JSON Schema of `parameters` and `oldParameters`.
    pub parameters: schemars::Schema,
}

pub(crate) fn schema_of<T: JsonSchema>() -> schemars::Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}
