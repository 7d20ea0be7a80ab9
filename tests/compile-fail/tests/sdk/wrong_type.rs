//! A specification and an address that nothing can read.
//! Named: NotFields, LbSpec, serde::Deserialize, NotAnAddress, BackendAddr, FromStr.

use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, request};
use std::fmt;

#[derive(Debug, serde::Serialize)]
struct NotFields;

#[derive(Debug)]
struct NotAnAddress;

impl fmt::Display for NotAnAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nowhere")
    }
}

struct Unreadable;

impl Driver for Unreadable {
    type LbSpec = NotFields;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = NotAnAddress;

    async fn create_load_balancer(
        &self,
        _: request::CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
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
    ) -> Result<NotAnAddress, HookError> {
        todo!()
    }

    async fn ensure_backend(&self, _: request::EnsureBackend<Self>) -> Result<StringMap, HookError> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

fn main() {}
