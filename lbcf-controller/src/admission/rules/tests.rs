use super::*;
use crate::admission::object::Spec;
use crate::admission::table::Kind;
use serde::de::DeserializeOwned;
use serde_json::Value;

mod backend_group;
mod bind;
mod driver;
mod load_balancer;

fn key_of(object: &Value) -> ObjectKey {
    let text = |field: &str| object["metadata"][field].as_str().unwrap().to_owned();
    ObjectKey::new(text("namespace"), text("name"))
}

fn spec<S: DeserializeOwned>(kind: Kind, object: &Value) -> Spec<S> {
    Spec::read(kind, object).unwrap()
}

fn texts(errors: &FieldErrors) -> Vec<String> {
    errors.0.iter().map(ToString::to_string).collect()
}

/// Asserts that there is one error, about this field and with these parts.
#[track_caller]
fn assert_refused(errors: &[String], field: &str, parts: &[&str]) {
    let [error] = errors else {
        panic!("not one error about {field}: {errors:#?}");
    };
    assert!(error.starts_with(&format!("{field}: ")), "{field}: {error}");
    for text in parts {
        assert!(error.contains(text), "{text}: {error}");
    }
}

#[test]
fn b13_only_true_in_any_case_means_draining() {
    let labels = |value: &str| Labels::from([(names::LABEL_DRIVER_DRAINING.into(), value.into())]);
    for (value, expected) in [
        ("true", true),
        ("TRUE", true),
        ("True", true),
        ("yes", false),
        ("", false),
    ] {
        assert_eq!(
            names::is_draining(Some(&labels(value))),
            expected,
            "{value}"
        );
    }
    assert!(!names::is_draining(None));
}

#[test]
fn b76_b86_what_is_labelled_stays() {
    let key = ObjectKey::new("ns", "lb");
    for value in ["", "false", "true"] {
        let labels = Labels::from([(names::LABEL_DO_NOT_DELETE.into(), value.into())]);
        let denial = validate_deletion("LoadBalancer", &key, &labels).unwrap_err();
        for text in ["LoadBalancer ns/lb", "lbcf.tkestack.io/do-not-delete"] {
            assert!(denial.message().contains(text), "{denial:?}");
        }
    }
    assert_eq!(
        validate_deletion("LoadBalancer", &key, &Labels::new()),
        Ok(())
    );
}
