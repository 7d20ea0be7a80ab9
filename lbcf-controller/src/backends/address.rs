//! The address of a backend, which its driver is asked for before the record is created: the record is created with
//! it, and one write of its status says that it is registered.
//!
//! That is for drivers in kube-system that answer at once. After the first that does not, the records are created without, and each asks
//! for its own. What a driver answered instead of an address is the answer to the first call of the record.

use super::decide::BackendsState;
use super::whole::{fetch, is_backend_available};
use crate::api::names::SYSTEM_NAMESPACE;
use crate::api::{BackendRecord, LoadBalancerDriver, ObjectKey, allowed, names};
use crate::drivers::call_span;
use crate::runtime::Context;
use crate::runtime::driver_protection::DriverProtection;
use crate::runtime::operation::retry_id;
use lbcf_driver_sdk::webhook::{
    GenerateBackendAddr, GenerateBackendAddrResponse, OperationRequest, OperationResponse, Status,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::Instrument;

pub(super) struct Addresses<'a> {
    context: &'a Context,
    is_quick: AtomicBool,
}

impl<'a> Addresses<'a> {
    pub(super) const fn new(context: &'a Context) -> Self {
        Self {
            context,
            is_quick: AtomicBool::new(true),
        }
    }

    /// Reads the pods in pages that the driver gets, if they are many.
    pub(super) async fn read_pods(&self, state: &BackendsState, records: &[BackendRecord]) {
        let (owner, context) = (&state.owner, self.context);
        let asked =
            |record: &&BackendRecord| self.driver_of(record).is_some_and(|it| self.may_ask(&it));
        let pods = records
            .iter()
            .filter(asked)
            .filter_map(|it| it.spec.pod_backend.as_ref());
        let names = pods.map(|pod| pod.name.clone()).collect();
        let counts = {
            let index = context.index();
            let registered = index.records.count_kept(owner);
            (index.selections.count(owner), registered)
        };
        let pages = &context.pod_pages;
        pages
            .read(&context.cluster, (owner, &*state.object), counts, &names)
            .await;
    }

    /// The address of a record that is to be created, if it is known at once.
    pub(super) async fn of(&self, record: &BackendRecord) -> Option<String> {
        let driver = self.driver_of(record)?;
        if self.context.index().paused_by(record).is_some() {
            return None;
        }
        if let Some(address) = &record.spec.static_addr {
            return Some(address.clone());
        }
        if !self.may_ask(&driver) || !is_backend_available(&self.context.index(), record) {
            return None;
        }
        let key = ObjectKey::of(record);
        // The record has no uid yet.
        let mut request = generate_request(record, format!("generateBackendAddr({key})"));
        fetch(self.context, record, &mut request).await.ok()?;
        let address = self.generate(&driver, record, request);
        let within = self.context.options.address_timeout;
        let address = tokio::time::timeout(within, address).await;
        let address = address.ok().flatten();
        if address.is_none() {
            self.is_quick.store(false, Ordering::Relaxed);
        }
        address
    }

    /// The driver of a record, which outlives the addresses that it names.
    fn driver_of(&self, record: &BackendRecord) -> Option<Arc<LoadBalancerDriver>> {
        let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
        let driver = names::resolve(namespace, &record.spec.lb_driver);
        let driver = self.context.index().find::<LoadBalancerDriver>(&driver)?;
        (DriverProtection::of(&driver) == DriverProtection::Stored).then_some(driver)
    }

    /// False for a tenant's driver: one that hangs must not hold workers, which a request about one of its records does
    /// within limits.
    fn may_ask(&self, driver: &LoadBalancerDriver) -> bool {
        let Context {
            options, memory, ..
        } = self.context;
        let driver = ObjectKey::of(driver);
        self.is_quick.load(Ordering::Relaxed)
            && !options.dry_run
            && *driver.namespace == *SYSTEM_NAMESPACE
            && memory.pause_left(&driver, None).is_none()
    }

    /// The driver's answer; another one than an address is kept for the record.
    async fn generate(
        &self,
        driver: &Arc<LoadBalancerDriver>,
        record: &BackendRecord,
        mut request: GenerateBackendAddr,
    ) -> Option<String> {
        let key = ObjectKey::of(record);
        request.retry_id = retry_id();
        let request = request.about(&key.namespace, &key.name);
        let _permits = self
            .context
            .call_permits(driver, &record.spec.lb_info)
            .await;
        let call = self.context.drivers.call(driver, &request);
        let span = call_span::<GenerateBackendAddr>(driver);
        let result = call.instrument(span).await;
        match result {
            Ok(response) if is_address(&response) => Some(response.backend_addr),
            other => {
                self.context.first_answers.insert(key, other);
                None
            }
        }
    }
}

fn is_address(response: &GenerateBackendAddrResponse) -> bool {
    response.status() == Status::Succ && address_problem(&response.backend_addr).is_none()
}

pub(crate) fn generate_request(record: &BackendRecord, record_id: String) -> GenerateBackendAddr {
    GenerateBackendAddr {
        record_id,
        lb_info: record.spec.lb_info.to_wire(),
        lb_attributes: record.spec.lb_attributes.to_wire(),
        parameters: record.spec.parameters.to_wire(),
        ..GenerateBackendAddr::default()
    }
}

/// Why an address that a driver generated cannot be stored.
pub(crate) fn address_problem(backend_addr: &str) -> Option<String> {
    let (length, most) = (backend_addr.chars().count(), allowed::ADDRESS);
    if length == 0 {
        return Some("the driver responded Succ without a backendAddr".to_owned());
    }
    if length > most {
        return Some(format!(
            "backendAddr has {length} characters; at most {most} are allowed"
        ));
    }
    let has_control = backend_addr.contains(char::is_control);
    has_control.then(|| "backendAddr has a control character".to_owned())
}

#[cfg(test)]
mod tests {
    use super::address_problem;

    #[test]
    fn d102_an_address_is_neither_empty_nor_too_long_nor_has_control_characters() {
        for (address, problem) in [
            ("10.0.0.1:80", None),
            (r#"{"eniIP":"10.0.0.1"}"#, None),
            (&"ö".repeat(1024), None),
            ("", Some("the driver responded Succ without a backendAddr")),
            (
                &"x".repeat(1025),
                Some("backendAddr has 1025 characters; at most 1024 are allowed"),
            ),
            ("a\nb", Some("backendAddr has a control character")),
        ] {
            assert_eq!(address_problem(address).as_deref(), problem, "{address:?}");
        }
    }
}
