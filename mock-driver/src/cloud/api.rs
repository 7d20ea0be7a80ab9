//! The provider's API: what a driver calls. Each call fails during an [outage](Cloud::set_outage). Changes by
//! hand are those that a user makes in the provider's console, which work during an outage, too.

use super::changes::Scope;
use super::handle::Cloud;
use crate::resources::{
    AddListenerError, BindError, CloudError, CreateError, Creation, CreationPace, Endpoint,
    ListenerProtocol, Model, NewLoadBalancer, NotFound, Rule, SetAttributesError, Target,
    TargetGroup, TooManyTargets, Unavailable,
};
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::BTreeMap;
use std::time::Duration;

impl Cloud {
    /// Checks that an endpoint exists.
    ///
    /// # Errors
    /// [`NotFound`] when it does not.
    pub fn find(&self, endpoint: &Endpoint) -> Result<(), CloudError<NotFound>> {
        self.call_within(Scope::Nothing, |model, _| {
            model.group_mut(endpoint).map(drop)
        })
    }

    /// Creates an instance with a listener and, for HTTP and HTTPS, a forwarding rule, each in a
    /// stage of its own. The client token makes the call idempotent: the same token returns the same
    /// instance as long as that exists. The attributes of the last call are used.
    ///
    /// # Errors
    /// [`CreateError`], when the token is empty or was used for another specification.
    pub fn create(
        &self,
        client_token: &str,
        desired: NewLoadBalancer,
        attributes: StringMap,
        pace: impl Into<CreationPace>,
    ) -> Result<Creation, CloudError<CreateError>> {
        let pace = pace.into();
        self.call(|model, now| model.create(client_token, desired, attributes, pace, now))
    }

    /// Marks an existing endpoint as used by LBCF and sets its attributes. Returns its complete
    /// identity: for HTTP and HTTPS, with domain and path.
    ///
    /// # Errors
    /// [`CreateError`], when it does not exist or the token was used for another specification.
    pub fn take_into_use(
        &self,
        client_token: &str,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<Endpoint, CloudError<CreateError>> {
        self.call(|model, _| model.take_into_use(client_token, endpoint, attributes))
    }

    /// Ends LBCF's use of an endpoint. An instance that [`create`](Self::create) created is deleted
    /// with its targets, unless another client token uses it; one that existed before stays.
    ///
    /// # Errors
    /// [`NotFound`], when the endpoint does not exist.
    pub fn release(
        &self,
        client_token: &str,
        endpoint: &Endpoint,
    ) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.release(client_token, endpoint))
    }

    /// Undoes the creation with this client token, also if its result was returned, which may have been lost; unless others
    /// use the instance. Returns the ID of the deleted instance.
    ///
    /// # Errors
    /// [`Unavailable`], during an outage.
    pub fn cancel(&self, client_token: &str) -> Result<Option<String>, Unavailable> {
        self.with(|model, now| {
            model.count_call(true, now)?;
            Ok(model.cancel_creation(client_token))
        })
    }

    /// Adds a listener to an instance and, for HTTP and HTTPS, a forwarding rule.
    ///
    /// # Errors
    /// [`AddListenerError`], when the port is in use or the instance does not exist.
    pub fn add_listener(
        &self,
        load_balancer: &str,
        protocol: ListenerProtocol,
        port: u16,
        rule: Option<Rule>,
    ) -> Result<Endpoint, CloudError<AddListenerError>> {
        self.call(|model, _| model.add_listener(load_balancer, protocol, port, rule))
    }

    /// Replaces all attributes of an endpoint.
    ///
    /// # Errors
    /// [`SetAttributesError`], when the endpoint does not exist or is not paid for in this way.
    pub fn set_attributes(
        &self,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<(), CloudError<SetAttributesError>> {
        self.call(|model, _| model.group_mut(endpoint)?.set_attributes(attributes))
    }

    /// Binds a target, or updates weight and parameters of a bound one. Other targets do not
    /// change.
    ///
    /// # Errors
    /// [`BindError`], when the endpoint does not exist or has too many targets.
    pub fn bind(
        &self,
        endpoint: &Endpoint,
        address: &str,
        target: Target,
    ) -> Result<(), CloudError<BindError>> {
        self.call_within(Scope::Targets(&[(endpoint, address)]), |model, _| {
            model.bind(endpoint, address, target)
        })
    }

    /// [`bind`](Self::bind) for several targets in one call, each of which is bound or not; no call for none.
    ///
    /// # Errors
    /// [`TooManyTargets`], when the cloud does not take as many in one call.
    pub fn bind_all(
        &self,
        targets: &[(Endpoint, String, Target)],
    ) -> Result<Vec<Result<(), BindError>>, CloudError<TooManyTargets>> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let changed: Vec<_> = targets
            .iter()
            .map(|(endpoint, address, _)| (endpoint, address.as_str()))
            .collect();
        self.call_within(Scope::Targets(&changed), |model, _| {
            model.check_call(targets.len())?;
            let bound = targets
                .iter()
                .map(|(endpoint, address, target)| model.bind(endpoint, address, target.clone()));
            Ok(bound.collect())
        })
    }

    /// [`unbind`](Self::unbind) for several targets in one call. Those that are not bound are ignored.
    ///
    /// # Errors
    /// [`TooManyTargets`], when the cloud does not take as many in one call.
    pub fn unbind_all(
        &self,
        targets: &[(Endpoint, String)],
    ) -> Result<(), CloudError<TooManyTargets>> {
        let changed: Vec<_> = targets
            .iter()
            .map(|(it, address)| (it, address.as_str()))
            .collect();
        self.call_within(Scope::Targets(&changed), |model, _| {
            model.check_call(targets.len())?;
            for (endpoint, address) in targets {
                if let Ok(group) = model.group_mut(endpoint) {
                    group.targets.remove(address);
                }
            }
            Ok(())
        })
    }

    /// The targets of an endpoint by address, also those that were bound by hand.
    ///
    /// # Errors
    /// [`NotFound`], when the endpoint does not exist.
    pub fn targets(
        &self,
        endpoint: &Endpoint,
    ) -> Result<BTreeMap<String, Target>, CloudError<NotFound>> {
        self.call_within(Scope::Nothing, |model, _| {
            Ok(model.group_mut(endpoint)?.targets.clone())
        })
    }

    /// Unbinds a target, and returns whether it was bound. Other targets do not change.
    ///
    /// # Errors
    /// [`NotFound`], when the endpoint does not exist.
    pub fn unbind(&self, endpoint: &Endpoint, address: &str) -> Result<bool, CloudError<NotFound>> {
        self.call_within(Scope::Targets(&[(endpoint, address)]), |model, _| {
            let group = model.group_mut(endpoint)?;
            Ok(group.targets.remove(address).is_some())
        })
    }

    /// Completes the creations with this client token or instance ID that have not completed, or all
    /// of them, and returns the IDs of the instances.
    pub fn release_creations(&self, token_or_id: Option<&str>) -> Vec<String> {
        self.with(|model, now| {
            let released = model.release_creations(token_or_id);
            model.advance(now);
            released
        })
    }

    /// Changes the targets or attributes of an endpoint by hand.
    pub(crate) fn change_by_hand<R>(
        &self,
        endpoint: &Endpoint,
        change: impl FnOnce(&mut TargetGroup) -> R,
    ) -> Result<R, NotFound> {
        self.with(|model, _| Ok(change(model.group_mut(endpoint)?)))
    }

    /// A call of the API, which fails during an outage.
    fn call<R, E>(
        &self,
        operation: impl FnOnce(&mut Model, Duration) -> Result<R, E>,
    ) -> Result<R, CloudError<E>> {
        self.call_within(Scope::Everything, operation)
    }

    /// A call that changes no more than `scope`.
    pub(super) fn call_within<R, E>(
        &self,
        scope: Scope<'_>,
        operation: impl FnOnce(&mut Model, Duration) -> Result<R, E>,
    ) -> Result<R, CloudError<E>> {
        let writes = !matches!(scope, Scope::Nothing);
        self.with_scope(scope, |model, now| {
            let counted = model.count_call(writes, now);
            counted.map_err(CloudError::Unavailable)?;
            operation(model, now).map_err(CloudError::Rejected)
        })
    }
}
