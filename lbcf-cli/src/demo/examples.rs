//! The manifests of `deploy/examples/`, which the demo applies, and what is different in the demo.

use kube::api::DynamicObject;
use serde_json::{Map, Value};

/// The path and the text of a file.
pub(super) type Example = (&'static str, &'static str);

macro_rules! example {
    ($name:literal) => {
        (
            concat!("deploy/examples/", $name),
            include_str!(concat!("../../../deploy/examples/", $name)),
        )
    };
}

pub(super) const NAMESPACE_MANIFEST: Example = example!("00-namespace.yaml");
pub(super) const DRIVER: Example = example!("10-driver.yaml");
pub(super) const LOAD_BALANCER: Example = example!("20-load-balancer-new.yaml");
pub(super) const EXISTING_LOAD_BALANCER: Example = example!("20-load-balancer-existing.yaml");
pub(super) const GROUP: Example = example!("30-backend-group-by-label.yaml");
pub(super) const ENDPOINTS_GROUP: Example = example!("30-backend-group-endpoints.yaml");
pub(super) const STATIC_GROUP: Example = example!("30-backend-group-static.yaml");
pub(super) const DEPLOYMENT: Example = example!("40-deployment.yaml");
pub(super) const POD: Example = example!("40-pod.yaml");
pub(super) const SERVICE: Example = example!("40-service.yaml");
pub(super) const BIND: Example = example!("50-bind.yaml");

/// The namespace of all of them but the driver, which is in the system's.
pub(super) const NAMESPACE: &str = "my-namespace";
pub(super) const DRIVER_NAME: &str = "lbcf-clb-application";
pub(super) const LOAD_BALANCER_NAME: &str = "my-load-balancer-1";
pub(super) const GROUP_NAME: &str = "my-lb-backend-2";

/// An example with other values.
#[derive(Debug, Clone)]
pub(super) struct Manifest {
    pub(super) file: Example,
    /// The values that are different, by JSON pointer.
    pub(super) changes: Vec<(&'static str, Value)>,
}

impl From<Example> for Manifest {
    fn from(file: Example) -> Self {
        Self {
            file,
            changes: Vec::new(),
        }
    }
}

impl Manifest {
    pub(super) fn object(&self) -> Result<DynamicObject, String> {
        let (name, text) = self.file;
        // By way of a value: the YAML reader's code for a type is large.
        let object: Result<Value, _> = serde_saphyr::from_str(text);
        let object = object.map_err(|error| format!("{name}: {error}"))?;
        let mut object: DynamicObject =
            serde_json::from_value(object).map_err(|error| format!("{name}: {error}"))?;
        for (pointer, value) in &self.changes {
            set(&mut object.data, pointer, value.clone())
                .ok_or_else(|| format!("{name}: no {pointer}"))?;
        }
        Ok(object)
    }

    /// The changes that the example does not have already, such as `parameters {"weight":"50"}`.
    pub(super) fn differences(&self) -> Result<Vec<String>, String> {
        let object = Self::from(self.file).object()?;
        let changes = self.changes.iter();
        let differs =
            changes.filter(|(pointer, value)| object.data.pointer(pointer) != Some(value));
        let text = |(pointer, value): &(&str, Value)| {
            let field = pointer.trim_start_matches("/spec/").replace('/', ".");
            format!("{field} {value}")
        };
        Ok(differs.map(text).collect())
    }
}

/// Sets the field at a JSON pointer of an object whose parent exists.
fn set(object: &mut Value, pointer: &str, value: Value) -> Option<()> {
    let (parent, field) = pointer.rsplit_once('/')?;
    let parent: &mut Map<_, _> = object.pointer_mut(parent)?.as_object_mut()?;
    parent.insert(field.to_owned(), value);
    Some(())
}
