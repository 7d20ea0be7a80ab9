//! Owners whose backends are those of a Service: what helps if it is not there, or has none.

use super::nearest;
use super::pod::unready;
use super::selection::{pods, scaled_to_zero};
use super::selector::{change, has_labels};
use crate::cluster::{Cluster, Object};
use crate::finding::{Fix, Problem};
use crate::object::{Kind, ObjectRef};
use lbcf_controller::api::reasons;
use lbcf_controller::names::LABEL_EXCLUDED;
use serde_json::{Value, json};

/// The owner's Service.
struct Source<'a> {
    cluster: &'a Cluster,
    object: &'a ObjectRef,
    owner: &'a Object,
    name: ObjectRef,
    service: &'a Object,
}

pub(super) fn behind(
    cluster: &Cluster,
    (object, owner): (&ObjectRef, &Object),
    problem: &mut Problem,
) {
    let name = object.beside(Kind::Service, owner.text("/spec/service/name"));
    let Some(service) = cluster.get(&name) else {
        let near = nearest::object(cluster, &name);
        return problem.fix(near.map(|name| set(object, &json!({"name": name}))));
    };
    let source = Source {
        cluster,
        object,
        owner,
        name,
        service,
    };
    let is = |reasons| problem.finding.has_reason(reasons);
    if is(&[reasons::NO_NODE_PORT, reasons::NO_SERVICE_PORT]) {
        problem.fix(source.ports());
    } else if is(&[reasons::NO_NODES_SELECTED]) {
        source.nodes(problem);
    } else if is(&[reasons::NO_ENDPOINTS, reasons::ENDPOINTS_NOT_READY]) {
        source.endpoints(problem);
    }
}

fn set(object: &ObjectRef, value: &Value) -> Fix {
    Fix::patch(object, &json!({"spec": {"service": value}}))
}

impl Source<'_> {
    fn ports(&self) -> Option<Fix> {
        let wanted = self.owner.at("/spec/service/port");
        let ports = self.service.list("/spec/ports");
        let has = |port: &Value| match wanted["name"].as_str() {
            Some(name) => port["name"] == name,
            None => [&wanted["port"], &wanted["portNumber"]].contains(&&port["port"]),
        };
        let Some(index) = ports.iter().position(has) else {
            return self.other_port(wanted, ports);
        };
        let is_of_nodes = self.owner.text("/spec/service/mode") != "Endpoints";
        if is_of_nodes && !["NodePort", "LoadBalancer"].contains(&self.service.text("/spec/type")) {
            return Some(Fix::patch(
                &self.name,
                &json!({"spec": {"type": "NodePort"}}),
            ));
        }
        // The EndpointSlices lack a port whose target is a name that no container has.
        let target = ports.get(index)?["targetPort"].as_str()?;
        let selector = self.service.map("/spec/selector");
        let (_, pod) = pods(self.cluster, self.object, &selector).next()?;
        let containers = pod.list("/spec/containers").iter();
        let named: Vec<_> = containers
            .flat_map(|it| it["ports"].as_array().into_iter().flatten())
            .collect();
        let near = nearest::name(target, named.iter().filter_map(|it| it["name"].as_str()));
        let only = named.first().filter(|_| named.len() == 1);
        let value = near
            .map(|it| json!(it))
            .or_else(|| only.map(|it| it["containerPort"].clone()))?;
        let path = format!("/spec/ports/{index}/targetPort");
        let patch = json!([{"op": "replace", "path": path, "value": value}]);
        Some(Fix::patch(&self.name, &patch))
    }

    /// The port that was probably meant: of almost the same name, or the only one.
    fn other_port(&self, wanted: &Value, ports: &[Value]) -> Option<Fix> {
        let names = ports.iter().filter_map(|it| it["name"].as_str());
        let near = wanted["name"]
            .as_str()
            .and_then(|name| nearest::name(name, names));
        let value = match (near, ports) {
            (Some(near), _) => json!({"name": near}),
            (None, [only]) => {
                let protocol = only["protocol"].as_str().unwrap_or("TCP");
                json!({"name": null, "portNumber": null, "port": only["port"], "protocol": protocol})
            }
            (None, _) => return None,
        };
        Some(set(self.object, &json!({"port": value})))
    }

    fn nodes(&self, problem: &mut Problem) {
        let selector = self.owner.map("/spec/service/nodeSelector");
        let nodes: Vec<_> = self.cluster.all(Kind::Node).collect();
        let selected = nodes
            .iter()
            .filter(|(_, it)| selector.is_empty() || has_labels(it, &selector));
        let selected: Vec<_> = selected.collect();
        let excluded = selected
            .iter()
            .filter(|(_, it)| it.labels().contains_key(LABEL_EXCLUDED));
        let excluded: Vec<_> = excluded.map(|(it, _)| &*it.key.name).collect();
        if selected.is_empty() {
            let meant = nearest::selector(&selector, nodes.iter().map(|(_, it)| it.labels()));
            problem.fix(meant.map(|meant| {
                set(
                    self.object,
                    &json!({"nodeSelector": change(&selector, &meant)}),
                )
            }));
        } else if excluded.len() == selected.len() {
            problem.finding.message = format!(
                "has no node: {LABEL_EXCLUDED} excludes {}",
                excluded.join(", ")
            );
            let line = format!(
                "kubectl label nodes {} {LABEL_EXCLUDED}-",
                excluded.join(" ")
            );
            problem.finding.fix = Fix::Run(line);
        } else {
            // With externalTrafficPolicy Local, a node needs a Ready pod.
            self.unready(problem);
        }
    }

    /// Leads on to the pods that are not Ready. Returns whether there are some.
    fn unready(&self, problem: &mut Problem) -> bool {
        let selector = self.service.map("/spec/selector");
        let pods = pods(self.cluster, self.object, &selector);
        let unready = pods.filter(|(_, pod)| unready(pod).is_some());
        problem.because = unready.map(|(pod, _)| pod).take(3).collect();
        !problem.because.is_empty()
    }

    fn endpoints(&self, problem: &mut Problem) {
        let selector = self.service.map("/spec/selector");
        let name = &self.name;
        if selector.is_empty() {
            let advice = format!(
                "Give {name} a selector, or create EndpointSlices with the label kubernetes.io/service-name={}.",
                name.key.name
            );
            return problem.fix(Some(Fix::Advice(advice)));
        }
        if pods(self.cluster, self.object, &selector).next().is_none() {
            if scaled_to_zero(self.cluster, self.object, &selector, problem) {
                return;
            }
            problem.finding.message =
                format!("has no endpoints: the selector of {name} selects no pod");
            let existing = self.cluster.beside(self.object, Kind::Pod);
            let meant = nearest::selector(&selector, existing.map(|(_, it)| it.labels()));
            return problem.fix(meant.map(|meant| {
                Fix::patch(
                    name,
                    &json!({"spec": {"selector": change(&selector, &meant)}}),
                )
            }));
        }
        if !self.unready(problem) {
            let selected = ["zones", "addressFamilies"].into_iter();
            let mut selected =
                selected.filter(|it| !self.owner.list(&format!("/spec/service/{it}")).is_empty());
            problem.fix(
                selected
                    .next()
                    .map(|field| set(self.object, &json!({field: null}))),
            );
        }
    }
}
