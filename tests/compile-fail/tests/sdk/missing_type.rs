//! Drivers that lack one of the five types each.
//! Named: LbSpec, LbInfo, Attributes, Parameters, BackendAddr.

use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, request};

struct NoLbSpec;

impl Driver for NoLbSpec {
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

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
    ) -> Result<String, HookError> {
        todo!()
    }

    async fn ensure_backend(&self, _: request::EnsureBackend<Self>) -> Result<StringMap, HookError> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

struct NoLbInfo;

impl Driver for NoLbInfo {
    type LbSpec = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

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
    ) -> Result<String, HookError> {
        todo!()
    }

    async fn ensure_backend(&self, _: request::EnsureBackend<Self>) -> Result<StringMap, HookError> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

struct NoAttributes;

impl Driver for NoAttributes {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

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
    ) -> Result<String, HookError> {
        todo!()
    }

    async fn ensure_backend(&self, _: request::EnsureBackend<Self>) -> Result<StringMap, HookError> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

struct NoParameters;

impl Driver for NoParameters {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type BackendAddr = String;

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
    ) -> Result<String, HookError> {
        todo!()
    }

    async fn ensure_backend(&self, _: request::EnsureBackend<Self>) -> Result<StringMap, HookError> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

struct NoBackendAddr;

impl Driver for NoBackendAddr {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;

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
    ) -> Result<String, HookError> {
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
