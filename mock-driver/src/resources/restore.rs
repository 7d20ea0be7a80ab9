//! A cloud as a document, and from one. What a cloud cannot hold is refused, with the path of the field.

use super::creation::{CreationState, Origin};
use super::document::{
    CloudState, Ids, ListenerState, LoadBalancerState, RuleState, StateVersion, TargetGroupState,
    TargetState,
};
use super::endpoint::{Endpoint, Rule};
use super::load_balancer::{Listener, LoadBalancer, Target, TargetGroup};
use super::model::Model;
use std::collections::BTreeMap;
use std::time::Duration;

impl CloudState {
    /// Everything that the cloud holds.
    pub(crate) fn of(model: &Model, now: Duration) -> Self {
        let load_balancers = model.load_balancers.iter().map(|(id, instance)| {
            let origin = instance.origin.as_ref();
            let listeners = instance.listeners.iter();
            LoadBalancerState {
                id: id.clone(),
                vpc: instance.vpc.clone(),
                kind: instance.kind,
                creating: origin.and_then(|origin| Some(origin.running(now)?.0)),
                client_token: origin.map(|origin| origin.token.clone()),
                creation: origin.map(|origin| origin.document(now)),
                listeners: listeners
                    .map(|(listener, it)| listener_state(id, listener, it))
                    .collect(),
            }
        });
        Self {
            version: StateVersion,
            load_balancers: load_balancers.collect(),
            azure: model.azure.clone(),
            last_ids: model.ids,
        }
    }

    /// The cloud of this document.
    pub(crate) fn model(&self, now: Duration) -> Result<Model, String> {
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
        skip_taken_ids(&mut model.ids, &self.load_balancers);
        model.advance(now);
        Ok(model)
    }
}

fn listener_state(load_balancer: &str, id: &str, listener: &Listener) -> ListenerState {
    let state = |(rule, group): (&Option<Rule>, &TargetGroup)| {
        let endpoint = Endpoint::new(load_balancer, id, rule.as_ref());
        let used_as = (!group.used_by.is_empty()).then(|| endpoint.lb_info());
        let targets = group.targets.iter().map(|(addr, target)| TargetState {
            addr: addr.clone(),
            weight: target.weight,
            parameters: target.parameters.clone(),
            record_id: target.record_id.clone(),
        });
        TargetGroupState {
            attributes: group.attributes.clone(),
            used_as: Vec::from_iter(used_as),
            used_by: group.used_by.clone(),
            released_by: group.released_by.clone(),
            targets: targets.collect(),
        }
    };
    let rules = listener.groups.iter().filter_map(|(key, group)| {
        let Rule { domain, url } = key.clone()?;
        let targets = state((key, group));
        Some(RuleState {
            domain,
            url,
            targets,
        })
    });
    ListenerState {
        id: id.to_owned(),
        protocol: listener.protocol,
        port: listener.port,
        targets: listener.groups.get_key_value(&None).map(state),
        rules: listener.protocol.has_rules().then(|| rules.collect()),
    }
}

fn instance(state: &LoadBalancerState, now: Duration) -> Result<LoadBalancer, String> {
    let mut instance = LoadBalancer::new(state.vpc.clone(), state.kind, None);
    for (index, listener_state) in state.listeners.iter().enumerate() {
        let at = |problem: String| format!("listeners[{index}].{problem}");
        let listener = listener(listener_state).map_err(at)?;
        if let Some(other) = instance.taken_by(listener.protocol, listener.port) {
            let problem = format!("port: {}: is taken by listener {other}", listener.port);
            return Err(at(problem));
        }
        insert(&mut instance.listeners, "id", &listener_state.id, listener).map_err(at)?;
    }
    instance.origin = match (&state.creation, &state.client_token) {
        (Some(creation), Some(token)) => {
            check_port("creation.port", creation.port)?;
            let listener = creation.listener.as_deref().unwrap_or_default();
            if creation.complete && !instance.listeners.contains_key(listener) {
                return Err(format!(
                    "creation.listener: {listener:?}: a complete creation has one of the listeners"
                ));
            }
            Some(origin(token.clone(), creation.clone(), now))
        }
        (None, None) => None,
        _ => return Err("creation: comes with clientToken, and clientToken with it".to_owned()),
    };
    Ok(instance)
}

fn origin(token: String, state: CreationState, now: Duration) -> Origin {
    let mut origin = Origin {
        token,
        state,
        started: now,
    };
    let rule = origin.rule().map(|rule| (rule.domain, rule.url));
    (origin.state.domain, origin.state.url) = rule.unzip();
    origin
}

fn listener(state: &ListenerState) -> Result<Listener, String> {
    check_port("port", state.port)?;
    let protocol = state.protocol;
    let given = |group: &TargetGroupState| *group != TargetGroupState::default();
    if !protocol.has_rules() && state.rules.is_some() {
        return Err(format!("rules: a {protocol} listener has none"));
    }
    if protocol.has_rules() && state.targets.as_ref().is_some_and(given) {
        return Err(format!(
            "targets: those of a {protocol} listener are in its rules"
        ));
    }
    let mut listener = Listener::new(protocol, state.port);
    if let Some(targets) = state.targets.as_ref().filter(|_| !protocol.has_rules()) {
        listener.groups.insert(None, group(targets)?);
    }
    for (index, rule) in state.rules.iter().flatten().enumerate() {
        let at = |problem: String| format!("rules[{index}].{problem}");
        let url = &rule.url;
        if !url.starts_with('/') {
            return Err(at(format!("url: {url:?}: does not start with a slash")));
        }
        let group = group(&rule.targets).map_err(at)?;
        let key = Some(Rule::new(Some(&rule.domain), Some(url)));
        if listener.groups.insert(key, group).is_some() {
            return Err(at("domain: with this url it is given twice".to_owned()));
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

/// A document by hand may use IDs that the cloud would give next.
fn skip_taken_ids(ids: &mut Ids, load_balancers: &[LoadBalancerState]) {
    let number = |id: &str, prefix: &str| {
        let digits = id.strip_prefix(prefix).filter(|it| it.len() == 8)?;
        digits.parse::<u64>().ok()
    };
    for instance in load_balancers {
        let taken = number(&instance.id, "lb-").unwrap_or_default();
        ids.load_balancers = ids.load_balancers.max(taken);
        for listener in &instance.listeners {
            let taken = number(&listener.id, "lbl-").unwrap_or_default();
            ids.listeners = ids.listeners.max(taken);
        }
    }
}
