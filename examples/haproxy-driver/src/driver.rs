//! The driver: what each webhook does, in calls of the other modules.

use crate::balancer::{Balancer, Member, name, server_name};
use crate::fields::{Attributes, LbInfo, LbSpec, Parameters};
use crate::haproxy::{Layout, config, master, runtime};
use crate::plan;
use lbcf_driver_sdk::local::{SharedReload, StateFiles};
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends, ListedBackend,
};
use lbcf_driver_sdk::webhook::{self, Protocol, StringMap};
use lbcf_driver_sdk::{Driver, HookError, Reason};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};

/// The time that a call waits for the sessions of a server: most end soon, and then one call is enough.
const WAIT_FOR_SESSIONS: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(50);

/// The driver for one HAProxy. It has no state: a restarted one knows as much.
#[derive(Debug, Clone)]
pub struct HaproxyDriver {
    pub(crate) layout: Arc<Layout>,
    pub(crate) files: Arc<StateFiles<Balancer>>,
    /// Held while a file and HAProxy are changed, which takes a few milliseconds, and during a reload.
    pub(crate) changes: Arc<Mutex<()>>,
    pub(crate) reloads: Arc<SharedReload<Result<bool, HookError>>>,
}

impl HaproxyDriver {
    /// Prepares the folder, which belongs to one driver at a time. Nothing happens to HAProxy before
    /// [`keep_up`](Self::keep_up).
    pub fn new(layout: Layout) -> std::io::Result<Self> {
        let files = StateFiles::open(&layout.conf_d, "cfg")?;
        config::prepare(&layout)?;
        Ok(Self {
            layout: Arc::new(layout),
            files: Arc::new(files),
            changes: Arc::default(),
            reloads: Arc::default(),
        })
    }

    /// The balancer that this identity belongs to. None if it was deleted, even if there is another one
    /// at its address since.
    async fn find(&self, lb_info: &LbInfo) -> Result<Option<Balancer>, HookError> {
        let found = self.files.read(&server_name(lb_info.listener)).await?;
        Ok(found.filter(|found| found.owner == lb_info.owner))
    }

    /// As [`find`](Self::find), for calls that need it.
    async fn get(&self, lb_info: &LbInfo) -> Result<Balancer, HookError> {
        let listener = lb_info.listener;
        let gone = format!(
            "HAProxy has no load balancer at {listener} for this LoadBalancer: was its file deleted?"
        );
        let found = self.find(lb_info).await?;
        found.ok_or_else(|| HookError::new(Reason::NotFound, gone))
    }

    /// Writes the file, after `haproxy -c` has accepted it if its structure differs, then changes `server`
    /// (all servers if `None`) in HAProxy, or reloads it. Releases `changes` before a reload, so that other
    /// calls can share it.
    async fn put(
        &self,
        changes: MutexGuard<'_, ()>,
        old: Option<&Balancer>,
        wanted: &Balancer,
        server: Option<SocketAddr>,
        dry_run: bool,
    ) -> Result<(), HookError> {
        if old.is_none_or(|old| old.revision() != wanted.revision()) {
            config::check(&self.layout, wanted).await?;
        }
        if dry_run {
            return Ok(());
        }
        // First the file: should HAProxy end now, it starts with it.
        self.write(wanted).await?;
        let running = runtime::balancer(&self.layout, &wanted.name()).await?;
        if let Some(commands) = plan::commands(wanted, running.as_ref(), server) {
            return runtime::execute(&self.layout, &commands).await;
        }
        drop(changes);
        if self.reload().await? {
            return Ok(());
        }
        if old.is_none() {
            // No reload would succeed while this file is there.
            let _changes = self.changes.lock().await;
            self.files.remove(&wanted.key()).await?;
        }
        Err(not_loaded())
    }

    /// Writes the file, if it differs.
    pub(crate) async fn write(&self, balancer: &Balancer) -> Result<bool, HookError> {
        let directives = balancer.directives();
        self.files
            .write(&balancer.key(), balancer, &directives)
            .await
    }

    /// Notices another process that listens at the address. `haproxy -c` does not, and the reload that
    /// does concerns all load balancers.
    async fn check_listener(&self, listener: SocketAddr) -> Result<(), HookError> {
        let running = runtime::balancer(&self.layout, &name(listener)).await?;
        match TcpListener::bind(listener) {
            // HAProxy may have rights that the driver does not have.
            Err(error) if running.is_none() && error.kind() != ErrorKind::PermissionDenied => {
                let message = format!("lbSpec: HAProxy cannot listen on {listener}: {error}");
                Err(HookError::new(Reason::Conflict, message))
            }
            _ => Ok(()),
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
        let mut wanted = Balancer {
            owner: request.object_id().to_owned(),
            spec: request.lb_spec,
            attributes: request.attributes,
            servers: BTreeMap::new(),
        };
        let listener = wanted.listener();
        let changes = self.changes.lock().await;
        let old = self.files.read(&wanted.key()).await?;
        match &old {
            Some(old) if old.owner != wanted.owner => {
                let message = format!("lbSpec: {listener} belongs to another LoadBalancer");
                return Err(HookError::new(Reason::Conflict, message));
            }
            // A repeated call, maybe after a response that was lost: there may be servers.
            Some(old) => wanted.servers.clone_from(&old.servers),
            None => self.check_listener(listener).await?,
        }
        let put = self.put(changes, old.as_ref(), &wanted, None, request.dry_run);
        put.await?;
        Ok(wanted.info())
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let changes = self.changes.lock().await;
        let old = self.get(&request.lb_info).await?;
        let mut wanted = old.clone();
        wanted.attributes = request.attributes;
        let put = self.put(changes, Some(&old), &wanted, None, request.dry_run);
        put.await
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let layout = &self.layout;
        let listener = {
            let _changes = self.changes.lock().await;
            let found = match &request.lb_info {
                Some(lb_info) => self.find(lb_info).await?,
                // The controller never received an identity; a creation may have begun all the same.
                None => {
                    let mut all = self.files.read_all().await?.into_values();
                    all.find(|it| it.owner == request.object_id())
                }
            };
            if request.dry_run {
                return Ok(());
            }
            let listener = found.map(|found| found.listener());
            if let Some(listener) = listener {
                self.files.remove(&server_name(listener)).await?;
            }
            request.lb_info.map(|it| it.listener).or(listener)
        };
        let Some(listener) = listener else {
            return Ok(());
        };
        // Also in a repeated call: the driver may have ended between the removal of the file and the reload.
        let running = runtime::balancer(layout, &name(listener)).await?;
        let has_file = self.files.read(&server_name(listener)).await?.is_some();
        if running.is_some() && !has_file && !self.reload().await? {
            return Err(not_loaded());
        }
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<SocketAddr, HookError> {
        let target = request.target()?;
        if target.protocol != Protocol::Tcp {
            let (port, protocol) = (target.port, target.protocol);
            let message = format!("port {port} is {protocol}: only TCP can be balanced");
            return Err(HookError::new(Reason::InvalidArgument, message));
        }
        target.socket_addr()
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let server = request.backend_addr;
        // One without a port would keep HAProxy from loading the files of all load balancers.
        if server.port() == 0 || server.ip().is_unspecified() || server.ip().is_multicast() {
            let problem = format!("backendAddr: {server}: not the address of a server");
            return Err(HookError::new(Reason::InvalidArgument, problem));
        }
        let changes = self.changes.lock().await;
        let old = self.get(&request.lb_info).await?;
        let mut wanted = old.clone();
        let member = Member {
            parameters: request.parameters,
            record_id: Some(request.record_id),
        };
        wanted.servers.insert(server, member);
        let put = self.put(changes, Some(&old), &wanted, Some(server), request.dry_run);
        put.await?;
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let (address, name) = (request.backend_addr, name(request.lb_info.listener));
        let since = request.first_requested_at;
        let changes = self.changes.lock().await;
        let mut wanted = match self.find(&request.lb_info).await? {
            Some(found) if !request.dry_run => found,
            // With the load balancer, its servers are gone.
            _ => return Ok(()),
        };
        let removed = wanted.servers.remove(&address);
        let parameters = request.parameters.or(removed.map(|it| it.parameters));
        // First the file: should HAProxy end now, it starts without the server.
        self.write(&wanted).await?;
        let running = runtime::balancer(&self.layout, &name).await?;
        // Before `changes` is released: a reload keeps servers that take sessions and have no file entry.
        runtime::execute(&self.layout, &plan::drain(&name, address, running.as_ref())).await?;
        drop(changes);
        let limit = parameters.unwrap_or_default().drain_seconds.get();
        let limit = Duration::from_secs(limit.into());
        let deadline = Instant::now() + WAIT_FOR_SESSIONS;
        loop {
            match self.drain(&name, address, limit, since).await {
                Err(error) if error.is_running() && Instant::now() < deadline => sleep(POLL).await,
                result => return result,
            }
        }
    }

    async fn list_backends(
        &self,
        request: ListBackends<Self>,
    ) -> Result<Vec<ListedBackend<Self>>, HookError> {
        let mut found = self.get(&request.lb_info).await?;
        if let Some(running) = runtime::balancer(&self.layout, &found.name()).await? {
            let foreign = plan::foreign(&found, &running);
            found.servers.extend(foreign);
        }
        let servers = found.servers.into_iter();
        let listed = servers.map(|(backend_addr, member)| webhook::ListedBackend {
            backend_addr,
            parameters: Some(member.parameters),
            record_id: member.record_id.unwrap_or_default(),
        });
        Ok(listed.collect())
    }

    async fn healthz(&self) -> bool {
        let processes = master::processes(&self.layout).await;
        processes.is_ok_and(|processes| processes.worker.is_some())
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }

    /// A server that is ensured takes new sessions again, and keeps those that were open.
    fn cancels_deregistrations(&self) -> bool {
        true
    }
}

fn not_loaded() -> HookError {
    HookError::fail(
        "HAProxy could not load its files and goes on with the previous ones: see its log",
    )
}
