//! The service class of a LoadBalancerDriver (d72).

use crate::admission::field_error::FieldErrors;
use crate::api::placeholders::{OF_PORT, OF_SERVICE, first_unknown};
use crate::api::{LoadBalancersOfService, ServiceClass, StringMap, allowed, syntax};

pub(super) fn service_class(class: &ServiceClass, errors: &mut FieldErrors) {
    if !syntax::is_label_key(&class.name) {
        errors.invalid("spec.serviceClass.name", &class.name, allowed::IS_CLASS);
    }
    for field in class.service_fields.keys() {
        if !allowed::SERVICE_FIELDS.contains(&field.as_str()) {
            let fields = "spec.serviceClass.serviceFields";
            errors.invalid(fields, field, allowed::IS_SERVICE_FIELD);
        }
    }
    let is_known = |name: &str| OF_SERVICE.contains(&name) || OF_PORT.contains(&name);
    let fields = [
        ("lbSpec", &class.lb_spec),
        ("parameters", &class.parameters),
    ];
    for (field, map) in fields {
        placeholders(map, field, is_known, allowed::IS_PLACEHOLDER, errors);
    }
    if class.load_balancers() == LoadBalancersOfService::PerService {
        let has_no_port = |name: &str| !OF_PORT.contains(&name);
        let problem = allowed::PER_PORT_ONLY;
        placeholders(&class.lb_spec, "lbSpec", has_no_port, problem, errors);
    }
}

fn placeholders(
    map: &StringMap,
    field: &str,
    is_known: impl Fn(&str) -> bool,
    problem: &str,
    errors: &mut FieldErrors,
) {
    if let Some((key, _)) = first_unknown(map, is_known) {
        let value = map.get(key).map_or("", String::as_str);
        errors.invalid(format!("spec.serviceClass.{field}[{key}]"), value, problem);
    }
}
