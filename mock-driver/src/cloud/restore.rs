//! A cloud from a document. What a cloud cannot hold is refused, with the path of the field.

use super::creation::Origin;
use super::endpoint::Rule;
use super::model::{Forwarding, Listener, LoadBalancer, Model, Target, TargetGroup};
use super::state::{CloudState, ListenerState, LoadBalancerState, TargetGroupState};
use std::collections::BTreeMap;
use std::time::Duration;

impl CloudState {
    /// The cloud of this document.
    pub(super) fn model(&self, now: Duration) -> Result<Model, String> {
        let mut model = Model {
            azure: self.azure.clone(),
            ids: self.last_ids,
            ..Model::default()
        };
        for (index, state) in self.load_balancers.iter().enumerate() {
            let at = |problem: String| format!("loadBalancers[{index}].{problem}");
            let instance = instance(state, now).map_err(at)?;
            insert(&mut model.load_balancers, "id", &state.id, instance).map_err(at)?;
        }
        model.skip_taken_ids();
        model.advance(now);
        Ok(model)
    }
}

fn instance(state: &LoadBalancerState, now: Duration) -> Result<LoadBalancer, String> {
    let mut instance = LoadBalancer::new(&state.vpc);
    instance.kind = state.kind;
    for (index, listener_state) in state.listeners.iter().enumerate() {
        let at = |problem: String| format!("listeners[{index}].{problem}");
        let listener = listener(listener_state).map_err(at)?;
        let taken = instance.listeners.iter().find(|(_, other)| {
            other.port == listener.port && other.protocol.collides_with(listener.protocol)
        });
        if let Some((other, _)) = taken {
            let problem = format!("port: {}: is taken by listener {other}", listener.port);
            return Err(at(problem));
        }
        insert(&mut instance.listeners, "id", &listener_state.id, listener).map_err(at)?;
    }
    instance.origin = match (&state.creation, &state.client_token) {
        (Some(creation), Some(token)) => {
            check_port("creation.port", creation.port)?;
            let is_there = |id: &String| instance.listeners.contains_key(id);
            if creation.complete && !creation.listener.as_ref().is_some_and(is_there) {
                let listener = creation.listener.as_deref().unwrap_or_default();
                return Err(format!(
                    "creation.listener: {listener:?}: a complete creation has one of the listeners"
                ));
            }
            Some(Origin::restored(&state.id, token, state, creation, now))
        }
        (None, None) => None,
        _ => return Err("creation: comes with clientToken, and clientToken with it".to_owned()),
    };
    Ok(instance)
}

fn listener(state: &ListenerState) -> Result<Listener, String> {
    check_port("port", state.port)?;
    let mut listener = Listener::new(state.protocol, state.port);
    match &mut listener.forwarding {
        Forwarding::Direct(_) if state.rules.is_some() => {
            let protocol = state.protocol;
            return Err(format!("rules: a {protocol} listener has none"));
        }
        Forwarding::Direct(targets) => {
            *targets = group(
                state
                    .targets
                    .as_ref()
                    .unwrap_or(&TargetGroupState::default()),
            )?;
        }
        Forwarding::ByRule(rules) => {
            if state
                .targets
                .as_ref()
                .is_some_and(|group| *group != TargetGroupState::default())
            {
                let protocol = state.protocol;
                return Err(format!(
                    "targets: those of a {protocol} listener are in its rules"
                ));
            }
            for (index, rule_state) in state.rules.iter().flatten().enumerate() {
                let at = |problem: String| format!("rules[{index}].{problem}");
                let rule = Rule {
                    domain: rule_state.domain.clone(),
                    url: rule_state.url.clone(),
                };
                if !rule.url.starts_with('/') {
                    return Err(at(format!(
                        "url: {:?}: does not start with a slash",
                        rule.url
                    )));
                }
                let group = group(&rule_state.targets).map_err(at)?;
                if rules.insert(rule, group).is_some() {
                    return Err(at("domain: with this url it is given twice".to_owned()));
                }
            }
        }
    }
    Ok(listener)
}

fn group(state: &TargetGroupState) -> Result<TargetGroup, String> {
    let mut targets = BTreeMap::new();
    for (index, target) in state.targets.iter().enumerate() {
        let at = |problem: String| format!("targets[{index}].{problem}");
        if target.weight > 100 {
            let weight = target.weight;
            return Err(at(format!("weight: {weight}: not a number from 0 to 100")));
        }
        let bound = Target {
            weight: target.weight,
            parameters: target.parameters.clone(),
            record_id: target.record_id.clone(),
        };
        insert(&mut targets, "addr", &target.addr, bound).map_err(at)?;
    }
    Ok(TargetGroup {
        attributes: state.attributes.clone(),
        targets,
        used_by: state.used_by.clone(),
        released_by: state.released_by.clone(),
    })
}

fn insert<T>(
    map: &mut BTreeMap<String, T>,
    field: &str,
    key: &str,
    value: T,
) -> Result<(), String> {
    if key.is_empty() {
        return Err(format!("{field}: is empty"));
    }
    match map.insert(key.to_owned(), value) {
        Some(_) => Err(format!("{field}: {key:?}: is given twice")),
        None => Ok(()),
    }
}

fn check_port(field: &str, port: u16) -> Result<(), String> {
    match port {
        0 => Err(format!("{field}: 0: not a number from 1 to 65535")),
        _ => Ok(()),
    }
}

impl Model {
    /// A document by hand may use IDs that the cloud would give next.
    fn skip_taken_ids(&mut self) {
        let number = |id: &str, prefix: &str| id.strip_prefix(prefix)?.parse::<u64>().ok();
        for (id, instance) in &self.load_balancers {
            if let Some(taken) = number(id, "lb-").filter(|_| id.len() == "lb-00000001".len()) {
                self.ids.load_balancers = self.ids.load_balancers.max(taken);
            }
            for id in instance.listeners.keys() {
                if let Some(taken) = number(id, "lbl-").filter(|_| id.len() == "lbl-00000001".len())
                {
                    self.ids.listeners = self.ids.listeners.max(taken);
                }
            }
        }
    }
}
