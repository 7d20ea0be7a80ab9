//! One autoscaler, two APIs: `autoscaling/v2` with any metrics, `v1` with the processor's only.
//!
//! The newer form is the one that is kept. What the older one has no field for is in an annotation
//! there, so that nothing is lost when it is read and written back.

use serde_json::{Value, json};

use crate::object::{Object, child};

/// Holds the metrics that `autoscaling/v1` has no field for.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const PERCENT: &str = "targetCPUUtilizationPercentage";

/// The older form of a stored autoscaler.
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

/// The form to store of an older autoscaler.
pub(crate) fn autoscaler_from_v1(mut autoscaler: Object) -> Object {
    let percent = child(&mut autoscaler, "spec").remove(PERCENT);
    let metadata = child(&mut autoscaler, "metadata");
    let others = match metadata.get_mut("annotations") {
        Some(Value::Object(annotations)) => annotations.remove(METRICS),
        _ => None,
    };
    // What is no list of metrics is a note that somebody else wrote there, and says nothing.
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
    fn nothing_is_lost_on_the_way_there_and_back() {
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
    fn a_note_that_is_no_list_of_metrics_says_nothing() {
        let given =
            object(json!({"metadata": {"annotations": {METRICS: "{"}}, "spec": {PERCENT: null}}));
        assert_eq!(autoscaler_from_v1(given)["spec"], json!({}));
    }
}
