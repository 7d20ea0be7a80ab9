//! What a controller does with a load balancer and with a backend, call by call, and what it
//! stores meanwhile.

use super::{DriverReply, TestDriver, WebhookCall, deregister_backend, ensure_backend};
use crate::RawDriver;
use crate::webhook::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, GenerateBackendAddr,
    OperationResponse, StringMap, Webhook,
};
use std::borrow::Borrow;
use std::panic::Location;

/// A registered backend: what a controller stores of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The load balancer's identity.
    pub lb_info: StringMap,
    /// The address, as `generateBackendAddr` gave it.
    pub backend_addr: String,
    /// The parameters that it is registered with.
    pub parameters: StringMap,
    /// What `ensureBackend` gave to remember.
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

    /// The call that takes it away.
    #[must_use]
    pub fn deregister(&self) -> WebhookCall<DeregisterBackend> {
        deregister_backend()
            .lb_info(&self.lb_info)
            .addr(&self.backend_addr)
            .parameters(&self.parameters)
            .injected_info(&self.injected_info)
    }
}

/// What a controller does, with [`until_done`](Self::until_done) for each call.
///
/// # Panics
/// All of these panic if a call does not succeed in the end.
impl<D: RawDriver> TestDriver<D> {
    /// Creates a load balancer and gives its `lbInfo`: what the driver answered, or `lbSpec` where
    /// that is empty.
    #[track_caller]
    pub fn create(
        &self,
        call: impl Borrow<WebhookCall<CreateLoadBalancer>>,
    ) -> impl Future<Output = StringMap> {
        let caller = Location::caller();
        async move {
            let call = call.borrow();
            let answer = self.until_done(call).await;
            let lb_info = succ_at(answer, caller).lb_info;
            if lb_info.is_empty() {
                call.request().lb_spec.clone()
            } else {
                lb_info
            }
        }
    }

    /// Deletes a load balancer.
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

    /// Asks for a backend's address, registers it with the parameters of that call, and gives what
    /// a controller would store.
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

    /// Takes a backend away.
    #[track_caller]
    pub fn deregister(&self, registered: &Registered) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            succ_at(self.until_done(registered.deregister()).await, caller);
        }
    }
}

/// Futures do not know who awaits them, so the caller's line is in the text.
fn succ_at<W>(answer: DriverReply<W>, caller: &Location<'_>) -> W::Response
where
    W: Webhook<Response: OperationResponse>,
{
    match answer.succ() {
        Ok(response) => response,
        Err(problem) => panic!("{problem}\n  at:      {caller}"),
    }
}
