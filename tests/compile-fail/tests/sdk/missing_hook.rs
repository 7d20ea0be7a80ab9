//! Drivers that lack one of the five functions each.
//! Named: create_load_balancer, delete_load_balancer, generate_backend_addr, ensure_backend, deregister_backend.

use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, request};

struct CannotCreate;

impl Driver for CannotCreate {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

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

struct CannotDelete;

impl Driver for CannotDelete {
    type LbSpec = StringMap;
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

struct CannotName;

impl Driver for CannotName {
    type LbSpec = StringMap;
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

    async fn ensure_backend(&self, _: request::EnsureBackend<Self>) -> Result<StringMap, HookError> {
        todo!()
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

struct CannotEnsure;

impl Driver for CannotEnsure {
    type LbSpec = StringMap;
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

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        todo!()
    }
}

struct CannotDeregister;

impl Driver for CannotDeregister {
    type LbSpec = StringMap;
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
}

fn main() {}
