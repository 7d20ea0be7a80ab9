//! Everything that a cloud holds, and the operations of its API.

use super::azure::AzureState;
use super::creation::{Creation, CreationPace, CreationStage, NewLoadBalancer, Origin};
use super::document::{Ids, default_vpc};
use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use super::error::{
    AddListenerError, BindError, CreateError, NotFound, TooManyTargets, Unavailable,
};
use super::load_balancer::{Listener, LoadBalancer, Target, TargetGroup};
use super::quota::{self, CallRate, QuotaUse, Quotas};
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) load_balancers: BTreeMap<String, LoadBalancer>,
    /// The resources of a cloud with the profile `azure`.
    pub(crate) azure: Option<AzureState>,
    /// True while the API is unavailable.
    pub(crate) outage: bool,
    pub(crate) quotas: Quotas,
    pub(super) rate: CallRate,
    pub(crate) ids: Ids,
}

impl Model {
    /// Becomes another one, with the quotas and the outage of this one.
    pub(crate) fn replace(&mut self, other: Self) {
        self.load_balancers = other.load_balancers;
        self.azure = other.azure;
        self.ids = other.ids;
    }

    /// Puts in place the results of the stages that have completed, and returns whether there are
    /// any.
    pub(crate) fn advance(&mut self, now: Duration) -> bool {
        let mut has_changed = false;
        for load_balancer in self.load_balancers.values_mut() {
            let Some(origin) = load_balancer.origin.as_mut() else {
                continue;
            };
            if origin.state.complete || !origin.has_completed(CreationStage::Listener, now) {
                continue;
            }
            has_changed = true;
            let id = origin.state.listener.clone();
            let id = id.unwrap_or_else(|| self.ids.next_listener());
            origin.state.listener = Some(id.clone());
            let (protocol, port) = (origin.state.protocol, origin.state.port);
            let listener = load_balancer.listeners.entry(id);
            let listener = listener.or_insert_with(|| Listener::new(protocol, port));
            if origin.running(now).is_some() {
                continue;
            }
            let group = listener.groups.entry(origin.rule()).or_default();
            group.attributes.clone_from(&origin.state.attributes);
            group.used_by.insert(origin.token.clone());
            origin.state.complete = true;
        }
        has_changed
    }

    /// Adds an instance with one TCP listener that no driver has created.
    pub(crate) fn add_existing(&mut self, load_balancer: &str, listener: &str, port: u16) {
        let mut instance = LoadBalancer::new(default_vpc(), LoadBalancerType::Open, None);
        let tcp = Listener::new(ListenerProtocol::Tcp, port);
        instance.listeners.insert(listener.to_owned(), tcp);
        self.load_balancers
            .insert(load_balancer.to_owned(), instance);
    }

    pub(crate) fn add_listener(
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
        if let Some(listener) = instance.taken_by(protocol, port) {
            return Err(AddListenerError::PortTaken {
                load_balancer: load_balancer.to_owned(),
                port,
                listener: listener.clone(),
            });
        }
        let mut listener = Listener::new(protocol, port);
        let rule = rule.unwrap_or_else(|| Rule::new(None, None));
        let rule = protocol.has_rules().then_some(rule);
        listener.groups.entry(rule.clone()).or_default();
        let id = self.ids.next_listener();
        let endpoint = Endpoint::new(load_balancer, &id, rule.as_ref());
        instance.listeners.insert(id, listener);
        Ok(endpoint)
    }

    /// Starts a creation, or returns the progress of the one with this token.
    pub(crate) fn create(
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
        let id = match self.created_with(token) {
            Some(id) => id,
            None => self.start_creation(token, &desired, &attributes, pace, now)?,
        };
        let not_found = || NotFound::Instance(id.clone());
        let instance = self.load_balancers.get_mut(&id).ok_or_else(not_found)?;
        if instance.desired() != Some(desired) {
            return Err(CreateError::Changed {
                token: token.to_owned(),
                load_balancer: id,
            });
        }
        let origin = instance.origin.as_mut().ok_or_else(not_found)?;
        origin.state.attributes.clone_from(&attributes);
        let progress = origin.progress(&id, now);
        if let Creation::Done(endpoint) = &progress {
            origin.state.returned = true;
            // Fails if a user has deleted the listener by hand.
            self.group_mut(endpoint)?.attributes = attributes;
        } else {
            origin.state.polled = origin.state.polled.saturating_add(1);
        }
        Ok(progress)
    }

    fn start_creation(
        &mut self,
        token: &str,
        desired: &NewLoadBalancer,
        attributes: &StringMap,
        pace: CreationPace,
        now: Duration,
    ) -> Result<String, CreateError> {
        let limit = self.quotas.load_balancers;
        quota::check(quota::LOAD_BALANCERS, limit, self.load_balancers.len())?;
        let id = self.ids.next_load_balancer();
        let mut origin = Origin::new(token, desired, pace, now);
        origin.state.attributes.clone_from(attributes);
        let instance = LoadBalancer::new(desired.vpc.clone(), desired.kind, Some(origin));
        self.load_balancers.insert(id.clone(), instance);
        self.advance(now);
        Ok(id)
    }

    /// Marks an endpoint as used by LBCF, and returns it with the defaults filled in.
    pub(crate) fn take_into_use(
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
    pub(crate) fn release(&mut self, token: &str, endpoint: &Endpoint) -> Result<(), NotFound> {
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
    pub(crate) fn cancel(&mut self, matches: impl Fn(&str, &Origin) -> bool) -> Option<String> {
        let id = self.load_balancers.iter().find_map(|(id, instance)| {
            let origin = instance.origin.as_ref()?;
            (!origin.state.returned && matches(id, origin)).then(|| id.clone())
        })?;
        self.load_balancers.remove(&id);
        Some(id)
    }

    /// Deletes the instance that was created with this token and that no other one uses, and returns its ID.
    pub(crate) fn cancel_creation(&mut self, token: &str) -> Option<String> {
        let id = self.created_with(token)?;
        let is_used = |instance: &LoadBalancer| instance.is_used_by_others(token);
        if self.load_balancers.get(&id).is_none_or(is_used) {
            return None;
        }
        self.load_balancers.remove(&id);
        Some(id)
    }

    /// Completes the creations with this token or instance ID, or all, that are held, and returns their
    /// IDs.
    pub(crate) fn release_creations(&mut self, token_or_id: Option<&str>) -> Vec<String> {
        let instances = self.load_balancers.iter_mut();
        let released = instances.filter_map(|(id, instance)| {
            let origin = instance.origin.as_mut()?;
            let matches = token_or_id.is_none_or(|text| text == id || text == origin.token);
            let waits = !origin.state.complete && !origin.state.released;
            origin.state.released |= matches;
            (matches && waits).then(|| id.clone())
        });
        released.collect()
    }

    /// Binds a target, or replaces the one with this address.
    pub(crate) fn bind(
        &mut self,
        endpoint: &Endpoint,
        address: &str,
        target: Target,
    ) -> Result<(), BindError> {
        let limit = self.quotas.backends;
        let targets = &mut self.group_mut(endpoint)?.targets;
        if !targets.contains_key(address) {
            quota::check(quota::BACKENDS, limit, targets.len())?;
        }
        targets.insert(address.to_owned(), target);
        Ok(())
    }

    /// Counts a call of the API, which writes or only reads.
    ///
    /// # Errors
    /// There is an outage, or there were too many calls in this second.
    pub(crate) fn count_call(&mut self, writes: bool, now: Duration) -> Result<(), Unavailable> {
        if self.outage {
            return Err(Unavailable::OUTAGE);
        }
        let code = match &self.azure {
            Some(_) if !writes => return Ok(()),
            Some(_) => "TooManyRequests",
            None => "RequestLimitExceeded",
        };
        let counted = self.rate.count(self.quotas.calls_per_second, now);
        counted.map_err(|limit| Unavailable::throttled(code, limit))
    }

    /// Checks the number of targets of a call.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn check_call(&self, targets: usize) -> Result<(), TooManyTargets> {
        match self.quotas.targets_per_call {
            Some(limit) if targets > limit => Err(TooManyTargets { targets, limit }),
            _ => Ok(()),
        }
    }

    pub(crate) fn quota_use(&self, now: Duration) -> [QuotaUse; 3] {
        let instances = self.load_balancers.values();
        let listeners = instances.flat_map(|it| it.listeners.values());
        let groups = listeners.flat_map(|it| it.groups.values());
        let most = groups.map(|group| group.targets.len()).max();
        let in_usize = |calls| usize::try_from(calls).unwrap_or(usize::MAX);
        let calls = (
            in_usize(self.rate.calls(now)),
            self.quotas.calls_per_second.map(in_usize),
        );
        let quotas = [
            (
                quota::LOAD_BALANCERS,
                (self.load_balancers.len(), self.quotas.load_balancers),
            ),
            (
                quota::BACKENDS,
                (most.unwrap_or_default(), self.quotas.backends),
            ),
            (quota::CALLS, calls),
        ];
        quotas.map(|(name, (used, limit))| QuotaUse { name, used, limit })
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
    pub(crate) fn group_mut(&mut self, endpoint: &Endpoint) -> Result<&mut TargetGroup, NotFound> {
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
        if !protocol.has_rules() && (endpoint.domain.is_some() || endpoint.url.is_some()) {
            return Err(NotFound::NoRules {
                listener: endpoint.listener.clone(),
                protocol,
            });
        }
        let rule = protocol.has_rules().then(|| endpoint.rule());
        match listener.groups.get_mut(&rule) {
            Some(group) => Ok((protocol, group)),
            None => Err(NotFound::Rule {
                listener: endpoint.listener.clone(),
                rule: endpoint.rule(),
            }),
        }
    }
}

/// IDs are counted, so that the same calls in the same order give the same IDs, and tests and documents can
/// name `lb-00000001`.
impl Ids {
    fn next_load_balancer(&mut self) -> String {
        self.load_balancers = self.load_balancers.saturating_add(1);
        format!("lb-{:08}", self.load_balancers)
    }

    fn next_listener(&mut self) -> String {
        self.listeners = self.listeners.saturating_add(1);
        format!("lbl-{:08}", self.listeners)
    }
}
