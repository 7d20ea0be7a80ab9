//! What the cloud has to hold, by what is declared. It shares no code with the controller.

use super::kind::Kind;
use crate::manifests::EXCLUDED_FROM_LOAD_BALANCERS;
use crate::remote::PREFIX;
use kube::Client;
use kube::api::{ListParams, ObjectMeta};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The objects of the cluster, by kind, as JSON.
#[derive(Debug)]
pub(super) struct Cluster {
    drivers: Vec<Value>,
    load_balancers: Vec<Value>,
    groups: Vec<Value>,
    binds: Vec<Value>,
    pods: Vec<Value>,
    services: Vec<Value>,
    nodes: Vec<Value>,
}

/// By the cloud's name of each load balancer that has to exist.
pub(super) type Expected = BTreeMap<String, ExpectedLoadBalancer>;

#[derive(Debug, Default, PartialEq)]
pub(super) struct ExpectedLoadBalancer {
    pub(super) attributes: BTreeMap<String, String>,
    /// By address, `ip:port`: the weights that groups declare for it, of which the cloud has one.
    pub(super) backends: BTreeMap<String, BTreeSet<String>>,
    /// One for each group or Bind, and address.
    pub(super) records: usize,
}

/// An object that waits for something that does not exist: its kind, namespace and name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting(Kind, String, String);

impl Waiting {
    pub(super) fn of(kind: Kind, meta: &ObjectMeta) -> Self {
        let namespace = meta.namespace.clone().unwrap_or_default();
        Self(kind, namespace, meta.name.clone().unwrap_or_default())
    }

    fn of_json(kind: Kind, object: &Value) -> Self {
        let meta = &object["metadata"];
        Self(
            kind,
            text(&meta["namespace"]).to_owned(),
            text(&meta["name"]).to_owned(),
        )
    }
}

impl Cluster {
    pub(super) async fn read(client: &Client) -> Self {
        let list = async |kind: Kind| {
            let objects = kind.api(client, "").list(&ListParams::default()).await;
            let objects = objects.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            let objects = objects.items.into_iter();
            let json = objects.map(|object| serde_json::to_value(object).unwrap_or_default());
            json.filter(|object| object["metadata"]["deletionTimestamp"].is_null())
                .collect::<Vec<_>>()
        };
        Self {
            drivers: list(Kind::Driver).await,
            load_balancers: list(Kind::LoadBalancer).await,
            groups: list(Kind::Group).await,
            binds: list(Kind::Bind).await,
            pods: list(Kind::Pod).await,
            services: list(Kind::Service).await,
            nodes: own(list(Kind::Node).await),
        }
    }

    pub(super) fn expected(&self) -> Expected {
        let mut expected = Expected::new();
        for lb in &self.load_balancers {
            if self.has_driver(lb, text(&lb["spec"]["lbDriver"])) {
                expected.insert(key(lb), new(&lb["spec"]["attributes"]));
            }
        }
        for group in &self.groups {
            let backends = self.backends_of(group);
            for name in list(&group["spec"]["loadBalancers"]) {
                if let Some(lb) = self.load_balancer(namespace(group), text(name)) {
                    add(&mut expected, &key(lb), &backends, &group["spec"]);
                }
            }
        }
        for bind in &self.binds {
            let backends = self.backends_of(bind);
            for lb in list(&bind["spec"]["loadBalancers"]) {
                if !self.has_driver(bind, text(&lb["driver"])) {
                    continue;
                }
                let key = text(&lb["attributes"]["name"]).to_owned();
                expected.insert(key.clone(), new(&lb["attributes"]));
                add(&mut expected, &key, &backends, &bind["spec"]);
            }
        }
        expected
    }

    /// What cannot be as declared, because something that it needs is missing.
    pub(super) fn waiting(&self) -> BTreeSet<Waiting> {
        let mut waiting = BTreeSet::new();
        for lb in &self.load_balancers {
            if !self.has_driver(lb, text(&lb["spec"]["lbDriver"])) {
                waiting.insert(Waiting::of_json(Kind::LoadBalancer, lb));
            }
        }
        for group in &self.groups {
            let mut lbs = list(&group["spec"]["loadBalancers"]).iter();
            let has_all = lbs.all(|name| self.has_load_balancer(namespace(group), text(name)));
            if !has_all || self.lacks_backends(group) {
                waiting.insert(Waiting::of_json(Kind::Group, group));
            }
        }
        for bind in &self.binds {
            let mut lbs = list(&bind["spec"]["loadBalancers"]).iter();
            let has_all = lbs.all(|lb| self.has_driver(bind, text(&lb["driver"])));
            if !has_all || self.lacks_backends(bind) {
                waiting.insert(Waiting::of_json(Kind::Bind, bind));
            }
        }
        waiting
    }

    fn has_load_balancer(&self, user: &str, name: &str) -> bool {
        let lb = self.load_balancer(user, name);
        lb.is_some_and(|lb| self.has_driver(lb, text(&lb["spec"]["lbDriver"])))
    }

    /// The load balancer that a namespace means by a name and may use. Those whose names begin with
    /// `lbcf-` are those of the system.
    fn load_balancer(&self, user: &str, name: &str) -> Option<&Value> {
        let is_shared = name.starts_with("lbcf-");
        let home = if is_shared { "kube-system" } else { user };
        let mut all = self.load_balancers.iter();
        let lb = all.find(|lb| namespace(lb) == home && lb["metadata"]["name"] == name)?;
        let mut scope = list(&lb["spec"]["scope"]).iter();
        let may_use = !is_shared || scope.any(|allowed| allowed == "*" || allowed == user);
        may_use.then_some(lb)
    }

    /// Whether nothing is selected, or a pod that is selected cannot be registered.
    fn lacks_backends(&self, owner: &Value) -> bool {
        let selector = &owner["spec"]["pods"]["byLabel"]["selector"];
        let mut selected = self.selected(owner, selector);
        self.backends_of(owner).is_empty()
            || selector.is_object()
                && selected.any(|pod| !is_ready(pod) || text(&pod["status"]["podIP"]).is_empty())
    }

    /// Drivers whose names begin with `lbcf-` are those of the system, for all namespaces.
    fn has_driver(&self, user: &Value, name: &str) -> bool {
        let home = match name.starts_with("lbcf-") {
            true => "kube-system",
            false => namespace(user),
        };
        self.drivers
            .iter()
            .any(|driver| text(&driver["metadata"]["name"]) == name && namespace(driver) == home)
    }

    fn backends_of(&self, owner: &Value) -> BTreeSet<String> {
        let spec = &owner["spec"];
        if spec["pods"].is_object() {
            self.pods_of(owner)
        } else if spec["service"].is_object() {
            self.nodes_of(owner)
        } else {
            let addresses = list(&spec["static"]).iter();
            addresses.map(|addr| text(addr).to_owned()).collect()
        }
    }

    /// Pods that are ready, by label.
    fn pods_of(&self, owner: &Value) -> BTreeSet<String> {
        let selector = &owner["spec"]["pods"]["byLabel"]["selector"];
        let ports = list(&owner["spec"]["pods"]["ports"]);
        let selected = self.selected(owner, selector);
        let selected = selected.filter(|pod| is_ready(pod));
        let addresses = selected.flat_map(|pod| {
            let ip = text(&pod["status"]["podIP"]);
            ports
                .iter()
                .map(move |port| format!("{ip}:{}", port["port"]))
        });
        addresses
            .filter(|address| !address.starts_with(':'))
            .collect()
    }

    fn selected<'a>(
        &'a self,
        owner: &'a Value,
        selector: &'a Value,
    ) -> impl Iterator<Item = &'a Value> {
        self.pods.iter().filter(move |pod| {
            let labels = &pod["metadata"]["labels"];
            let mut selector = selector.as_object().into_iter().flatten();
            // Even if its condition says that it is Ready (d92).
            let has_finished = ["Succeeded", "Failed"].contains(&text(&pod["status"]["phase"]));
            namespace(pod) == namespace(owner)
                && !has_finished
                && selector.all(|(label, value)| labels[label] == *value)
        })
    }

    /// As the controllers of clouds choose the nodes of a service: cordoned nodes and those that are not
    /// ready stay, as health checks are about them; the label and the autoscaler's taint exclude a node.
    fn nodes_of(&self, group: &Value) -> BTreeSet<String> {
        let wanted = &group["spec"]["service"];
        let mut services = self.services.iter();
        let service = services.find(|service| {
            namespace(service) == namespace(group) && service["metadata"]["name"] == wanted["name"]
        });
        let ports = service.map_or(&[][..], |service| list(&service["spec"]["ports"]));
        let mut ports = ports.iter();
        let Some(port) = ports.find(|port| port["port"] == wanted["port"]["port"]) else {
            return BTreeSet::new();
        };
        let usable = self.nodes.iter().filter(|node| {
            let mut taints = list(&node["spec"]["taints"]).iter();
            node["metadata"]["labels"][EXCLUDED_FROM_LOAD_BALANCERS].is_null()
                && !taints.any(|taint| taint["key"] == "ToBeDeletedByClusterAutoscaler")
        });
        let internal = usable.filter_map(|node| {
            let mut addresses = list(&node["status"]["addresses"]).iter();
            let internal = addresses.find(|address| address["type"] == "InternalIP")?;
            Some(format!(
                "{}:{}",
                text(&internal["address"]),
                port["nodePort"]
            ))
        });
        internal.collect()
    }
}

/// The nodes of the tests: groups of services select only those where there are others.
fn own(mut nodes: Vec<Value>) -> Vec<Value> {
    nodes.retain(|node| text(&node["metadata"]["name"]).starts_with(PREFIX));
    nodes
}

fn add(expected: &mut Expected, key: &str, backends: &BTreeSet<String>, spec: &Value) {
    let Some(lb) = expected.get_mut(key) else {
        return;
    };
    for address in backends {
        let weights = lb.backends.entry(address.clone()).or_default();
        weights.insert(text(&spec["parameters"]["weight"]).to_owned());
        lb.records += 1;
    }
}

fn new(attributes: &Value) -> ExpectedLoadBalancer {
    let attributes = attributes.as_object().into_iter().flatten();
    ExpectedLoadBalancer {
        attributes: attributes
            .map(|(name, value)| (name.clone(), text(value).to_owned()))
            .collect(),
        ..ExpectedLoadBalancer::default()
    }
}

/// The cloud's name of a LoadBalancer object.
fn key(lb: &Value) -> String {
    text(&lb["spec"]["attributes"]["name"]).to_owned()
}

fn is_ready(object: &Value) -> bool {
    let mut conditions = list(&object["status"]["conditions"]).iter();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn namespace(object: &Value) -> &str {
    text(&object["metadata"]["namespace"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
