//! The time in which one world uses a remote cluster.

use super::RemoteCluster;
use super::forwarder::Forwarder;
use super::installation::{Installation, note};
use super::permissions::Permissions;
use super::traffic::Traffic;
use super::{clean_up, kubelet, nodes};
use crate::manifests::{self, NAMESPACE};
use http::HeaderValue;
use http::header::USER_AGENT;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{Api, PostParams};
use kube::client::ClientBuilder;
use kube::{Client, Config};
use local_cluster::RequestCounts;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The longest that the cluster may take to create a namespace's ServiceAccount.
const DEADLINE: Duration = Duration::from_secs(120);

/// A remote cluster while one world uses it. Dropping it removes what the world has created.
#[derive(Debug)]
pub struct Session {
    cluster: RemoteCluster,
    traffic: Traffic,
    /// The credentials of the controllers, and their permissions if the cluster does not check them.
    controller: Config,
    unchecked: Option<Arc<Permissions>>,
    forwarder: Forwarder,
    tasks: Vec<AbortHandle>,
    /// Other worlds wait for this; none only while the session is dropped.
    installed: Option<OwnedMutexGuard<Option<Installation>>>,
}

impl Session {
    pub(super) async fn begin(
        cluster: RemoteCluster,
        installed: OwnedMutexGuard<Option<Installation>>,
    ) -> Self {
        let inner = Arc::clone(&cluster.0);
        let prepared = inner.worker.spawn(move || prepare(cluster, installed));
        let prepared = prepared.await.expect("no panic");
        prepared.unwrap_or_else(|error| panic!("the cluster cannot be used: {error}"))
    }

    pub(crate) fn client_as(&self, user_agent: &str) -> Client {
        let (config, unchecked) = match user_agent {
            "test" => (self.cluster.0.config.clone(), None),
            _ => (self.controller.clone(), self.unchecked.clone()),
        };
        self.client(config, user_agent, unchecked)
    }

    /// A client of a user that has these permissions.
    pub(crate) fn client_of_user(&self, user: &str, permissions: Arc<Permissions>) -> Client {
        let mut config = self.cluster.0.config.clone();
        let unchecked = self.unchecked.is_some().then_some(permissions);
        config.auth_info.impersonate = Some(user.to_owned());
        self.client(config, user, unchecked)
    }

    fn client(
        &self,
        mut config: Config,
        user_agent: &str,
        unchecked: Option<Arc<Permissions>>,
    ) -> Client {
        let name = HeaderValue::from_str(user_agent).expect("a name");
        config.headers.push((USER_AGENT, name));
        let builder = ClientBuilder::try_from(config).expect("the kubeconfig is usable");
        let layer = self.traffic.layer(user_agent, unchecked);
        builder.with_layer(&layer).build()
    }

    pub(crate) fn requests(&self) -> RequestCounts {
        self.traffic.counts()
    }

    /// The host under which the API server reaches this process.
    pub(crate) fn host(&self) -> &str {
        &self.cluster.0.host
    }

    pub(crate) fn admission_url(&self) -> String {
        let (host, port) = (self.host(), self.forwarder.port());
        match host.contains(':') {
            true => format!("https://[{host}]:{port}"),
            false => format!("https://{host}:{port}"),
        }
    }

    pub(crate) fn set_admission_address(&self, addr: SocketAddr) {
        self.forwarder.set_target(addr);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(mut installed) = self.installed.take() else {
            return;
        };
        for task in &self.tasks {
            task.abort();
        }
        let (cluster, traffic) = (self.cluster.clone(), self.traffic.clone());
        let (sender, receiver) = mpsc::channel();
        // This thread may be the only one of the test's runtime, and the test may have panicked.
        self.cluster.0.worker.spawn(move || async move {
            traffic.close().await;
            if let Err(error) = end(&cluster, &mut installed).await {
                // The next world finds the marker, and tries again.
                *installed = None;
                note(&format!("the cluster is not cleaned up: {error}"));
            }
            drop(installed);
            let _ = sender.send(());
        });
        let _ = receiver.recv();
    }
}

async fn end(cluster: &RemoteCluster, installed: &mut Option<Installation>) -> Result<(), String> {
    let client = cluster.client();
    clean_up::end_world(&client).await?;
    if cluster.is_awaited() {
        return Ok(());
    }
    match installed.take() {
        Some(installation) => installation.remove(&client).await,
        None => Ok(()),
    }
}

async fn prepare(
    cluster: RemoteCluster,
    mut installed: OwnedMutexGuard<Option<Installation>>,
) -> Result<Session, String> {
    let client = cluster.client();
    let installation = match installed.take() {
        Some(installation) => installation,
        None => Installation::create(&client, &cluster.0.config).await?,
    };
    let controller = installation.controller.clone();
    let unchecked = installation.unchecked.clone();
    create_namespace(&client, NAMESPACE).await;
    let created = nodes::create(&client).await;
    created.map_err(|error| format!("nodes: {error}"))?;
    let tasks = [
        tokio::spawn(kubelet::run(client.clone())).abort_handle(),
        tokio::spawn(nodes::keep_alive(client)).abort_handle(),
    ];
    let forwarder = Forwarder::start(&cluster.0.host).await;
    *installed = Some(installation);
    Ok(Session {
        cluster,
        traffic: Traffic::default(),
        controller,
        unchecked,
        forwarder,
        tasks: tasks.into(),
        installed: Some(installed),
    })
}

/// Creates a namespace, unless it exists, and waits until pods can be created in it.
pub(crate) async fn create_namespace(client: &Client, name: &str) {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let deadline = Instant::now() + DEADLINE;
    let mut namespace = serde_json::to_value(manifests::namespace(name)).expect("JSON");
    super::adapt("Namespace", &mut namespace);
    let namespace = serde_json::from_value(namespace).expect("it stays a namespace");
    loop {
        // One of this name may still be terminating.
        let existing = namespaces
            .get_opt(name)
            .await
            .expect("namespaces can be read");
        match existing {
            Some(existing) if existing.metadata.deletion_timestamp.is_none() => break,
            Some(_) => {}
            None => drop(namespaces.create(&PostParams::default(), &namespace).await),
        }
        pause(deadline, name).await;
    }
    // Where no controller creates ServiceAccounts, no pod needs one.
    let accounts =
        |namespace: &str| -> Api<ServiceAccount> { Api::namespaced(client.clone(), namespace) };
    let exists = async |namespace: &str| {
        let account = accounts(namespace).get_metadata_opt("default").await;
        account.expect("ServiceAccounts can be read").is_some()
    };
    if exists("default").await {
        while !exists(name).await {
            pause(deadline, name).await;
        }
    }
}

async fn pause(deadline: Instant, namespace: &str) {
    assert!(
        Instant::now() < deadline,
        "the namespace {namespace} is not ready in time"
    );
    tokio::time::sleep(Duration::from_millis(20)).await;
}
