//! Which of the drivers that name a class has it. No I/O, no clock.

use crate::api::names::is_draining;
use crate::api::{LoadBalancerDriver, ObjectExt};
use std::sync::Arc;

/// The driver that has a class: the oldest, or of equal age the first by name. One that is being deleted
/// has none, and one that accepts nothing new only where there is no other (d72).
pub(crate) fn claimant(drivers: &[Arc<LoadBalancerDriver>]) -> Option<&Arc<LoadBalancerDriver>> {
    let alive = drivers.iter().filter(|driver| !driver.is_deleting());
    alive.min_by_key(|driver| {
        let meta = &driver.metadata;
        let created = meta.creation_timestamp.as_ref().map(|time| time.0);
        (
            is_draining(meta.labels.as_ref()),
            created,
            &meta.name,
            &meta.namespace,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn driver(name: &str, created: u8, meta: &Value) -> Arc<LoadBalancerDriver> {
        let mut driver = json!({
            "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "LoadBalancerDriver",
            "metadata": {
                "name": name, "namespace": "ns",
                "creationTimestamp": format!("2026-01-01T00:00:{created:02}Z"),
            },
            "spec": {"driverType": "Webhook", "url": "http://driver"},
        });
        json_patch::merge(&mut driver["metadata"], meta);
        Arc::new(serde_json::from_value(driver).unwrap())
    }

    #[test]
    fn d72_the_oldest_driver_has_the_class() {
        let plain = json!({});
        let deleting = json!({"deletionTimestamp": "2026-01-02T00:00:00Z"});
        let draining = json!({"labels": {"lbcf.tkestack.io/driver-draining": "True"}});
        for (drivers, expected) in [
            (vec![], None),
            (
                vec![driver("a", 2, &plain), driver("b", 1, &plain)],
                Some("b"),
            ),
            (
                vec![driver("b", 1, &plain), driver("a", 1, &plain)],
                Some("a"),
            ),
            (
                vec![driver("a", 1, &deleting), driver("b", 2, &plain)],
                Some("b"),
            ),
            (
                vec![driver("a", 1, &draining), driver("b", 2, &plain)],
                Some("b"),
            ),
            (vec![driver("a", 1, &draining)], Some("a")),
            (vec![driver("a", 1, &deleting)], None),
        ] {
            let found = claimant(&drivers).map(|driver| driver.metadata.name.clone().unwrap());
            assert_eq!(found.as_deref(), expected);
        }
    }
}
