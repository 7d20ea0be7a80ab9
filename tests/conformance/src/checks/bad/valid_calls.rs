//! Valid calls, which bad input is made from.

use crate::lab::{Backend, Lab, LoadBalancer, WebhookCall, validate_backend};

/// A load balancer and a backend of the check.
#[derive(Debug)]
pub(super) struct ValidCalls {
    pub(super) load_balancer: LoadBalancer,
    pub(super) backend: Backend,
}

impl ValidCalls {
    /// With an existing load balancer, or else an unknown one: bad input is rejected for either.
    pub(super) async fn new(lab: &Lab) -> Self {
        let load_balancer = match lab.given_new_load_balancer().await {
            Ok(load_balancer) => load_balancer,
            Err(_) => lab.unknown_load_balancer(),
        };
        let backend = match lab.given_backend(&load_balancer).await {
            Ok(backend) => backend,
            Err(_) => lab.unknown_backend(&load_balancer),
        };
        Self {
            load_balancer,
            backend,
        }
    }

    pub(super) fn validate_backend(&self) -> WebhookCall {
        let Backend {
            source, parameters, ..
        } = &self.backend;
        validate_backend(&self.load_balancer, source.backend_type(), parameters)
    }

    /// A valid call of each webhook, except `healthz`, whose body is empty, and
    /// `judgePodDeregister`, which few drivers have.
    pub(super) fn calls(&self) -> Vec<WebhookCall> {
        vec![
            self.load_balancer.validate(),
            self.load_balancer.create(),
            self.load_balancer.ensure(),
            self.validate_backend(),
            self.backend.generate(),
            self.backend.ensure(),
            self.backend.deregister(),
            self.load_balancer.delete(),
        ]
    }
}
