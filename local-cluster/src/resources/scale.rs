//! The `scale` subresource.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde_json::{Value, json};

use crate::object::{Object, at, child};

/// The paths of replicas, as definitions write them (`.spec.replicas`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) spec_path: String,
    pub(crate) status_path: String,
    /// Where a custom resource has its label selector, as a string.
    pub(crate) selector_path: Option<String>,
}

impl Scale {
    /// The keys on the path to the desired replicas.
    pub(crate) fn replicas_path(&self) -> Vec<&str> {
        names(&self.spec_path)
    }

    /// The `Scale` of an object in its served version.
    pub(crate) fn of(&self, object: &Object) -> Object {
        let number = |path: &str| at(object, &names(path)).and_then(Value::as_i64);
        let selector = match &self.selector_path {
            Some(path) => at(object, &names(path))
                .and_then(Value::as_str)
                .map(str::to_owned),
            None => at(object, &["spec", "selector"]).and_then(selector_text),
        };
        let mut scale = crate::object::object(json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale",
            "spec": {}, "status": {"replicas": number(&self.status_path).unwrap_or(0)},
        }));
        for key in [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
        ] {
            if let Some(value) = at(object, &["metadata", key]) {
                child(&mut scale, "metadata").insert(key.to_owned(), value.clone());
            }
        }
        // `replicas` is omitted when it is zero.
        if let Some(replicas) = number(&self.spec_path).filter(|replicas| *replicas != 0) {
            child(&mut scale, "spec").insert("replicas".to_owned(), replicas.into());
        }
        if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
            child(&mut scale, "status").insert("selector".to_owned(), selector.into());
        }
        scale
    }

    /// Sets the desired replicas.
    pub(crate) fn set(&self, object: &mut Object, replicas: i64) {
        let path = self.replicas_path();
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let parent = parents
            .iter()
            .fold(object, |object, key| child(object, key));
        parent.insert((*last).to_owned(), replicas.into());
    }
}

fn names(path: &str) -> Vec<&str> {
    path.trim_start_matches('.').split('.').collect()
}

/// A label selector as a string: `app=web,tier in (a,b)`.
fn selector_text(selector: &Value) -> Option<String> {
    let selector: LabelSelector = serde_json::from_value(selector.clone()).ok()?;
    let labels = selector.match_labels.into_iter().flatten();
    let mut parts: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    for expression in selector.match_expressions.into_iter().flatten() {
        let mut values = expression.values.unwrap_or_default();
        values.sort_unstable();
        let (key, values) = (expression.key, values.join(","));
        parts.push(match expression.operator.as_str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key,
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    parts.sort();
    Some(parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn a_scale_shows_numbers_and_selector() {
        let scale = Scale {
            spec_path: ".spec.size.desired".to_owned(),
            status_path: ".status.actual".to_owned(),
            selector_path: None,
        };
        let mut thing = object(json!({
            "metadata": {"name": "t", "labels": {"l": "v"}, "uid": "u"},
            "spec": {"size": {"desired": 3}, "selector": {"matchLabels": {"b": "2", "a": "1"},
                "matchExpressions": [{"key": "c", "operator": "In", "values": ["y", "x"]}]}},
            "status": {"actual": 2},
        }));
        let shown = scale.of(&thing);
        assert_eq!(
            Value::Object(shown),
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
                   "metadata": {"name": "t", "uid": "u"}, "spec": {"replicas": 3},
                   "status": {"replicas": 2, "selector": "a=1,b=2,c in (x,y)"}})
        );
        scale.set(&mut thing, 0);
        assert_eq!(thing["spec"]["size"]["desired"], 0);
        assert_eq!(scale.of(&thing)["spec"], json!({}));
    }
}
