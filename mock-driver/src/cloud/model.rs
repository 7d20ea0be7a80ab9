//! What the cloud holds, and the changes it knows. Plain data and plain functions: no lock, no
//! clock but the argument `now`.

use super::creation::{Creation, NewLoadBalancer, Origin, Stage};
use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use super::error::{AddListenerError, CreateError, NotFound};
use super::ids::Ids;
use super::twice;
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::BTreeMap;
use std::time::Duration;

/// The whole cloud.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) load_balancers: BTreeMap<String, LoadBalancer>,
    /// Whether the API is temporarily unavailable.
    pub(super) outage: bool,
    ids: Ids,
}

/// A CLB instance.
#[derive(Debug, Clone)]
pub(super) struct LoadBalancer {
    pub(super) vpc: String,
    pub(super) kind: LoadBalancerType,
    /// How it was created; nothing for one that was there before.
    pub(super) origin: Option<Origin>,
    pub(super) listeners: BTreeMap<String, Listener>,
}

/// A listener of a CLB instance.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub(super) protocol: ListenerProtocol,
    pub(super) port: u16,
    pub(super) forwarding: Forwarding,
}

/// Where a listener sends what it receives.
#[derive(Debug, Clone)]
pub(super) enum Forwarding {
    /// Everything to the same targets.
    Direct(TargetGroup),
    /// By domain and path.
    ByRule(BTreeMap<Rule, TargetGroup>),
}

/// The targets of one endpoint, and what else belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct TargetGroup {
    pub(super) attributes: StringMap,
    pub(super) targets: BTreeMap<String, Target>,
    /// The identities under which LBCF knows the endpoint.
    pub(super) known_as: BTreeMap<StringMap, Use>,
}

/// Whether LBCF uses an endpoint under an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It does.
    Current,
    /// It did. The identity is kept while there are targets, so that what was left behind is
    /// seen under the name that it was bound by.
    Ended,
}

/// A target of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its share of the traffic, 0 to 100.
    pub weight: u8,
    /// The parameters that it was bound with, as given.
    pub parameters: StringMap,
}

impl LoadBalancer {
    fn new(vpc: &str) -> Self {
        Self {
            vpc: vpc.to_owned(),
            kind: LoadBalancerType::Open,
            origin: None,
            listeners: BTreeMap::new(),
        }
    }

    /// The creation, while it is not over.
    pub(super) fn being_created(&self) -> Option<&Origin> {
        self.origin
            .as_ref()
            .filter(|origin| origin.endpoint.is_none())
    }
}

impl Listener {
    fn new(protocol: ListenerProtocol, port: u16) -> Self {
        let forwarding = if protocol.has_rules() {
            Forwarding::ByRule(BTreeMap::new())
        } else {
            Forwarding::Direct(TargetGroup::default())
        };
        Self {
            protocol,
            port,
            forwarding,
        }
    }
}

impl TargetGroup {
    fn forget_ended_uses(&mut self) {
        if self.targets.is_empty() {
            self.known_as.retain(|_, usage| *usage == Use::Current);
        }
    }
}

impl Model {
    /// Puts in place what creations have finished by now.
    pub(super) fn advance(&mut self, now: Duration) {
        for (id, load_balancer) in &mut self.load_balancers {
            let Some(origin) = load_balancer.origin.as_mut() else {
                continue;
            };
            if origin.endpoint.is_some() || !origin.has_passed(Stage::Listener, now) {
                continue;
            }
            let listener_id = origin
                .listener
                .get_or_insert_with(|| self.ids.next_listener())
                .clone();
            let listener = load_balancer
                .listeners
                .entry(listener_id.clone())
                .or_insert_with(|| Listener::new(origin.wanted.protocol, origin.wanted.port));
            if origin.running(now).is_some() {
                continue;
            }
            let endpoint = Endpoint::new(id, &listener_id, origin.wanted.rule.as_ref());
            let group = match &mut listener.forwarding {
                Forwarding::Direct(group) => group,
                Forwarding::ByRule(rules) => rules.entry(endpoint.rule()).or_default(),
            };
            group.attributes.clone_from(&origin.attributes);
            group.known_as.insert(endpoint.lb_info(), Use::Current);
            origin.endpoint = Some(endpoint);
        }
    }

    /// Adds an instance that was there before anybody asked, with one TCP listener.
    pub(super) fn add_existing(&mut self, load_balancer: &str, listener: &str, port: u16) {
        let mut instance = LoadBalancer::new("vpc-default");
        instance.listeners.insert(
            listener.to_owned(),
            Listener::new(ListenerProtocol::Tcp, port),
        );
        self.load_balancers
            .insert(load_balancer.to_owned(), instance);
    }

    /// Adds a listener, and for HTTP(S) a rule of it.
    pub(super) fn add_listener(
        &mut self,
        load_balancer: &str,
        protocol: ListenerProtocol,
        port: u16,
        rule: Option<Rule>,
    ) -> Result<Endpoint, AddListenerError> {
        let instance = self
            .load_balancers
            .get_mut(load_balancer)
            .ok_or_else(|| NotFound::Instance(load_balancer.to_owned()))?;
        let taken = instance.listeners.iter().find(|(_, listener)| {
            listener.port == port && listener.protocol.collides_with(protocol)
        });
        if let Some((listener, _)) = taken {
            return Err(AddListenerError::PortTaken {
                load_balancer: load_balancer.to_owned(),
                port,
                listener: listener.clone(),
            });
        }
        let mut listener = Listener::new(protocol, port);
        let mut named = None;
        if let Forwarding::ByRule(rules) = &mut listener.forwarding {
            let rule = rule.unwrap_or_else(|| Rule::new(None, None));
            rules.insert(rule.clone(), TargetGroup::default());
            named = Some(rule);
        }
        let id = self.ids.next_listener();
        let endpoint = Endpoint::new(load_balancer, &id, named.as_ref());
        instance.listeners.insert(id, listener);
        Ok(endpoint)
    }

    /// Begins a creation, or tells how far the one with this token is.
    pub(super) fn create(
        &mut self,
        token: &str,
        wanted: NewLoadBalancer,
        attributes: StringMap,
        pace: Duration,
        now: Duration,
    ) -> Result<Creation, CreateError> {
        if token.is_empty() {
            return Err(CreateError::NoToken);
        }
        let id = if let Some(id) = self.made_with(token) {
            id
        } else {
            let id = self.ids.next_load_balancer();
            let mut load_balancer = LoadBalancer::new(&wanted.vpc);
            load_balancer.kind = wanted.kind;
            load_balancer.origin = Some(Origin::begin(
                token,
                wanted.clone(),
                attributes.clone(),
                now,
                pace,
            ));
            self.load_balancers.insert(id.clone(), load_balancer);
            self.advance(now);
            id
        };
        let not_found = || NotFound::Instance(id.clone());
        let origin = self
            .load_balancers
            .get_mut(&id)
            .and_then(|load_balancer| load_balancer.origin.as_mut())
            .ok_or_else(not_found)?;
        if origin.wanted != wanted {
            return Err(CreateError::Changed {
                token: token.to_owned(),
                load_balancer: id,
            });
        }
        origin.attributes.clone_from(&attributes);
        let progress = origin.progress(now);
        if let Creation::Done(endpoint) = &progress {
            origin.handed_out = true;
            // A listener that somebody took away by hand is reported, not made up.
            self.group_mut(endpoint)?.attributes = attributes;
        }
        Ok(progress)
    }

    /// Marks an existing endpoint as used by LBCF under this identity, and gives it the attributes.
    pub(super) fn take_into_use(
        &mut self,
        token: &str,
        endpoint: &Endpoint,
        known_as: &StringMap,
        attributes: StringMap,
    ) -> Result<(), CreateError> {
        if let Some(load_balancer) = self.made_with(token) {
            return Err(CreateError::Changed {
                token: token.to_owned(),
                load_balancer,
            });
        }
        let group = self.group_mut(endpoint)?;
        group.attributes = attributes;
        group.known_as.insert(known_as.clone(), Use::Current);
        if let Some(origin) = self.origin_mut(&endpoint.load_balancer) {
            origin.users.insert(token.to_owned());
        }
        Ok(())
    }

    /// Ends LBCF's use of an endpoint. An instance that [`create`](Self::create) made goes with
    /// its last use, whatever is still bound to it; one that was there before stays.
    pub(super) fn release(
        &mut self,
        token: &str,
        endpoint: &Endpoint,
        known_as: &StringMap,
    ) -> Result<(), NotFound> {
        let group = self.group_mut(endpoint)?;
        if let Some(usage) = group.known_as.get_mut(known_as) {
            *usage = Use::Ended;
        }
        group.forget_ended_uses();
        let unused = self
            .origin_mut(&endpoint.load_balancer)
            .is_some_and(|origin| {
                origin.leavers.insert(token.to_owned());
                origin.leavers.len() >= origin.users.len()
            });
        if unused {
            self.load_balancers.remove(&endpoint.load_balancer);
        }
        Ok(())
    }

    /// Takes back a creation whose result nobody was told; gives the instance's name.
    pub(super) fn cancel(&mut self, which: &dyn Fn(&str, &Origin) -> bool) -> Option<String> {
        let id = self.load_balancers.iter().find_map(|(id, instance)| {
            let origin = instance.origin.as_ref()?;
            (!origin.handed_out && which(id, origin)).then(|| id.clone())
        })?;
        self.load_balancers.remove(&id);
        Some(id)
    }

    /// Replaces an endpoint's attributes.
    pub(super) fn set_attributes(
        &mut self,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<(), NotFound> {
        self.group_mut(endpoint)?.attributes = attributes;
        Ok(())
    }

    /// Binds a target, or brings a bound one to this weight and these parameters.
    pub(super) fn bind(
        &mut self,
        endpoint: &Endpoint,
        address: &str,
        target: Target,
    ) -> Result<(), NotFound> {
        let group = self.group_mut(endpoint)?;
        group.targets.insert(address.to_owned(), target);
        Ok(())
    }

    /// Unbinds a target; says whether it was bound.
    pub(super) fn unbind(&mut self, endpoint: &Endpoint, address: &str) -> Result<bool, NotFound> {
        let group = self.group_mut(endpoint)?;
        let was_bound = group.targets.remove(address).is_some();
        twice::remove_further(&mut group.targets, address);
        group.forget_ended_uses();
        Ok(was_bound)
    }

    fn made_with(&self, token: &str) -> Option<String> {
        self.load_balancers
            .iter()
            .find(|(_, instance)| {
                let origin = instance.origin.as_ref();
                origin.is_some_and(|origin| origin.token == token)
            })
            .map(|(id, _)| id.clone())
    }

    fn origin_mut(&mut self, load_balancer: &str) -> Option<&mut Origin> {
        self.load_balancers.get_mut(load_balancer)?.origin.as_mut()
    }

    /// The targets of an endpoint.
    pub(super) fn group_mut(&mut self, endpoint: &Endpoint) -> Result<&mut TargetGroup, NotFound> {
        let listener = self
            .load_balancers
            .get_mut(&endpoint.load_balancer)
            .ok_or_else(|| NotFound::Instance(endpoint.load_balancer.clone()))?
            .listeners
            .get_mut(&endpoint.listener)
            .ok_or_else(|| NotFound::Listener {
                load_balancer: endpoint.load_balancer.clone(),
                listener: endpoint.listener.clone(),
            })?;
        match &mut listener.forwarding {
            Forwarding::Direct(group) => {
                if endpoint.domain.is_some() || endpoint.url.is_some() {
                    return Err(NotFound::NoRules {
                        listener: endpoint.listener.clone(),
                        protocol: listener.protocol,
                    });
                }
                Ok(group)
            }
            Forwarding::ByRule(rules) => {
                let rule = endpoint.rule();
                rules.get_mut(&rule).ok_or_else(|| NotFound::Rule {
                    listener: endpoint.listener.clone(),
                    rule,
                })
            }
        }
    }
}
