//! Functions that take another request than theirs, and give something else than they should.
//! Named: ensure_backend, EnsureBackend, DeregisterBackend, create_load_balancer, HookError.

use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, request};

struct Confused;

impl Driver for Confused {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn create_load_balancer(
        &self,
        _: request::CreateLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        todo!()
    }

    async fn delete_load_balancer(
        &self,
        _: request::DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        todo!()
    }

    async fn generate_backend_addr(
        &self,
        _: request::GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        todo!()
    }

    async fn ensure_backend(
        &self,
        _: request::DeregisterBackend<Self>,
    ) -> Result<StringMap, HookError> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

fn main() {}
