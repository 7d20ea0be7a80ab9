//! Writes to the `scale` subresource.

use serde_json::Value;

use super::update::Changed;
use super::{Cluster, Written, check_name};
use crate::clock;
use crate::field_error::FieldError;
use crate::object::{self, Object, at};
use crate::patch::{Apply, after_update, managers_after_scale, managers_of_scale};
use crate::resources::{Kind, Scale, scale_kind};
use crate::rules::{Part, WriteOptions};
use crate::status::ApiError;

pub(crate) enum ScaleChange<'a> {
    Update(&'a (dyn Fn(Object) -> Result<Object, ApiError> + Sync)),
    Apply(&'a Apply),
}

impl Cluster {
    /// Changes the scale of an object. Returns the object.
    pub(crate) async fn rescale(
        &self,
        (kind, scale): (&Kind, &Scale),
        address: (&str, &str),
        options: &WriteOptions<'_>,
        change: ScaleChange<'_>,
    ) -> Result<(Written, Vec<String>), ApiError> {
        let scale_kind = scale_kind();
        let path = scale.replicas_path();
        let change = |mut object: Object| {
            let now = clock::now();
            let mut live = scale.of(&object);
            object::set_managers(&mut live, managers_of_scale(&object, &path));
            let (next, managed) = match &change {
                ScaleChange::Update(change) => {
                    let next = change(live.clone())?;
                    let managed = match options.manager {
                        Some(manager) => {
                            let states = (&live, &next);
                            after_update(&scale_kind, "scale", states, manager, &now)
                        }
                        None => object::managers(&live).to_vec(),
                    };
                    (next, managed)
                }
                ScaleChange::Apply(apply) => {
                    let applied = apply.to(&scale_kind, &live, &now)?;
                    (applied.object, applied.managed)
                }
            };
            let managed = managers_after_scale(&object, &path, &kind.api_version(), managed);
            check(&next, address.1)?;
            scale.set(&mut object, replicas(&next)?);
            let version = object::meta(&next, "resourceVersion");
            if let Some(version) = version.filter(|version| !version.is_empty()) {
                let version = Value::from(version);
                object::child(&mut object, "metadata")
                    .insert("resourceVersion".to_owned(), version);
            }
            Ok(Changed {
                object,
                managed: Some(managed),
            })
        };
        self.change(kind, address, Part::Scale, options, change)
            .await
    }
}

fn check(scale: &Object, name: &str) -> Result<(), ApiError> {
    let (kind, version) = (
        object::text(scale, &["kind"]).unwrap_or_default(),
        object::text(scale, &["apiVersion"]).unwrap_or_default(),
    );
    if (kind, version) != ("Scale", "autoscaling/v1") {
        return Err(ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a Scale: an autoscaling/v1 Scale is expected"
        )));
    }
    check_name(scale, name)
}

fn replicas(scale: &Object) -> Result<i64, ApiError> {
    let invalid = |value: &Value, why: &str| {
        let error = FieldError::invalid("spec.replicas", value, why);
        ApiError::invalid("autoscaling", "Scale", object::name(scale), &[error])
    };
    match at(scale, &["spec", "replicas"]) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => match value.as_i64() {
            Some(number) if number < 0 => Err(invalid(value, "must be greater than or equal to 0")),
            Some(number) if number <= i64::from(i32::MAX) => Ok(number),
            _ => Err(ApiError::bad_request(format!(
                "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal {value} into Go struct field ScaleSpec.spec.replicas of type int32"
            ))),
        },
    }
}
