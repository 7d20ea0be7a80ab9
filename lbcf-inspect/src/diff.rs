//! Backends that are declared, beside those that a driver lists.

use crate::backend::backend;
use crate::cluster::{Cluster, Labels, Object};
use crate::object::{Kind, ObjectRef};
use lbcf_controller::ObjectKey;
use lbcf_controller::api::condition_types;
use lbcf_controller::names::SYSTEM_NAMESPACE;
use lbcf_driver_sdk::webhook::ListedBackend;
use std::collections::{BTreeMap, BTreeSet};

/// A load balancer that exists.
#[derive(Debug)]
pub struct LoadBalancer<'a> {
    /// Its object, and its name in a Bind.
    pub name: String,
    /// Its driver; None if that cannot be seen.
    pub driver: Option<(ObjectKey, &'a Object)>,
    /// Its identity.
    pub lb_info: Labels,
    /// False if there may be records of its backends that were not read.
    pub is_whole: bool,
    records: Vec<&'a Object>,
}

/// The load balancers that exist, or those of the LoadBalancer or Bind of this name.
#[must_use]
pub fn load_balancers<'a>(cluster: &'a Cluster, only: Option<&ObjectKey>) -> Vec<LoadBalancer<'a>> {
    let is_shown = |it: &ObjectRef| only.is_none_or(|only| *only == it.key);
    let mut all = Vec::new();
    let own = cluster.all(Kind::LoadBalancer);
    for (object, lb) in own.filter(|(it, _)| is_shown(it)) {
        let driver = object.resolve(Kind::LoadBalancerDriver, lb.text("/spec/lbDriver"));
        let name = object.to_string();
        let is_shared =
            *object.key.namespace == *SYSTEM_NAMESPACE || !lb.list("/spec/scope").is_empty();
        let users = if is_shared {
            ""
        } else {
            &*object.key.namespace
        };
        let lb_info = lb.map("/status/lbInfo");
        all.push(load_balancer(cluster, name, (driver, lb_info), users));
    }
    for (object, bind) in cluster.all(Kind::Bind).filter(|(it, _)| is_shown(it)) {
        for part in bind.list("/status/loadBalancerStatuses") {
            let text = |field: &str| part[field].as_str().unwrap_or_default();
            let driver = object.resolve(Kind::LoadBalancerDriver, text("driver"));
            let name = format!("{object} load balancer {}", text("name"));
            let lb_info = serde_json::from_value(part["lbInfo"].clone());
            let lb_info = lb_info.unwrap_or_default();
            let users = &object.key.namespace;
            all.push(load_balancer(cluster, name, (driver, lb_info), users));
        }
    }
    all.retain(|it| !it.lb_info.is_empty());
    all
}

/// Its records are in the namespace of its users, or in any.
fn load_balancer<'a>(
    cluster: &'a Cluster,
    name: String,
    (driver, lb_info): (ObjectRef, Labels),
    users: &str,
) -> LoadBalancer<'a> {
    let records = cluster.all(Kind::BackendRecord).filter(|(record, it)| {
        let of = record.resolve(Kind::LoadBalancerDriver, it.text("/spec/lbDriver"));
        of == driver && it.map("/spec/lbInfo") == lb_info
    });
    LoadBalancer {
        name,
        records: records.map(|(_, it)| it).collect(),
        driver: cluster.get(&driver).map(|it| (driver.key, it)),
        lb_info,
        is_whole: cluster.sees(&ObjectRef::new(
            Kind::BackendRecord,
            ObjectKey::new(users, ""),
        )),
    }
}

impl LoadBalancer<'_> {
    /// A line for each difference to what the driver lists: `-` is missing in the cloud, `+` is in it and declared by
    /// nothing, `~` has other parameters.
    #[must_use]
    pub fn differences(&self, listed: &[ListedBackend]) -> Vec<String> {
        let listed: BTreeMap<&str, &ListedBackend> =
            listed.iter().map(|it| (&*it.backend_addr, it)).collect();
        // Several records may have one address.
        let (mut lines, mut declared) = (Vec::new(), BTreeSet::new());
        for record in &self.records {
            let addr = record.text("/status/backendAddr");
            let what = backend(record);
            declared.insert(addr);
            match listed.get(addr) {
                // It registers nothing yet, or not any more.
                None if !record.has_condition(condition_types::REGISTERED)
                    || record.is_deleting() => {}
                None => lines.push(format!("- {addr}  {what}")),
                Some(there) => lines
                    .extend(parameters(record, there).map(|it| format!("~ {addr}  {what}: {it}"))),
            }
        }
        let others = listed.values();
        let others = others.filter(|it| !declared.contains(&*it.backend_addr));
        lines.extend(others.map(|it| {
            let by = match &*it.record_id {
                "" => "registered by hand, or by a driver that does not tell",
                record_id => record_id,
            };
            format!("+ {}  {by}", it.backend_addr)
        }));
        lines.sort_unstable();
        lines
    }
}

/// The parameters that differ: a driver lists those that it knows, with its own defaults.
fn parameters(record: &Object, listed: &ListedBackend) -> Option<String> {
    let declared = record.map("/spec/parameters");
    let differ = declared.iter().filter_map(|(name, declared)| {
        let there = listed.parameters.get(name)?;
        (there != declared).then(|| format!("{name} is {there}, declared {declared}"))
    });
    let differ: Vec<_> = differ.collect();
    (!differ.is_empty()).then(|| differ.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn record(addr: &str, registered: bool) -> Value {
        let status = if registered { "True" } else { "False" };
        json!({
            "spec": {
                "lbDriver": "lbcf-clb", "lbInfo": {"id": "lb-1"}, "parameters": {"weight": "10"},
                "podBackend": {"name": "web-1", "port": {"port": 80}},
            },
            "status": {"backendAddr": addr, "conditions": [{"type": "Registered", "status": status}]},
        })
    }

    fn listed(addr: &str, record_id: &str, weight: &str) -> ListedBackend {
        ListedBackend {
            backend_addr: addr.to_owned(),
            parameters: [("weight", weight), ("port", "1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            record_id: record_id.to_owned(),
        }
    }

    #[test]
    fn what_is_missing_left_over_or_other_is_a_line_each() {
        let objects = [
            ("a", record("10.0.0.1:80", true)),
            ("b", record("10.0.0.2:80", true)),
            ("c", record("10.0.0.3:80", true)),
            ("d", record("10.0.0.4:80", false)),
        ];
        let objects = objects.map(|(name, record)| {
            (
                ObjectRef::new(Kind::BackendRecord, ObjectKey::new("ns", name)),
                record,
            )
        });
        let lb = json!({"spec": {"lbDriver": "lbcf-clb"}, "status": {"lbInfo": {"id": "lb-1"}}});
        let of = |kind, name| ObjectRef::new(kind, ObjectKey::new("ns", name));
        let statuses =
            json!([{"name": "x", "driver": "lbcf-clb", "lbInfo": {"id": "lb-2"}}, {"name": "new"}]);
        let bind = json!({"status": {"loadBalancerStatuses": statuses}});
        let driver = ObjectRef::new(
            Kind::LoadBalancerDriver,
            ObjectKey::new("kube-system", "lbcf-clb"),
        );
        let lbs = [
            (of(Kind::LoadBalancer, "web"), lb),
            (
                of(Kind::LoadBalancer, "not-created"),
                json!({"spec": {"lbDriver": "lbcf-clb"}}),
            ),
            (of(Kind::Bind, "both"), bind),
            (driver, json!({"spec": {"url": "http://d"}})),
        ];
        let cluster = Cluster::of(objects.into_iter().chain(lbs));
        let found = load_balancers(&cluster, None);
        let names: Vec<_> = found.iter().map(|it| &*it.name).collect();
        assert_eq!(
            names,
            ["LoadBalancer ns/web", "Bind ns/both load balancer x"]
        );
        assert!(found.iter().all(|it| it.driver.is_some()));
        let lines = found[0].differences(&[
            listed("10.0.0.1:80", "ensureBackend(a)", "10"),
            listed("10.0.0.2:80", "ensureBackend(b)", "20"),
            listed("203.0.113.7:80", "", "1"),
            listed("203.0.113.8:80", "ensureBackend(z)", "1"),
        ]);
        let expected = [
            "+ 203.0.113.7:80  registered by hand, or by a driver that does not tell",
            "+ 203.0.113.8:80  ensureBackend(z)",
            "- 10.0.0.3:80  Pod web-1 port 80",
            "~ 10.0.0.2:80  Pod web-1 port 80: weight is 20, declared 10",
        ];
        assert_eq!(lines, expected);
        assert_eq!(found[1].differences(&[]), [""; 0]);
        // Two records may have one address, and all records are seen.
        let shared = [found[0].records[0], found[0].records[0]];
        let twice = LoadBalancer {
            records: shared.to_vec(),
            ..load_balancers(&cluster, None).swap_remove(0)
        };
        let one = [listed("10.0.0.1:80", "", "10")];
        assert_eq!(twice.differences(&one), [""; 0]);
        assert!(twice.is_whole);
        let other = ObjectKey::new("ns", "both");
        assert_eq!(load_balancers(&cluster, Some(&other)).len(), 1);
    }
}
