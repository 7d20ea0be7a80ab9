//! Conversion of autoscalers between `autoscaling/v2`, which is stored, and `autoscaling/v1`, which has the
//! utilisation of the processor only.

use serde_json::{Value, json};

use crate::object::{Object, child, items};

const PERCENT: &str = "targetCPUUtilizationPercentage";

pub(crate) fn autoscaler_to_v1(mut autoscaler: Object) -> Object {
    let percent = items(&autoscaler, &["spec", "metrics"]).find_map(|metric| {
        let resource = metric.get("resource").filter(|it| it["name"] == "cpu")?;
        resource.pointer("/target/averageUtilization").cloned()
    });
    let spec = child(&mut autoscaler, "spec");
    spec.remove("metrics");
    spec.extend(percent.map(|percent| (PERCENT.to_owned(), percent)));
    let status = child(&mut autoscaler, "status");
    for newer in ["conditions", "currentMetrics"] {
        status.remove(newer);
    }
    status.entry("currentReplicas").or_insert(json!(0));
    autoscaler
}

pub(crate) fn autoscaler_from_v1(mut autoscaler: Object) -> Object {
    let spec = child(&mut autoscaler, "spec");
    if let Some(percent) = spec.remove(PERCENT).filter(|percent| !percent.is_null()) {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        spec.insert("metrics".to_owned(), Value::from(vec![metric]));
    }
    autoscaler
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn the_utilisation_survives_the_round_trip() {
        let stored = object(json!({
            "metadata": {"name": "a"},
            "spec": {"maxReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 80}}}]},
            "status": {"currentReplicas": 1, "desiredReplicas": 1},
        }));
        let shown = autoscaler_to_v1(stored.clone());
        assert_eq!(shown["spec"], json!({"maxReplicas": 3, PERCENT: 80}));
        assert_eq!(autoscaler_from_v1(shown), stored);
        let none = object(json!({"spec": {PERCENT: null}}));
        assert_eq!(autoscaler_from_v1(none)["spec"], json!({}));
    }
}
