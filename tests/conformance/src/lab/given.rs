//! What a check starts from. Where it cannot be had, the check is blocked: that is another check's
//! failure.

use super::backend::{Backend, Source};
use super::{Answer, Lab, LoadBalancer, sources};
use crate::check::Feature;
use crate::fixture::Wanted;
use crate::fixture::places::Values;
use crate::verdict::{Failure, NotPassed};
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::HashSet;

impl Lab {
    /// A load balancer as the fixture's first valid sample wants it, not created yet.
    pub(crate) fn load_balancer(&self) -> LoadBalancer {
        self.load_balancer_of(self.fixture().load_balancer.valid.first())
    }

    /// A load balancer as a sample of the fixture wants it, not created yet. Without a sample all
    /// is empty.
    pub(crate) fn load_balancer_of(&self, wanted: Option<&Wanted>) -> LoadBalancer {
        let places = self.places();
        LoadBalancer {
            uid: self.uid(),
            wanted: wanted
                .map(|wanted| places.fill_wanted(wanted))
                .unwrap_or_default(),
            lb_info: StringMap::new(),
        }
    }

    /// Texts of the fixture with their places filled, for a load balancer that is there.
    pub(crate) fn filled(&self, map: &StringMap) -> StringMap {
        let places = self.places();
        places.fill_map(map)
    }

    /// A load balancer that is there.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`] by CLB-01, when it cannot be created.
    pub(crate) async fn given_load_balancer(&self) -> Result<LoadBalancer, NotPassed> {
        if self.fixture().load_balancer.reuse
            && let Some(shared) = self.run.shared_load_balancer()
        {
            return Ok(LoadBalancer {
                uid: self.uid(),
                ..shared
            });
        }
        let created = self.given_new_load_balancer().await?;
        if self.fixture().load_balancer.reuse {
            self.run.share(&created);
        }
        Ok(created)
    }

    /// A load balancer that is there and that no other check uses, even where they share one.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`] by CLB-01, when it cannot be created.
    pub(crate) async fn given_new_load_balancer(&self) -> Result<LoadBalancer, NotPassed> {
        self.run.is_given("CLB-01")?;
        let created = self.created(self.load_balancer()).await;
        created.map_err(|not_passed| not_passed.blocked_by("CLB-01"))
    }

    /// The identity that a Succ of `createLoadBalancer` gives: its `lbInfo`, or else `lbSpec`.
    pub(crate) fn identity_in(&self, answer: &Answer, load_balancer: &LoadBalancer) -> StringMap {
        let lb_info = answer.map("lbInfo");
        if lb_info.is_empty() {
            load_balancer.wanted.lb_spec.clone()
        } else {
            lb_info
        }
    }

    /// The attributes that the fixture says a load balancer can be changed to. Its own where the
    /// fixture says nothing.
    pub(crate) fn updated_attributes(&self, load_balancer: &LoadBalancer) -> StringMap {
        let update = self.fixture().load_balancer.update.as_ref();
        self.changed(&load_balancer.wanted.attributes, update)
    }

    /// These with those of a sample of the fixture in their place: a sample need not repeat what
    /// stays.
    pub(crate) fn changed(&self, own: &StringMap, sample: Option<&StringMap>) -> StringMap {
        let mut changed = own.clone();
        changed.extend(sample.map(|sample| self.filled(sample)).unwrap_or_default());
        changed
    }

    /// An identity that no load balancer has.
    pub(crate) fn unknown_lb_info(&self) -> StringMap {
        let unknown = self.fixture().load_balancer.unknown_lb_info.clone();
        unknown.map(|map| self.filled(&map)).unwrap_or_default()
    }

    /// Whether the driver has backends whose addresses can be had.
    pub(crate) fn has_backends(&self) -> bool {
        [
            Feature::PodBackends,
            Feature::ServiceBackends,
            Feature::StaticBackends,
        ]
        .into_iter()
        .any(|feature| self.has(feature))
    }

    /// Creates a load balancer and notes its identity.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when it cannot be created.
    pub(crate) async fn created(
        &self,
        mut load_balancer: LoadBalancer,
    ) -> Result<LoadBalancer, NotPassed> {
        let answer = self.until_done(&load_balancer.create()).await?;
        answer.succ("since lbSpec and attributes are right")?;
        load_balancer.lb_info = self.identity_in(&answer, &load_balancer);
        Ok(load_balancer)
    }

    /// A backend of a load balancer, without an address yet: a pod, or whatever the driver has.
    pub(crate) fn backend(&self, load_balancer: &LoadBalancer) -> Backend {
        if self.has(Feature::PodBackends) {
            self.pod_backend(load_balancer)
        } else if self.has(Feature::ServiceBackends) {
            self.service_backend(load_balancer)
        } else {
            self.backend_of(load_balancer, Source::Static)
        }
    }

    /// A backend of a load balancer from this source, without an address yet.
    pub(crate) fn backend_of(&self, load_balancer: &LoadBalancer, source: Source) -> Backend {
        let parameters = self.fixture().backend.valid.first();
        let mut backend = Backend {
            uid: self.uid(),
            source,
            lb_info: load_balancer.lb_info.clone(),
            lb_attributes: load_balancer.wanted.attributes.clone(),
            addr: String::new(),
            parameters: parameters.map(|map| self.filled(map)).unwrap_or_default(),
            injected_info: StringMap::new(),
        };
        if backend.source == Source::Static {
            let given = &self.fixture().backend.static_addrs;
            let n = self.next();
            let index = usize::try_from(n).unwrap_or_default();
            backend.addr = match given.len() {
                0 => self.addresses().fixed(n),
                count => given[index % count].clone(),
            };
        }
        backend
    }

    /// A backend with its address.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`] by GEN-01 or GEN-02, when the driver gives it none.
    pub(crate) async fn given_backend(
        &self,
        load_balancer: &LoadBalancer,
    ) -> Result<Backend, NotPassed> {
        let backend = self.backend(load_balancer);
        let by = match backend.source {
            Source::Pod(_) => "GEN-01",
            Source::Service(_) => "GEN-02",
            Source::Static => return Ok(backend),
        };
        self.run.is_given(by)?;
        self.addressed(backend).await.map_err(|e| e.blocked_by(by))
    }

    /// Several backends with addresses, no two alike.
    ///
    /// # Errors
    /// As [`given_backend`](Self::given_backend); blocked by GEN-04, when two are alike.
    pub(crate) async fn given_backends(
        &self,
        load_balancer: &LoadBalancer,
        count: usize,
    ) -> Result<Vec<Backend>, NotPassed> {
        let given = self.fixture().backend.static_addrs.len();
        let is_static = !self.has(Feature::PodBackends) && !self.has(Feature::ServiceBackends);
        if is_static && (1..count).contains(&given) {
            let needed = format!("needs {count} addresses in backend.addresses in the fixture");
            return Err(NotPassed::Skipped(needed));
        }
        let mut backends: Vec<Backend> = Vec::new();
        for _ in 0..count {
            backends.push(self.given_backend(load_balancer).await?);
        }
        let addresses: HashSet<_> = backends.iter().map(|backend| &backend.addr).collect();
        if addresses.len() < backends.len() {
            let got = format!("{} addresses for {count} backends", addresses.len());
            let failure = Failure::new("an address of its own for each backend", got);
            return Err(NotPassed::from(failure).blocked_by("GEN-04"));
        }
        Ok(backends)
    }

    /// Three backends with addresses, no two alike.
    ///
    /// # Errors
    /// As [`given_backends`](Self::given_backends).
    pub(crate) async fn given_three(
        &self,
        load_balancer: &LoadBalancer,
    ) -> Result<[Backend; 3], NotPassed> {
        let backends = self.given_backends(load_balancer, 3).await?;
        <[Backend; 3]>::try_from(backends)
            .map_err(|_| NotPassed::Skipped("not three backends".to_owned()))
    }

    /// The parameters that the fixture says a backend's can be changed to. Its own where the
    /// fixture says nothing.
    pub(crate) fn updated_parameters(&self, backend: &Backend) -> StringMap {
        let update = self.fixture().backend.update.as_ref();
        self.changed(&backend.parameters, update)
    }

    /// Asks for a backend's address and notes it.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when the driver gives it none.
    pub(crate) async fn addressed(&self, mut backend: Backend) -> Result<Backend, NotPassed> {
        if backend.source == Source::Static {
            return Ok(backend);
        }
        let answer = self.until_done(&backend.generate()).await?;
        answer.succ("since the backend has all that an address is made of")?;
        match answer.field("backendAddr").and_then(|addr| addr.as_str()) {
            Some(addr) if !addr.is_empty() => backend.addr = addr.to_owned(),
            _ => {
                let got = "status Succ without a backendAddr";
                return Err(answer.failed("a backendAddr that is not empty", got));
            }
        }
        Ok(backend)
    }

    /// A backend that is registered.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`], when it has no address, or by ENS-01, when it cannot be registered.
    pub(crate) async fn given_registered(
        &self,
        load_balancer: &LoadBalancer,
    ) -> Result<Backend, NotPassed> {
        let backend = self.given_backend(load_balancer).await?;
        self.given_bound(backend).await
    }

    /// The same for a backend that has its address.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`] by ENS-01, when it cannot be registered.
    pub(crate) async fn given_bound(&self, backend: Backend) -> Result<Backend, NotPassed> {
        self.run.is_given("ENS-01")?;
        self.registered(backend)
            .await
            .map_err(|e| e.blocked_by("ENS-01"))
    }

    /// Registers a backend and notes what is to be remembered.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when it cannot be registered.
    pub(crate) async fn registered(&self, mut backend: Backend) -> Result<Backend, NotPassed> {
        let answer = self.until_done(&backend.ensure()).await?;
        answer.succ("since the load balancer is there and the parameters are right")?;
        let injected_info = answer.map("injectedInfo");
        if !injected_info.is_empty() {
            backend.injected_info = injected_info;
        }
        Ok(backend)
    }

    /// Takes a backend away.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when it cannot be.
    pub(crate) async fn deregistered(&self, backend: &Backend) -> Result<(), NotPassed> {
        let answer = self.until_done(&backend.deregister()).await?;
        answer.succ("since taking a backend away succeeds whether it is there or not")?;
        Ok(())
    }

    /// Deletes a load balancer.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when it cannot be.
    pub(crate) async fn deleted(&self, load_balancer: &LoadBalancer) -> Result<(), NotPassed> {
        let answer = self.until_done(&load_balancer.delete()).await?;
        answer.succ("since deleting a load balancer succeeds whether it is there or not")?;
        Ok(())
    }

    /// Addresses that no other check uses.
    pub(crate) const fn addresses(&self) -> sources::Addresses {
        sources::Addresses { check: self.place }
    }

    /// What the places in the fixture's texts stand for, each time another name and number.
    fn places(&self) -> Values {
        let nth = usize::from(self.place) * 300 + self.next() as usize % 300;
        Values::nth(self.unique(), 0, nth)
    }
}
