//! What bad input is made from: calls that would be right.

use crate::lab::{Backend, Call, Lab, LoadBalancer, Source, validate_backend};

/// A load balancer of the check's own, a backend, and the calls about them.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) load_balancer: LoadBalancer,
    pub(super) backend: Backend,
}

impl Stage {
    /// With a load balancer that is there, or, where none can be had, with one that is not: bad
    /// input is refused either way.
    pub(super) async fn new(lab: &Lab) -> Self {
        let load_balancer = match lab.given_new_load_balancer().await {
            Ok(load_balancer) => load_balancer,
            Err(_) => {
                let mut load_balancer = lab.load_balancer();
                load_balancer.lb_info = lab.unknown_lb_info();
                load_balancer
            }
        };
        let mut backend = match lab.given_backend(&load_balancer).await {
            Ok(backend) => backend,
            Err(_) => lab.backend(&load_balancer),
        };
        if backend.addr.is_empty() {
            backend.addr.clone_from(&lab.fixture().backend.unknown_addr);
        }
        Self {
            load_balancer,
            backend,
        }
    }

    /// The name of the backend's type.
    pub(super) const fn backend_type(&self) -> &'static str {
        match self.backend.source {
            Source::Pod(_) => "Pod",
            Source::Service(_) => "Service",
            Source::Static => "Static",
        }
    }

    /// Is it acceptable?
    pub(super) fn validate_backend(&self) -> Call {
        let parameters = &self.backend.parameters;
        validate_backend(&self.load_balancer, self.backend_type(), parameters)
    }

    /// A right call of each webhook but `healthz`, whose body says nothing, and of
    /// `judgePodDeregister`, which few drivers have.
    pub(super) fn calls(&self) -> Vec<Call> {
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
