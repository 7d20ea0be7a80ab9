//! Conversion of stored objects to the other versions of two kinds.
//!
//! Events: controllers write `events.k8s.io/v1`, `kubectl describe` reads `v1`, which is stored, because field
//! selectors refer to it. Autoscalers: `autoscaling/v1` has the utilisation of the processor only.

use serde_json::{Value, json};

use crate::object::{Object, child, items};

/// The name of a field in `v1` and in `events.k8s.io/v1`.
const NAMES: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

const PERCENT: &str = "targetCPUUtilizationPercentage";

/// The conversion of stored objects to this version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Conversion {
    #[default]
    None,
    /// From `v1`, which is stored, to `events.k8s.io/v1`.
    EventsV1,
    /// From `autoscaling/v2`, which is stored, to `autoscaling/v1`.
    AutoscalerV1,
}

impl Conversion {
    pub(super) fn present(self, object: Object) -> Object {
        match self {
            Self::None => object,
            Self::EventsV1 => renamed(object, NAMES.iter().copied()),
            Self::AutoscalerV1 => autoscaler_to_v1(object),
        }
    }

    pub(super) fn store(self, object: Object) -> Object {
        match self {
            Self::None => object,
            Self::EventsV1 => renamed(object, NAMES.iter().map(|(old, new)| (*new, *old))),
            Self::AutoscalerV1 => autoscaler_from_v1(object),
        }
    }
}

fn renamed(
    mut object: Object,
    names: impl Iterator<Item = (&'static str, &'static str)>,
) -> Object {
    for (from, to) in names {
        if let Some(value) = object.remove(from) {
            object.insert(to.to_owned(), value);
        }
    }
    object
}

fn autoscaler_to_v1(mut autoscaler: Object) -> Object {
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

fn autoscaler_from_v1(mut autoscaler: Object) -> Object {
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
    fn an_event_survives_the_round_trip() {
        let new = object(json!({
            "regarding": {"kind": "Pod"}, "note": "n", "reportingController": "c",
            "deprecatedSource": {}, "series": {"count": 2}, "type": "Normal",
        }));
        let old = Conversion::EventsV1.store(new.clone());
        assert_eq!(old.get("involvedObject"), Some(&json!({"kind": "Pod"})));
        assert_eq!(old.get("message"), Some(&json!("n")));
        assert_eq!(Conversion::EventsV1.present(old), new);
    }

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
