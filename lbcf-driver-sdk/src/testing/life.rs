//! The life cycles of a load balancer and of a backend: what a controller calls and stores.

use super::{DriverReply, TestDriver, WebhookCall, deregister_backend, ensure_backend};
use crate::Driver;
use crate::webhook::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, GenerateBackendAddr,
    OperationResponse, StringMap, Webhook,
};
use std::borrow::Borrow;
use std::panic::Location;

/// The data that a controller stores about a registered backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The load balancer's identity.
    pub lb_info: StringMap,
    /// The address, as returned by `generateBackendAddr`.
    pub backend_addr: String,
    /// The parameters of the registration.
    pub parameters: StringMap,
    /// The map that `ensureBackend` returned.
    pub injected_info: StringMap,
}

impl Registered {
    /// The call that registers it again, or with other parameters.
    #[must_use]
    pub fn ensure(&self) -> WebhookCall<EnsureBackend> {
        ensure_backend()
            .lb_info(&self.lb_info)
            .addr(&self.backend_addr)
            .parameters(&self.parameters)
            .injected_info(&self.injected_info)
    }

    /// The call that deregisters it.
    #[must_use]
    pub fn deregister(&self) -> WebhookCall<DeregisterBackend> {
        deregister_backend()
            .lb_info(&self.lb_info)
            .addr(&self.backend_addr)
            .parameters(&self.parameters)
            .injected_info(&self.injected_info)
    }
}

/// The life cycle as a controller runs it, with [`until_done`](Self::until_done) for each call.
///
/// # Panics
/// If a call does not succeed.
impl<D: Driver> TestDriver<D> {
    /// Creates a load balancer and returns its `lbInfo`, or `lbSpec` if that is empty.
    #[track_caller]
    pub fn create(
        &self,
        call: impl Borrow<WebhookCall<CreateLoadBalancer>>,
    ) -> impl Future<Output = StringMap> {
        let caller = Location::caller();
        async move {
            let call = call.borrow();
            let reply = self.until_done(call).await;
            let lb_info = succ_at(reply, caller).lb_info;
            if lb_info.is_empty() {
                call.request().lb_spec.clone()
            } else {
                lb_info
            }
        }
    }

    /// Deletes a load balancer with `deleteLoadBalancer`.
    #[track_caller]
    pub fn delete(
        &self,
        call: impl Borrow<WebhookCall<DeleteLoadBalancer>>,
    ) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            succ_at(self.until_done(call).await, caller);
        }
    }

    /// Generates a backend's address, registers the backend with the parameters of that call, and
    /// returns what a controller stores.
    #[track_caller]
    pub fn register(
        &self,
        call: impl Borrow<WebhookCall<GenerateBackendAddr>>,
    ) -> impl Future<Output = Registered> {
        let caller = Location::caller();
        async move {
            let call = call.borrow();
            let generated = succ_at(self.until_done(call).await, caller);
            let mut registered = Registered {
                lb_info: call.request().lb_info.clone(),
                backend_addr: generated.backend_addr,
                parameters: call.request().parameters.clone(),
                injected_info: StringMap::new(),
            };
            let ensured = succ_at(self.until_done(registered.ensure()).await, caller);
            registered.injected_info = ensured.injected_info;
            registered
        }
    }

    /// Deregisters a backend with the stored values.
    #[track_caller]
    pub fn deregister(&self, registered: &Registered) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            succ_at(self.until_done(registered.deregister()).await, caller);
        }
    }
}

/// A panic in a future has no location of the caller, so the text contains it.
fn succ_at<W>(reply: DriverReply<W>, caller: &Location<'_>) -> W::Response
where
    W: Webhook<Response: OperationResponse>,
{
    match reply.succ() {
        Ok(response) => response,
        Err(problem) => panic!("{problem}\n  at:      {caller}"),
    }
}
