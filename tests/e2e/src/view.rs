//! What the cloud holds and what the cluster's objects report.

use crate::manifests::NAMESPACE;
use crate::{World, until, until_is};
use http::Request;
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::{Event, Pod};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Condition, ConditionStatus, Conditions,
    TargetLoadBalancerStatus,
};
use mock_driver::{ClbDriver, MockOptions, ObservedLoadBalancer};
use serde_json::Value;
use std::collections::BTreeMap;
use tower::ServiceExt;

impl World {
    /// The load balancer in the cloud whose attribute `name` has this value.
    #[must_use]
    pub fn cloud_load_balancer(&self, name: &str) -> Option<ObservedLoadBalancer> {
        let observed = self.cloud.observe().load_balancers.into_iter();
        let mut named = observed
            .filter(|lb| lb.attributes.get("name").map(String::as_str) == Some(name))
            .collect::<Vec<_>>();
        assert!(named.len() <= 1, "{name} exists more than once");
        named.pop()
    }

    /// The `ip:port` that are bound to a load balancer, sorted; empty where it does not exist.
    #[must_use]
    pub fn bound_to(&self, name: &str) -> Vec<String> {
        self.cloud_load_balancer(name)
            .map(|lb| addresses(&lb))
            .unwrap_or_default()
    }

    /// The `ip:port` that are bound to any load balancer, sorted.
    #[must_use]
    pub fn bound(&self) -> Vec<String> {
        let observed = self.cloud.observe().load_balancers;
        let mut bound: Vec<String> = observed.iter().flat_map(addresses).collect();
        bound.sort();
        bound
    }

    /// Waits until exactly these `ip:port` are bound, over all load balancers.
    pub async fn until_bound(&self, expected: &[&str]) {
        let mut expected: Vec<String> = expected.iter().map(|&addr| addr.to_owned()).collect();
        expected.sort();
        until_is("bound addresses", expected, async || self.bound()).await;
    }

    /// The IP and weight of each backend in the cloud, sorted.
    #[must_use]
    pub fn targets(&self) -> Vec<(String, String)> {
        let load_balancers = self.cloud.observe().load_balancers.into_iter();
        let mut targets: Vec<_> = load_balancers
            .flat_map(|lb| lb.backends)
            .map(|mut backend| {
                let addr: Value =
                    serde_json::from_str(&backend.addr).expect("the mock's addresses are JSON");
                let ip = addr["ip"].as_str().expect("an address has an ip");
                let weight = backend.parameters.remove("weight").unwrap_or_default();
                (ip.to_owned(), weight)
            })
            .collect();
        targets.sort();
        targets
    }

    /// The number of backends in the cloud, over all load balancers.
    #[must_use]
    pub fn targets_count(&self) -> usize {
        let lbs = self.cloud.observe().load_balancers;
        lbs.iter().map(|lb| lb.backends.len()).sum()
    }

    /// Waits until exactly these pods are backends, each with this weight.
    pub async fn until_targets(&self, pods: &[&str], weight: &str) {
        let mut expected = Vec::new();
        for pod in pods {
            let ip = until(&format!("{pod} has an address"), async || {
                let pod = self.api::<Pod>(NAMESPACE).get_opt(pod).await;
                pod.expect("pods can be read")?.status?.pod_ip
            })
            .await;
            expected.push((ip, weight.to_owned()));
        }
        expected.sort();
        until_is("targets", expected, async || self.targets()).await;
    }

    /// Waits until the targets are the first pods of [`Self::create_pods`], with the default weight.
    pub async fn until_pods(&self, count: usize) {
        let names: Vec<_> = (0..count).map(|number| format!("web-{number}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        self.until_targets(&names, "50").await;
    }

    /// Waits until every record has a Registered condition for its current generation, and the
    /// groups count as many registered records.
    pub async fn until_settled(&self) {
        until("everything is settled", async || {
            let records: Vec<BackendRecord> = self.all().await;
            let groups: Vec<BackendGroup> = self.all().await;
            let counted: i32 = groups
                .iter()
                .filter_map(|group| Some(group.status.as_ref()?.registered_records))
                .sum();
            let is_counted = usize::try_from(counted) == Ok(records.len());
            let is_settled = |record| registered_condition(record).is_some();
            (records.iter().all(is_settled) && is_counted).then_some(())
        })
        .await;
    }

    /// Waits until there are so many records, and each says that it is registered.
    pub async fn until_registered(&self, count: usize) {
        until(&format!("{count} records are registered"), async || {
            let records: Vec<BackendRecord> = self.all().await;
            let is_registered = |record: &BackendRecord| {
                let status = record.status.as_ref();
                status.is_some_and(|status| status.conditions.is_true("Registered"))
            };
            (records.len() == count && records.iter().all(is_registered)).then_some(())
        })
        .await;
    }

    /// A Bind's status of one of its load balancers.
    pub async fn entry(&self, bind: &str, lb: &str) -> Option<TargetLoadBalancerStatus> {
        let bind = self.api::<Bind>(NAMESPACE).get_opt(bind).await;
        let status = bind.expect("Binds can be read")?.status?;
        let mut entries = status.load_balancer_statuses.into_iter();
        entries.find(|entry| entry.name == lb)
    }

    /// Waits until a load balancer of a Bind has a condition with this status and reason.
    pub async fn until_entry(&self, bind: &str, lb: &str, type_: &str, expected: (&str, &str)) {
        let expected = (expected.0.to_owned(), expected.1.to_owned());
        let what = format!("{type_} of {lb} of {bind}");
        until_is(&what, Some(expected), async || {
            let entry = self.entry(bind, lb).await?;
            let condition = entry.conditions.find(type_)?;
            Some((format!("{:?}", condition.status), condition.reason.clone()))
        })
        .await;
    }

    /// A group's counts: backends, registered backends, records, registered records.
    pub async fn counts(&self, group: &str) -> [i32; 4] {
        let group = self.api::<BackendGroup>(NAMESPACE).get(group).await;
        let status = group.expect("the group exists").status.unwrap_or_default();
        [
            status.backends,
            status.registered_backends,
            status.records,
            status.registered_records,
        ]
    }

    /// Waits until a group has these counts; see [`Self::counts`].
    pub async fn until_counts(&self, group: &str, expected: [i32; 4]) {
        until_is(&format!("counts of {group}"), expected, async || {
            self.counts(group).await
        })
        .await;
    }

    /// Waits until exactly so many records exist, each registered in its current generation.
    pub async fn until_records(&self, count: usize) {
        until(&format!("{count} records are registered"), async || {
            let records: Vec<BackendRecord> = self.all().await;
            let is_registered = |record| {
                registered_condition(record)
                    .is_some_and(|condition| condition.status == ConditionStatus::True)
            };
            (records.len() == count && records.iter().all(is_registered)).then_some(())
        })
        .await;
    }

    /// Waits until an event with this reason concerns an object of this kind, and returns its
    /// message.
    pub async fn until_event(&self, kind: &str, reason: &str) -> String {
        until(&format!("an event {reason} about a {kind}"), async || {
            let events: Vec<Event> = self.all().await;
            let mut events = events.into_iter();
            let found = events.find(|event| {
                event.involved_object.kind.as_deref() == Some(kind)
                    && event.reason.as_deref() == Some(reason)
            })?;
            Some(found.message.unwrap_or_default())
        })
        .await
    }

    /// The names of the webhooks that the driver received, in order.
    pub async fn journal(&self) -> Vec<String> {
        let driver = ClbDriver::new(self.cloud.clone(), MockOptions::default());
        let request = Request::get("/_mock/requests").body(String::new());
        let response = mock_driver::router(driver).oneshot(request.expect("a request"));
        let body = response.await.expect("a response").into_body();
        let body = body.collect().await.expect("a body").to_bytes();
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        let entries = body["requests"].as_array().expect("a list");
        let webhook = |entry: &Value| entry["webhook"].as_str().expect("a name").to_owned();
        entries.iter().map(webhook).collect()
    }

    /// How often each webhook reached the driver.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.cloud.calls().as_map().clone()
    }
}

/// The record's Registered condition, if it is about the current generation and the record is not
/// being deleted.
fn registered_condition(record: &BackendRecord) -> Option<&Condition> {
    let condition = record.status.as_ref()?.conditions.find("Registered")?;
    let is_current = condition.observed_generation == record.metadata.generation
        && record.metadata.deletion_timestamp.is_none();
    is_current.then_some(condition)
}

fn addresses(lb: &ObservedLoadBalancer) -> Vec<String> {
    let mut addresses: Vec<String> = lb.backends.iter().map(|it| ip_and_port(&it.addr)).collect();
    addresses.sort();
    addresses
}

/// The mock's addresses of pods and nodes are JSON objects; static addresses are plain text.
pub(crate) fn ip_and_port(addr: &str) -> String {
    match serde_json::from_str::<Value>(addr) {
        Ok(json) if json.is_object() => format!(
            "{}:{}",
            json["ip"].as_str().unwrap_or_default(),
            json["port"]
        ),
        _ => addr.to_owned(),
    }
}
