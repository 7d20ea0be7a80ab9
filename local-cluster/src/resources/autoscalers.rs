//! Conversion of autoscalers between `autoscaling/v2`, which is stored, and `autoscaling/v1`.
//!
//! Metrics that `v1` has no field for are in an annotation there, so that a client that reads and
//! writes `v1` keeps them.

use serde_json::{Value, json};

use crate::object::{Object, child};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const PERCENT: &str = "targetCPUUtilizationPercentage";

pub(crate) fn autoscaler_to_v1(mut autoscaler: Object) -> Object {
    let metrics = child(&mut autoscaler, "spec").remove("metrics");
    let mut others = Vec::new();
    for metric in metrics
        .and_then(|m| m.as_array().cloned())
        .unwrap_or_default()
    {
        match percent_of(&metric) {
            Some(percent) => {
                child(&mut autoscaler, "spec").insert(PERCENT.to_owned(), percent);
            }
            None => others.push(metric),
        }
    }
    if !others.is_empty() {
        let metadata = child(&mut autoscaler, "metadata");
        let text = Value::Array(others).to_string();
        child(metadata, "annotations").insert(METRICS.to_owned(), text.into());
    }
    let status = child(&mut autoscaler, "status");
    for newer in ["conditions", "currentMetrics"] {
        status.remove(newer);
    }
    status.entry("currentReplicas").or_insert(json!(0));
    autoscaler
}

pub(crate) fn autoscaler_from_v1(mut autoscaler: Object) -> Object {
    let percent = child(&mut autoscaler, "spec").remove(PERCENT);
    let metadata = child(&mut autoscaler, "metadata");
    let others = match metadata.get_mut("annotations") {
        Some(Value::Object(annotations)) => annotations.remove(METRICS),
        _ => None,
    };
    // Anything but a list of metrics is ignored.
    let others = others
        .as_ref()
        .and_then(Value::as_str)
        .and_then(|text| serde_json::from_str::<Vec<Value>>(text).ok());
    let mut metrics = others.unwrap_or_default();
    if let Some(percent) = percent.filter(|p| !p.is_null()) {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        let resource = json!({"name": "cpu", "target": target});
        metrics.insert(0, json!({"type": "Resource", "resource": resource}));
    }
    if !metrics.is_empty() {
        child(&mut autoscaler, "spec").insert("metrics".to_owned(), metrics.into());
    }
    autoscaler
}

fn percent_of(metric: &Value) -> Option<Value> {
    let resource = metric.get("resource")?;
    let is_cpu = resource.get("name")?.as_str()? == "cpu";
    let percent = resource.get("target")?.get("averageUtilization")?;
    is_cpu.then(|| percent.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn conversion_round_trips() {
        let memory = json!({"type": "Resource", "resource": {"name": "memory",
            "target": {"type": "Utilization", "averageUtilization": 50}}});
        let cpu = json!({"type": "Resource", "resource": {"name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 80}}});
        let stored = object(json!({
            "metadata": {"name": "a", "annotations": {}},
            "spec": {"maxReplicas": 3, "metrics": [cpu, memory]},
            "status": {"currentReplicas": 1, "desiredReplicas": 1},
        }));
        let shown = autoscaler_to_v1(stored.clone());
        assert_eq!(shown["spec"], json!({"maxReplicas": 3, PERCENT: 80}));
        assert_eq!(autoscaler_from_v1(shown), stored);
    }

    #[test]
    fn an_annotation_without_metrics_is_ignored() {
        let given =
            object(json!({"metadata": {"annotations": {METRICS: "{"}}, "spec": {PERCENT: null}}));
        assert_eq!(autoscaler_from_v1(given)["spec"], json!({}));
    }
}
