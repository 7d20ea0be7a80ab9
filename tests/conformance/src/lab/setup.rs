//! The starting point of a check. When the setup fails, the check is blocked: the failure belongs to
//! the check for that part of the setup.

use super::Lab;
use crate::call::{Backend, LoadBalancer, Source};
use crate::fixture::LoadBalancerSample;
use crate::fixture::placeholders::{self, Values};
use crate::outcome::{Blame as _, CheckError, CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::HashSet;

const MAY_BE_LEFT: &str = "it is still there, and another creation has the same lbInfo: it may be an existing load \
     balancer, which the driver does not delete";

impl Lab {
    /// A load balancer from the fixture's first valid sample, not created yet.
    pub(crate) fn load_balancer(&self) -> LoadBalancer {
        self.load_balancer_of(self.run.fixture.load_balancer.valid.first())
    }

    /// A load balancer from a sample of the fixture, not created yet; empty without a sample.
    pub(crate) fn load_balancer_of(&self, sample: Option<&LoadBalancerSample>) -> LoadBalancer {
        let sample = sample.map(|sample| {
            let maps = [&sample.lb_spec, &sample.attributes];
            sample.filled(&self.placeholder_values(&maps))
        });
        LoadBalancer {
            uid: self.uid(),
            sample: sample.unwrap_or_default(),
            lb_info: StringMap::new(),
        }
    }

    /// A load balancer that does not exist, with the fixture's `unknownLBInfo`.
    pub(crate) fn unknown_load_balancer(&self) -> LoadBalancer {
        let unknown = self.run.fixture.load_balancer.unknown_lb_info.as_ref();
        LoadBalancer {
            lb_info: unknown.map(|map| self.filled(map)).unwrap_or_default(),
            ..self.load_balancer()
        }
    }

    /// A map of the fixture with its placeholders replaced.
    pub(crate) fn filled(&self, map: &StringMap) -> StringMap {
        self.placeholder_values(&[map]).fill_map(map)
    }

    /// A load balancer that exists.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by CLB-01, when it cannot be created.
    pub(crate) async fn given_load_balancer(&self) -> CheckOutcome<LoadBalancer> {
        if self.run.fixture.load_balancer.reuse
            && let Some(shared) = self.run.shared_load_balancer()
        {
            let uid = self.uid();
            return Ok(LoadBalancer { uid, ..shared });
        }
        let created = self.given_new_load_balancer().await?;
        if self.run.fixture.load_balancer.reuse {
            self.run.share(&created);
        }
        Ok(created)
    }

    /// A load balancer that exists and that no other check uses, even if the others share one.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by CLB-01, when it cannot be created.
    pub(crate) async fn given_new_load_balancer(&self) -> CheckOutcome<LoadBalancer> {
        self.run.require("CLB-01")?;
        let created = self.created(self.load_balancer()).await;
        created.blocked_by("CLB-01")
    }

    /// Fails unless a load balancer that seems to be left was created by the driver: one that it has only adopted stays, and
    /// has the same identity again.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when it may exist otherwise.
    pub(crate) async fn is_own(&self, lb: &LoadBalancer) -> CheckOutcome {
        let again = self.created(lb.renewed(self.uid())).await;
        if again.blocked_by("DLB-06")?.lb_info == lb.lb_info {
            return Err(CheckError::Skipped(MAY_BE_LEFT.to_owned()));
        }
        Ok(())
    }

    /// The attributes with those of the fixture's `loadBalancer.update`.
    pub(crate) fn updated_attributes(&self, lb: &LoadBalancer) -> StringMap {
        let update = self.run.fixture.load_balancer.update.attributes.as_ref();
        self.changed(&lb.sample.attributes, update)
    }

    /// A map with the entries of a sample in addition, which need not repeat what stays.
    pub(crate) fn changed(&self, own: &StringMap, sample: Option<&StringMap>) -> StringMap {
        let mut changed = own.clone();
        changed.extend(sample.map(|sample| self.filled(sample)).unwrap_or_default());
        changed
    }

    /// Creates a load balancer and stores its identity.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when it cannot be created.
    pub(crate) async fn created(&self, mut lb: LoadBalancer) -> CheckOutcome<LoadBalancer> {
        let since = "since lbSpec and attributes are valid";
        let reply = self.succeeds(&lb.create(), since).await?;
        lb.lb_info = reply.identity(&lb.sample.lb_spec);
        Ok(lb)
    }

    /// A backend with its address.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by GEN-01 or GEN-02, when the driver generates none.
    pub(crate) async fn given_backend(&self, lb: &LoadBalancer) -> CheckOutcome<Backend> {
        let mut backend = self.backend(lb);
        if backend.source != Source::Static {
            let by = backend.source.prerequisite();
            self.run.require(by)?;
            backend.addr = self.generated(&backend).await.blocked_by(by)?;
        }
        Ok(backend)
    }

    /// Requests the address of a backend.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when the driver generates none.
    pub(crate) async fn generated(&self, backend: &Backend) -> CheckOutcome<String> {
        let since = "since the backend has everything that an address consists of";
        let reply = self.succeeds(&backend.generate(), since).await?;
        reply.backend_addr().map(str::to_owned).ok_or_else(|| {
            let got = "status Succ without a backendAddr";
            reply.failed("a backendAddr that is not empty", got)
        })
    }

    /// Several backends with different addresses.
    ///
    /// # Errors
    /// As [`given_backend`](Self::given_backend); blocked by GEN-04, when two addresses are equal.
    pub(crate) async fn given_backends(
        &self,
        lb: &LoadBalancer,
        count: usize,
    ) -> CheckOutcome<Vec<Backend>> {
        let available = self.run.fixture.backend.static_addrs.len();
        if !self.generates_addresses() && (1..count).contains(&available) {
            let needed = format!("needs {count} addresses in backend.addresses in the fixture");
            return Err(CheckError::Skipped(needed));
        }
        let mut backends: Vec<Backend> = Vec::new();
        for _ in 0..count {
            backends.push(self.given_backend(lb).await?);
        }
        let addresses: HashSet<_> = backends.iter().map(|backend| &backend.addr).collect();
        let got = format!("{} addresses for {count} backends", addresses.len());
        let expected = "a different address for each backend";
        Failure::unless(addresses.len() == count, expected, got).blocked_by("GEN-04")?;
        Ok(backends)
    }

    /// Three backends with different addresses.
    ///
    /// # Errors
    /// As [`given_backends`](Self::given_backends).
    pub(crate) async fn given_three(&self, lb: &LoadBalancer) -> CheckOutcome<[Backend; 3]> {
        let backends = self.given_backends(lb, 3).await?;
        <[Backend; 3]>::try_from(backends)
            .map_err(|_| CheckError::Skipped("not three backends".to_owned()))
    }

    /// The fixture's valid parameters, or else empty ones.
    pub(crate) fn valid_parameters(&self) -> Vec<StringMap> {
        let samples = self.run.fixture.backend.parameters.valid.iter();
        let mut valid: Vec<_> = samples.map(|map| self.filled(map)).collect();
        if valid.is_empty() {
            valid.push(StringMap::new());
        }
        valid
    }

    /// The parameters with those of the fixture's `backend.parameters.update`.
    pub(crate) fn updated_parameters(&self, backend: &Backend) -> StringMap {
        let update = self.run.fixture.backend.parameters.update.as_ref();
        self.changed(&backend.parameters, update)
    }

    /// A registered backend.
    ///
    /// # Errors
    /// [`CheckError::Blocked`], when it has no address, or by ENS-01, when it cannot be registered.
    pub(crate) async fn given_registered(&self, lb: &LoadBalancer) -> CheckOutcome<Backend> {
        let backend = self.given_backend(lb).await?;
        self.given_bound(backend).await
    }

    /// Registers a backend as part of the setup.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by ENS-01, when it cannot be registered.
    pub(crate) async fn given_bound(&self, backend: Backend) -> CheckOutcome<Backend> {
        self.run.require("ENS-01")?;
        self.registered(backend).await.blocked_by("ENS-01")
    }

    /// [`given_bound`](Self::given_bound) for several, one after the other.
    ///
    /// # Errors
    /// As it.
    pub(crate) async fn given_all_bound(
        &self,
        backends: Vec<Backend>,
    ) -> CheckOutcome<Vec<Backend>> {
        let mut bound = Vec::new();
        for backend in backends {
            bound.push(self.given_bound(backend).await?);
        }
        Ok(bound)
    }

    /// A load balancer with a registered backend.
    ///
    /// # Errors
    /// As [`given_load_balancer`](Self::given_load_balancer) and
    /// [`given_registered`](Self::given_registered).
    pub(crate) async fn given_registered_backend(&self) -> CheckOutcome<(LoadBalancer, Backend)> {
        let lb = self.given_load_balancer().await?;
        let backend = self.given_registered(&lb).await?;
        Ok((lb, backend))
    }

    /// A load balancer and a backend with an address, which is not registered.
    ///
    /// # Errors
    /// As [`given_load_balancer`](Self::given_load_balancer) and
    /// [`given_backend`](Self::given_backend).
    pub(crate) async fn given_unregistered_backend(&self) -> CheckOutcome<(LoadBalancer, Backend)> {
        let lb = self.given_load_balancer().await?;
        let backend = self.given_backend(&lb).await?;
        Ok((lb, backend))
    }

    /// Registers a backend and stores its `injectedInfo`.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when it cannot be registered.
    pub(crate) async fn registered(&self, mut backend: Backend) -> CheckOutcome<Backend> {
        let since = "since the load balancer exists and the parameters are valid";
        let reply = self.succeeds(&backend.ensure(), since).await?;
        let injected_info = reply.string_map("injectedInfo");
        if !injected_info.is_empty() {
            backend.injected_info = injected_info;
        }
        Ok(backend)
    }

    /// Deregisters a backend.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when that fails.
    pub(crate) async fn deregistered(&self, backend: &Backend) -> CheckOutcome {
        let since = "since deregistering succeeds whether the backend is registered or not";
        self.succeeds(&backend.deregister(), since).await.map(drop)
    }

    /// Deregisters a backend as part of the setup.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by DRG-01, when that fails.
    pub(crate) async fn given_deregistered(&self, backend: &Backend) -> CheckOutcome {
        self.deregistered(backend).await.blocked_by("DRG-01")
    }

    /// Deletes a load balancer.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when that fails.
    pub(crate) async fn deleted(&self, lb: &LoadBalancer) -> CheckOutcome {
        let since = "since deleting succeeds whether the load balancer exists or not";
        let delete = lb.delete();
        self.succeeds(&delete, since).await.map(drop)
    }

    /// Deletes a load balancer as part of the setup.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by DLB-01, when that fails.
    pub(crate) async fn given_deleted(&self, lb: &LoadBalancer) -> CheckOutcome {
        self.deleted(lb).await.blocked_by("DLB-01")
    }

    /// New values for the placeholders in these maps of the fixture.
    fn placeholder_values(&self, maps: &[&StringMap]) -> Values {
        let has_number = maps.iter().any(|map| placeholders::has_number(map));
        Values {
            unique: self.unique(),
            number: if has_number { self.number() } else { 0 },
        }
    }
}
