//! The driver: what each webhook does, in calls of the other modules.

use crate::addresses::backend_addr;
use crate::balancer::{Balancer, Member};
use crate::fields::{Attributes, LbInfo, LbSpec, Number, Parameters};
use crate::haproxy::{HaproxyError, Layout, config, failed, master, runtime};
use crate::plan;
use crate::reload::SharedReload;
use crate::upkeep;
use lbcf_driver_sdk::outcome::OrOutcome;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends,
};
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, ListedBackend};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

const POLL: Duration = Duration::from_millis(50);
/// How long HAProxy may be without a worker in a reload, or be started again, and be healthy.
const RELOAD_OR_START: Duration = Duration::from_secs(2);

/// What the webhooks and the upkeep share. It is no state: a restarted driver begins with an empty one.
#[derive(Debug)]
pub(crate) struct SharedParts {
    pub(crate) layout: Layout,
    /// Held while a file and HAProxy are changed, which takes a few milliseconds, and during a reload.
    pub(crate) changes: Mutex<()>,
    pub(crate) reloads: SharedReload<HaproxyError>,
}

pub(crate) type Shared = Arc<SharedParts>;

/// The driver for one HAProxy.
#[derive(Debug, Clone)]
pub struct HaproxyDriver(pub(crate) Shared);

impl HaproxyDriver {
    /// Prepares the folder. Nothing happens to HAProxy before [`keep_up`](Self::keep_up).
    ///
    /// # Errors
    /// [`HaproxyError::File`].
    pub fn new(layout: Layout) -> Result<Self, HaproxyError> {
        config::prepare(&layout)?;
        let (changes, reloads) = (Mutex::default(), SharedReload::default());
        Ok(Self(Arc::new(SharedParts {
            layout,
            changes,
            reloads,
        })))
    }

    /// Starts HAProxy if it is not there and `start` is set, and repairs what others change. It runs
    /// beside the server and never ends.
    pub async fn keep_up(self, start: bool) {
        upkeep::keep_up(self.0, start).await;
    }

    /// The balancer that this identity belongs to. None if it was deleted, even if there is another one
    /// at its address since.
    fn find(&self, lb_info: &LbInfo) -> Result<Option<Balancer>, HookError> {
        let found = config::read(&self.0.layout, &lb_info.spec()).map_err(failed)?;
        Ok(found.filter(|found| found.owner == lb_info.owner))
    }

    /// Writes the file if it differs, after `haproxy -c` has accepted it if its structure does.
    async fn store(&self, old: Option<&Balancer>, new: &Balancer) -> Result<(), HaproxyError> {
        if old == Some(new) {
            return Ok(());
        }
        if old.is_none_or(|old| old.revision() != new.revision()) {
            config::check(&self.0.layout, new).await?;
        }
        config::write_balancer(&self.0.layout, new).await
    }

    /// Lets HAProxy load a file that it has not loaded.
    async fn load(&self, balancer: &Balancer) -> Result<(), HaproxyError> {
        let name = balancer.spec.name();
        let running = runtime::running(&self.0.layout, Some(&name)).await?;
        if plan::needs_reload(balancer, running.get(&name)) {
            return upkeep::reload(&self.0).await;
        }
        Ok(())
    }

    /// Whether another process listens at the address. `haproxy -c` does not notice, and the reload that
    /// does concerns all load balancers.
    async fn check_address(&self, spec: &LbSpec) -> Result<(), HookError> {
        let name = spec.name();
        let running = runtime::running(&self.0.layout, Some(&name))
            .await
            .map_err(failed)?;
        if running.contains_key(&name) {
            return Ok(());
        }
        match TcpListener::bind(spec.listens_on()) {
            // HAProxy may have rights that the driver does not have.
            Ok(_) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(HookError::fail(format!(
                "lbSpec: HAProxy cannot listen on {}: {error}",
                spec.listens_on()
            ))),
        }
    }
}

impl Driver for HaproxyDriver {
    type LbSpec = LbSpec;
    type LbInfo = LbInfo;
    type Attributes = Attributes;
    type Parameters = Parameters;
    type BackendAddr = SocketAddr;

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<LbInfo, HookError> {
        let spec = request.lb_spec.clone();
        let mut wanted = Balancer::new(request.object().to_owned(), spec, request.attributes);
        let old = {
            let _changes = self.0.changes.lock().await;
            let old = config::read(&self.0.layout, &wanted.spec).map_err(failed)?;
            match &old {
                Some(old) if old.owner != wanted.owner => {
                    let address = wanted.spec.listens_on();
                    let message = format!("lbSpec: {address} belongs to another LoadBalancer");
                    return Err(HookError::fail(message));
                }
                // A repeated call, maybe after a response that was lost: there may be servers.
                Some(old) => wanted.servers.clone_from(&old.servers),
                None => self.check_address(&wanted.spec).await?,
            }
            if request.dry_run {
                config::check(&self.0.layout, &wanted)
                    .await
                    .map_err(failed)?;
                return Ok(wanted.info());
            }
            self.store(old.as_ref(), &wanted).await.map_err(failed)?;
            old
        };
        if let Err(error) = self.load(&wanted).await {
            // A file that HAProxy cannot load would stand in the way of all others.
            if old.is_none() && matches!(error, HaproxyError::NotLoaded) {
                let _changes = self.0.changes.lock().await;
                config::remove(&self.0.layout, &wanted.spec)
                    .await
                    .map_err(failed)?;
            }
            return Err(failed(error));
        }
        Ok(wanted.info())
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let wanted = {
            let _changes = self.0.changes.lock().await;
            let old = self
                .find(&request.lb_info)?
                .or_fail(gone(&request.lb_info))?;
            let wanted = Balancer {
                attributes: request.attributes,
                ..old.clone()
            };
            if request.dry_run {
                return config::check(&self.0.layout, &wanted).await.map_err(failed);
            }
            self.store(Some(&old), &wanted).await.map_err(failed)?;
            wanted
        };
        self.load(&wanted).await.map_err(failed)
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let spec = {
            let _changes = self.0.changes.lock().await;
            let found = match &request.lb_info {
                Some(lb_info) => self.find(lb_info)?,
                // The controller never received an identity; a creation may have begun all the same.
                None => {
                    let all = config::read_all(&self.0.layout).map_err(failed)?;
                    all.into_iter().find(|it| it.owner == request.object())
                }
            };
            match found {
                Some(ref found) if !request.dry_run => {
                    config::remove(&self.0.layout, &found.spec)
                        .await
                        .map_err(failed)?;
                }
                _ => {}
            }
            request
                .lb_info
                .map(|lb_info| lb_info.spec())
                .or(found.map(|found| found.spec))
        };
        // The driver may have ended between the removal of the file and the reload.
        let (Some(spec), false) = (spec, request.dry_run) else {
            return Ok(());
        };
        let running = runtime::running(&self.0.layout, Some(&spec.name()))
            .await
            .map_err(failed)?;
        let has_file = config::read(&self.0.layout, &spec)
            .map_err(failed)?
            .is_some();
        if running.contains_key(&spec.name()) && !has_file {
            return upkeep::reload(&self.0).await.map_err(failed);
        }
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<SocketAddr, HookError> {
        backend_addr(&request)
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let address = request.backend_addr;
        let member = Member {
            parameters: request.parameters,
            record_id: Some(request.record_id),
        };
        let wanted = {
            let _changes = self.0.changes.lock().await;
            let old = self
                .find(&request.lb_info)?
                .or_fail(gone(&request.lb_info))?;
            if request.dry_run {
                return Ok(StringMap::new());
            }
            let mut wanted = old.clone();
            wanted.servers.insert(address, member.clone());
            // First the file: should HAProxy end now, it starts with the server.
            self.store(Some(&old), &wanted).await.map_err(failed)?;
            let name = wanted.spec.name();
            let running = runtime::running(&self.0.layout, Some(&name))
                .await
                .map_err(failed)?;
            let running = running.get(&name);
            if !plan::needs_reload(&wanted, running) {
                let server = running.and_then(|running| running.servers.get(&address));
                let commands = plan::register(&wanted, address, &member, server);
                runtime::execute(&self.0.layout, &commands)
                    .await
                    .map_err(failed)?;
                return Ok(StringMap::new());
            }
            wanted
        };
        self.load(&wanted).await.map_err(failed)?;
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let (address, name) = (request.backend_addr, request.lb_info.spec().name());
        let limit = {
            let _changes = self.0.changes.lock().await;
            // With the load balancer, its servers are gone (b124).
            let Some(old) = self.find(&request.lb_info)? else {
                return Ok(());
            };
            if request.dry_run {
                return Ok(());
            }
            let mut wanted = old.clone();
            // First the file: should HAProxy end now, it starts without the server.
            let removed = wanted.servers.remove(&address);
            self.store(Some(&old), &wanted).await.map_err(failed)?;
            // Before a reload can take it for a server that somebody has added by hand.
            self.begin_drain(&name, address).await.map_err(failed)?;
            let parameters = request
                .parameters
                .or(removed.map(|member| member.parameters));
            parameters.unwrap_or_default().drain_limit()
        };
        self.drain(&name, address, limit, request.first_requested_at)
            .await
    }

    async fn list_backends(
        &self,
        request: ListBackends<Self>,
    ) -> Result<Vec<ListedBackend<Self>>, HookError> {
        let found = self
            .find(&request.lb_info)?
            .or_fail(gone(&request.lb_info))?;
        let name = found.spec.name();
        let running = runtime::running(&self.0.layout, Some(&name))
            .await
            .map_err(failed)?;
        let foreign = running
            .get(&name)
            .map(|running| plan::foreign(&found, running));
        let foreign = foreign
            .unwrap_or_default()
            .into_iter()
            .map(|(address, server)| {
                let weight = Number::new(server.weight).unwrap_or_default();
                let parameters = Parameters {
                    weight,
                    ..Parameters::default()
                };
                ListedBackend::new(address).with_parameters(parameters)
            });
        let ours = found.servers.into_iter().map(|(address, member)| {
            let listed = ListedBackend::new(address).with_parameters(member.parameters);
            match member.record_id {
                Some(record_id) => listed.with_record_id(record_id),
                None => listed,
            }
        });
        Ok(ours.chain(foreign).collect())
    }

    async fn healthz(&self) -> bool {
        let deadline = Instant::now() + RELOAD_OR_START;
        loop {
            let processes = master::processes(&self.0.layout).await;
            if processes.is_ok_and(|processes| processes.worker.is_some()) {
                return true;
            } else if Instant::now() >= deadline {
                return false;
            }
            sleep(POLL).await;
        }
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }
}

fn gone(lb_info: &LbInfo) -> String {
    let address = lb_info.spec().listens_on();
    format!(
        "HAProxy has no load balancer at {address} for this LoadBalancer: was its file deleted?"
    )
}
