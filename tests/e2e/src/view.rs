//! What the cloud and the cluster look like, in the words of the tests.

use crate::world::until_is;
use crate::{World, until};
use k8s_openapi::api::core::v1::Event;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Condition, Conditions, TargetLoadBalancerStatus,
};
use mock_driver::ObservedLoadBalancer;
use serde_json::Value;

impl World {
    /// The load balancers in the cloud with this value of the attribute `name`.
    #[must_use]
    pub fn cloud_load_balancer(&self, name: &str) -> Option<ObservedLoadBalancer> {
        let seen = self.cloud.observe().load_balancers.into_iter();
        let mut named = seen
            .filter(|lb| lb.attributes.get("name").map(String::as_str) == Some(name))
            .collect::<Vec<_>>();
        assert!(named.len() <= 1, "{name} is there more than once");
        named.pop()
    }

    /// The `ip:port` that are bound to a load balancer, sorted; empty where there is none.
    #[must_use]
    pub fn bound_to(&self, name: &str) -> Vec<String> {
        self.cloud_load_balancer(name)
            .map(|lb| addresses(&lb))
            .unwrap_or_default()
    }

    /// The `ip:port` that are bound to any load balancer, sorted.
    #[must_use]
    pub fn bound(&self) -> Vec<String> {
        let seen = self.cloud.observe().load_balancers;
        let mut bound: Vec<String> = seen.iter().flat_map(addresses).collect();
        bound.sort();
        bound
    }

    /// Waits until just these `ip:port` are bound, counted over all load balancers.
    pub async fn until_bound(&self, expected: &[&str]) {
        let mut expected: Vec<String> = expected.iter().map(|&addr| addr.to_owned()).collect();
        expected.sort();
        until_is("what is bound", expected, async || self.bound()).await;
    }

    /// A Bind's entry of a load balancer.
    pub async fn entry(&self, bind: &str, lb: &str) -> Option<TargetLoadBalancerStatus> {
        let bind = self
            .api::<Bind>(crate::manifests::NAMESPACE)
            .get_opt(bind)
            .await
            .expect("Binds can be got")?;
        let mut entries = bind.status?.load_balancer_statuses.into_iter();
        entries.find(|entry| entry.name == lb)
    }

    /// Waits until a load balancer of a Bind has a condition with this status and reason.
    pub async fn until_entry(&self, bind: &str, lb: &str, type_: &str, expected: (&str, &str)) {
        let expected = (expected.0.to_owned(), expected.1.to_owned());
        until_is(
            &format!("{type_} of {lb} of {bind}"),
            Some(expected),
            async || {
                let entry = self.entry(bind, lb).await?;
                let condition = entry.conditions.find(type_)?;
                Some((format!("{:?}", condition.status), condition.reason.clone()))
            },
        )
        .await;
    }

    /// A group's counts: backends, registered ones, records, registered ones.
    pub async fn counts(&self, group: &str) -> [i32; 4] {
        let group = self
            .api::<BackendGroup>(crate::manifests::NAMESPACE)
            .get(group)
            .await
            .expect("the group is there");
        let status = group.status.unwrap_or_default();
        [
            status.backends,
            status.registered_backends,
            status.records,
            status.registered_records,
        ]
    }

    /// Waits until a group's counts are these.
    pub async fn until_counts(&self, group: &str, expected: [i32; 4]) {
        until_is(&format!("counts of {group}"), expected, async || {
            self.counts(group).await
        })
        .await;
    }

    /// Waits until so many records are there, and each says that it is registered as it is now.
    pub async fn until_records(&self, count: usize) {
        until(&format!("{count} records are registered"), async || {
            let records: Vec<BackendRecord> = self.all().await;
            let are_registered = records.iter().all(|record| {
                let condition = registered(record);
                record.metadata.deletion_timestamp.is_none()
                    && condition.is_some_and(|condition| {
                        condition.observed_generation == record.metadata.generation
                            && format!("{:?}", condition.status) == "True"
                    })
            });
            (records.len() == count && are_registered).then_some(())
        })
        .await;
    }

    /// Waits until there is an event of this reason about an object of this kind; gives its text.
    pub async fn until_event(&self, kind: &str, reason: &str) -> String {
        until(
            &format!("there is the event {reason} about a {kind}"),
            async || {
                let events: Vec<Event> = self.all().await;
                let mut events = events.into_iter();
                let found = events.find(|event| {
                    event.involved_object.kind.as_deref() == Some(kind)
                        && event.reason.as_deref() == Some(reason)
                })?;
                Some(found.message.unwrap_or_default())
            },
        )
        .await
    }
}

fn registered(record: &BackendRecord) -> Option<&Condition> {
    record.status.as_ref()?.conditions.find("Registered")
}

fn addresses(lb: &ObservedLoadBalancer) -> Vec<String> {
    let mut addresses: Vec<String> = lb.backends.iter().map(|it| short(&it.addr)).collect();
    addresses.sort();
    addresses
}

/// The mock's addresses of pods and nodes are JSON; those that people wrote are not.
fn short(addr: &str) -> String {
    match serde_json::from_str::<Value>(addr) {
        Ok(json) if json.is_object() => format!(
            "{}:{}",
            json["ip"].as_str().unwrap_or_default(),
            json["port"]
        ),
        _ => addr.to_owned(),
    }
}
