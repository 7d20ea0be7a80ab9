//! The state of the cloud and its changes: plain data and synchronous functions, with the time as an
//! argument.

use super::creation::{Creation, CreationPace, CreationStage, NewLoadBalancer, Origin};
use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use super::error::{AddListenerError, CreateError, NotFound};
use super::ids::Ids;
use super::quota::{CallRate, Quotas};
use crate::azure::AzureState;
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The network of instances that no driver has created.
pub(super) const DEFAULT_VPC: &str = "vpc-default";

#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) load_balancers: BTreeMap<String, LoadBalancer>,
    /// The resources of a cloud with the profile `azure`.
    pub(super) azure: Option<AzureState>,
    /// Whether the API is unavailable.
    pub(super) outage: bool,
    pub(super) quotas: Quotas,
    pub(super) rate: CallRate,
    pub(super) ids: Ids,
}

#[derive(Debug, Clone)]
pub(super) struct LoadBalancer {
    pub(super) vpc: String,
    pub(super) kind: LoadBalancerType,
    /// How it was created; none for one that existed from the start.
    pub(super) origin: Option<Origin>,
    pub(super) listeners: BTreeMap<String, Listener>,
}

#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub(super) protocol: ListenerProtocol,
    pub(super) port: u16,
    pub(super) forwarding: Forwarding,
}

/// Where a listener sends what it receives.
#[derive(Debug, Clone)]
pub(super) enum Forwarding {
    Direct(TargetGroup),
    ByRule(BTreeMap<Rule, TargetGroup>),
}

/// The targets of one endpoint, and what else belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct TargetGroup {
    pub(super) attributes: StringMap,
    pub(super) targets: BTreeMap<String, Target>,
    /// The client tokens that took the endpoint into use, and those that released it. The last
    /// release ends the use.
    pub(super) used_by: BTreeSet<String>,
    pub(super) released_by: BTreeSet<String>,
}

/// A target of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its share of the traffic, 0 to 100.
    pub weight: u8,
    /// The parameters of the backend, as the driver gave them.
    pub parameters: StringMap,
    /// A tag that the driver gives a target and the cloud does not interpret: the `recordID` of the
    /// `ensureBackend` that bound it. A target that a user bound by hand has none.
    pub record_id: Option<String>,
}

impl LoadBalancer {
    pub(super) fn new(vpc: &str) -> Self {
        Self {
            vpc: vpc.to_owned(),
            kind: LoadBalancerType::Open,
            origin: None,
            listeners: BTreeMap::new(),
        }
    }

    /// The creation, until it completes.
    pub(super) fn being_created(&self) -> Option<&Origin> {
        self.origin
            .as_ref()
            .filter(|origin| origin.endpoint.is_none())
    }

    fn is_in_use(&self) -> bool {
        self.listeners
            .values()
            .any(|listener| match &listener.forwarding {
                Forwarding::Direct(group) => group.is_in_use(),
                Forwarding::ByRule(rules) => rules.values().any(TargetGroup::is_in_use),
            })
    }
}

impl Listener {
    pub(super) fn new(protocol: ListenerProtocol, port: u16) -> Self {
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
    /// Whether LBCF uses the endpoint.
    pub(super) fn is_in_use(&self) -> bool {
        !self.used_by.is_empty()
    }

    fn release(&mut self, token: &str) {
        self.released_by.insert(token.to_owned());
        if self.released_by.len() >= self.used_by.len() {
            self.released_by.clear();
            self.used_by.clear();
        }
    }
}

impl Model {
    /// Becomes another one, with the quotas and the outage of this one.
    pub(super) fn replace(&mut self, other: Self) {
        self.load_balancers = other.load_balancers;
        self.azure = other.azure;
        self.ids = other.ids;
    }

    /// Puts in place the results of the stages that have completed, and returns whether there are
    /// any.
    pub(super) fn advance(&mut self, now: Duration) -> bool {
        let mut has_changed = false;
        for (id, load_balancer) in &mut self.load_balancers {
            let Some(origin) = load_balancer.origin.as_mut() else {
                continue;
            };
            if origin.endpoint.is_some() || !origin.has_completed(CreationStage::Listener, now) {
                continue;
            }
            has_changed = true;
            let listener_id = origin
                .listener
                .get_or_insert_with(|| self.ids.next_listener())
                .clone();
            let listener = load_balancer
                .listeners
                .entry(listener_id.clone())
                .or_insert_with(|| Listener::new(origin.desired.protocol, origin.desired.port));
            if origin.running(now).is_some() {
                continue;
            }
            let endpoint = Endpoint::new(id, &listener_id, origin.desired.rule.as_ref());
            let group = match &mut listener.forwarding {
                Forwarding::Direct(group) => group,
                Forwarding::ByRule(rules) => rules.entry(endpoint.rule()).or_default(),
            };
            group.attributes.clone_from(&origin.attributes);
            group.used_by.insert(origin.token.clone());
            origin.endpoint = Some(endpoint);
        }
        has_changed
    }

    /// Adds an instance with one TCP listener that no driver has created.
    pub(super) fn add_existing(&mut self, load_balancer: &str, listener: &str, port: u16) {
        let mut instance = LoadBalancer::new(DEFAULT_VPC);
        instance.listeners.insert(
            listener.to_owned(),
            Listener::new(ListenerProtocol::Tcp, port),
        );
        self.load_balancers
            .insert(load_balancer.to_owned(), instance);
    }

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

    /// Starts a creation, or returns the progress of the one with this token.
    pub(super) fn create(
        &mut self,
        token: &str,
        desired: NewLoadBalancer,
        attributes: StringMap,
        pace: CreationPace,
        now: Duration,
    ) -> Result<Creation, CreateError> {
        if token.is_empty() {
            return Err(CreateError::NoToken);
        }
        let id = if let Some(id) = self.created_with(token) {
            id
        } else {
            self.check_load_balancers()?;
            let id = self.ids.next_load_balancer();
            let mut load_balancer = LoadBalancer::new(&desired.vpc);
            load_balancer.kind = desired.kind;
            load_balancer.origin = Some(Origin::new(
                token,
                desired.clone(),
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
        if origin.desired != desired {
            return Err(CreateError::Changed {
                token: token.to_owned(),
                load_balancer: id,
            });
        }
        origin.attributes.clone_from(&attributes);
        let progress = origin.progress(now);
        if let Creation::Done(endpoint) = &progress {
            origin.was_returned = true;
            // Fails if a user has deleted the listener by hand.
            self.group_mut(endpoint)?.attributes = attributes;
        } else {
            origin.polled();
        }
        Ok(progress)
    }

    /// Marks an endpoint as used by LBCF, and returns it with the defaults filled in.
    pub(super) fn take_into_use(
        &mut self,
        token: &str,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<Endpoint, CreateError> {
        if let Some(load_balancer) = self.created_with(token) {
            return Err(CreateError::Changed {
                token: token.to_owned(),
                load_balancer,
            });
        }
        let (protocol, group) = self.find_mut(endpoint)?;
        group.attributes = attributes;
        group.used_by.insert(token.to_owned());
        let rule = protocol.has_rules().then(|| endpoint.rule());
        Ok(Endpoint::new(
            &endpoint.load_balancer,
            &endpoint.listener,
            rule.as_ref(),
        ))
    }

    /// Ends a use of an endpoint. The last release of an instance that was created for LBCF deletes
    /// it with all targets; before its creation has been returned, any release does.
    pub(super) fn release(&mut self, token: &str, endpoint: &Endpoint) -> Result<(), NotFound> {
        let id = &endpoint.load_balancer;
        if self.cancel(|other, _| other == id).is_some() {
            return Ok(());
        }
        self.group_mut(endpoint)?.release(token);
        let is_unused = self
            .load_balancers
            .get(id)
            .is_some_and(|instance| instance.origin.is_some() && !instance.is_in_use());
        if is_unused {
            self.load_balancers.remove(id);
        }
        Ok(())
    }

    /// Deletes an instance whose creation has not been returned to any caller, and returns its ID.
    pub(super) fn cancel(&mut self, matches: impl Fn(&str, &Origin) -> bool) -> Option<String> {
        let id = self.load_balancers.iter().find_map(|(id, instance)| {
            let origin = instance.origin.as_ref()?;
            (!origin.was_returned && matches(id, origin)).then(|| id.clone())
        })?;
        self.load_balancers.remove(&id);
        Some(id)
    }

    /// Completes the creations that match and wait for it, and returns their IDs.
    pub(super) fn release_creations(
        &mut self,
        matches: impl Fn(&str, &Origin) -> bool,
    ) -> Vec<String> {
        let instances = self.load_balancers.iter_mut();
        let released = instances.filter_map(|(id, instance)| {
            let origin = instance.origin.as_mut()?;
            (matches(id, origin) && origin.release()).then(|| id.clone())
        });
        released.collect()
    }

    pub(super) fn set_attributes(
        &mut self,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<(), NotFound> {
        self.group_mut(endpoint)?.attributes = attributes;
        Ok(())
    }

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

    pub(super) fn unbind(&mut self, endpoint: &Endpoint, address: &str) -> Result<bool, NotFound> {
        let group = self.group_mut(endpoint)?;
        Ok(group.targets.remove(address).is_some())
    }

    /// The targets of an endpoint, by address.
    pub(super) fn targets(
        &mut self,
        endpoint: &Endpoint,
    ) -> Result<BTreeMap<String, Target>, NotFound> {
        Ok(self.group_mut(endpoint)?.targets.clone())
    }

    fn created_with(&self, token: &str) -> Option<String> {
        self.load_balancers
            .iter()
            .find(|(_, instance)| {
                let origin = instance.origin.as_ref();
                origin.is_some_and(|origin| origin.token == token)
            })
            .map(|(id, _)| id.clone())
    }

    /// The target group of an endpoint.
    pub(super) fn group_mut(&mut self, endpoint: &Endpoint) -> Result<&mut TargetGroup, NotFound> {
        self.find_mut(endpoint).map(|(_, group)| group)
    }

    /// The target group of an endpoint, and the protocol of its listener.
    fn find_mut(
        &mut self,
        endpoint: &Endpoint,
    ) -> Result<(ListenerProtocol, &mut TargetGroup), NotFound> {
        let listener = self
            .load_balancers
            .get_mut(&endpoint.load_balancer)
            .ok_or_else(|| NotFound::Instance(endpoint.load_balancer.clone()))?
            .listeners
            .get_mut(&endpoint.listener)
            .ok_or_else(|| match endpoint.listener.as_str() {
                "" => NotFound::NoListener(endpoint.load_balancer.clone()),
                listener => NotFound::Listener {
                    load_balancer: endpoint.load_balancer.clone(),
                    listener: listener.to_owned(),
                },
            })?;
        let protocol = listener.protocol;
        let group = match &mut listener.forwarding {
            Forwarding::Direct(_) if endpoint.domain.is_some() || endpoint.url.is_some() => {
                return Err(NotFound::NoRules {
                    listener: endpoint.listener.clone(),
                    protocol,
                });
            }
            Forwarding::Direct(group) => group,
            Forwarding::ByRule(rules) => {
                let rule = endpoint.rule();
                rules.get_mut(&rule).ok_or_else(|| NotFound::Rule {
                    listener: endpoint.listener.clone(),
                    rule,
                })?
            }
        };
        Ok((protocol, group))
    }
}
