//! Functions that take another request than theirs, and give something else than they should.
//! Named: ensure_backend, EnsureBackend, DeregisterBackend, create_load_balancer, NotSucc.

use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, NotSucc, request};

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
    ) -> Result<(), NotSucc> {
        todo!()
    }

    async fn delete_load_balancer(
        &self,
        _: request::DeleteLoadBalancer<Self>,
    ) -> Result<(), NotSucc> {
        todo!()
    }

    async fn generate_backend_addr(
        &self,
        _: request::GenerateBackendAddr<Self>,
    ) -> Result<String, NotSucc> {
        todo!()
    }

    async fn ensure_backend(
        &self,
        _: request::DeregisterBackend<Self>,
    ) -> Result<StringMap, NotSucc> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), NotSucc> {
        todo!()
    }
}

fn main() {}
