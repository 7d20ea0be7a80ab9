//! The environment of the demo: a cluster, a driver and a controller; the latter two can be stopped
//! and started again.

use super::cloud_view::CloudView;
use super::kubectl::{Kubectl, apply_admission, apply_crds};
use super::scenario::until;
use super::{DemoArgs, DemoError};
use crate::watched_cluster::WatchedCluster;
use kube::Client;
use lbcf_controller::admission::{AdmissionServer, Certificates};
use lbcf_controller::names::SYSTEM_NAMESPACE;
use lbcf_controller::{Backoff, CallCounts, Controller, ObjectKey, Options};
use local_cluster::{LocalCluster, LocalClusterOptions, ServerHandle};
use mock_driver::{Cloud, MockOptions, MockServer, Traffic, TrafficOptions};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The duration of each stage of a load balancer's creation in the demo's cloud: long enough for the
/// driver to respond with `Running`, short enough for a demo.
const STAGE_DURATION: Duration = Duration::from_millis(300);
/// How often the controller looks for backends that are left over.
const AUDIT_PERIOD: Duration = Duration::from_millis(500);
/// The controller's Service, at which the API server calls admission.
const CONTROLLER_SERVICE: &str = "lbcf-controller";

#[derive(Debug)]
pub(super) struct DemoEnvironment {
    pub(super) kubeconfig: PathBuf,
    pub(super) driver_url: String,
    pub(super) cloud: CloudView,
    cluster: LocalCluster,
    server: ServerHandle,
    own_folder: Option<PathBuf>,
    mock: Option<DemoDriver>,
    controller: JoinHandle<()>,
    counts: CallCounts,
}

#[derive(Debug)]
struct DemoDriver {
    cloud: Cloud,
    addr: SocketAddr,
    /// Those of each start.
    options: MockOptions,
    /// `None` while the driver is down.
    server: Option<MockServer>,
    /// The load balancers forward also while the driver is down.
    traffic: Option<Traffic>,
}

/// The host of the example driver, which is a Service in a cluster.
pub(super) const DRIVER_HOST: &str = "clb-app-driver.kube-system.svc.cluster.local";

impl DemoEnvironment {
    pub(super) async fn start(args: &DemoArgs) -> Result<Self, DemoError> {
        let has_traffic = args.driver_url.is_none() && has_loopback_addresses();
        let options = LocalClusterOptions {
            pod_traffic: has_traffic,
            ..LocalClusterOptions::default()
        };
        let cluster = LocalCluster::start(options).await;
        let cluster = cluster.map_err(DemoError::Cluster)?;
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = cluster.serve(any_port).await.map_err(DemoError::Cluster)?;
        let (kubeconfig, own_folder) = write_kubeconfig(args.kubeconfig.as_deref(), &server)?;
        apply_crds(&cluster.client_as("lbcf-demo"))
            .await
            .map_err(DemoError::Prepare)?;
        let mock = match args.driver_url {
            Some(_) => None,
            None => {
                let drain_time = has_traffic.then_some(args.drain_time);
                let client = cluster.client_as("lbcf-mock-driver");
                Some(DemoDriver::start(any_port, drain_time, &client).await?)
            }
        };
        let driver_url = match (&args.driver_url, &mock) {
            (Some(url), _) => url.clone(),
            (None, Some(mock)) => format!("http://{}", mock.addr),
            (None, None) => String::new(),
        };
        let client = cluster.client_as("lbcf-demo");
        let cloud = match &mock {
            Some(mock) => CloudView::Mock(mock.cloud.clone()),
            None => CloudView::Records(client),
        };
        let counts = CallCounts::default();
        apply_admission(&cluster.client_as("lbcf-demo"))
            .await
            .map_err(DemoError::Prepare)?;
        let controller = start_controller(&cluster, &driver_url, &counts)
            .await
            .map_err(DemoError::Prepare)?;
        Ok(Self {
            kubeconfig,
            driver_url,
            cloud,
            cluster,
            server,
            own_folder,
            mock,
            controller,
            counts,
        })
    }

    pub(super) fn cluster_url(&self) -> String {
        self.server.url()
    }

    pub(super) fn client(&self) -> Client {
        self.cluster.client_as("lbcf-demo")
    }

    pub(super) fn kubectl(&self) -> Kubectl {
        Kubectl::new(self.client())
    }

    pub(super) const fn has_mock(&self) -> bool {
        self.mock.is_some()
    }

    /// The cloud whose load balancers forward to the pods, if they do.
    pub(super) fn forwarding_cloud(&self) -> Option<&Cloud> {
        let mock = self.mock.as_ref()?;
        mock.traffic.is_some().then_some(&mock.cloud)
    }

    /// The number of calls of each webhook so far.
    pub(super) fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.counts.snapshot()
    }

    pub(super) async fn stop_driver(&mut self) {
        if let Some(server) = self.mock.as_mut().and_then(|mock| mock.server.take()) {
            server.stop().await;
        }
    }

    pub(super) async fn start_driver(&mut self) -> Result<(), String> {
        let Some(mock) = &mut self.mock else {
            return Ok(());
        };
        let server = MockServer::start(mock.cloud.clone(), mock.addr, mock.options.clone())
            .await
            .map_err(|error| error.to_string())?;
        mock.server = Some(server);
        Ok(())
    }

    /// Kills the controller without a graceful shutdown.
    pub(super) async fn kill_controller(&mut self) {
        self.controller.abort();
        // The result is that the task was cancelled.
        let _ = (&mut self.controller).await;
    }

    pub(super) async fn start_controller(&mut self) -> Result<(), String> {
        let started = start_controller(&self.cluster, &self.driver_url, &self.counts);
        self.controller = started.await?;
        Ok(())
    }

    pub(super) async fn shut_down(mut self) {
        self.kill_controller().await;
        self.stop_driver().await;
        self.server.shutdown().await;
        self.cluster.shutdown().await;
        if let Some(folder) = self.own_folder {
            // At worst a temporary folder is left.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

impl DemoDriver {
    /// With a drain time, load balancers forward. The page shows what differs from the cluster.
    async fn start(
        addr: SocketAddr,
        drain_time: Option<Duration>,
        cluster: &Client,
    ) -> Result<Self, DemoError> {
        let cloud = Cloud::with_samples();
        let traffic = drain_time.map(|drain_time| {
            let options = TrafficOptions {
                drain_time,
                ..TrafficOptions::default()
            };
            Traffic::start(&cloud, options)
        });
        let options = MockOptions {
            stage_duration: STAGE_DURATION,
            cluster: Some(Arc::new(WatchedCluster::follow(cluster, None))),
            ..MockOptions::default()
        };
        let server = MockServer::start(cloud.clone(), addr, options.clone())
            .await
            .map_err(DemoError::Driver)?;
        Ok(Self {
            cloud,
            addr: server.addr(),
            options,
            server: Some(server),
            traffic,
        })
    }
}

/// Whether pods can have addresses of their own on this machine: on macOS each needs an alias.
fn has_loopback_addresses() -> bool {
    std::net::UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).is_ok()
}

/// Starts the controller with shorter delays than in production, and waits until it serves admission.
async fn start_controller(
    cluster: &LocalCluster,
    driver_url: &str,
    counts: &CallCounts,
) -> Result<JoinHandle<()>, String> {
    let wait = Duration::from_millis(200);
    let options = Options {
        backoff: Backoff {
            min: wait,
            step: wait,
            max: Duration::from_secs(2),
        },
        poll_interval: wait,
        audit_period: AUDIT_PERIOD,
        connect_to: BTreeMap::from([(DRIVER_HOST.to_owned(), driver_url.to_owned())]),
        ..Options::default()
    };
    let client = cluster.client_as("lbcf-controller");
    let (admission, addr) = admission_server().await?;
    let service = format!("{CONTROLLER_SERVICE}.{SYSTEM_NAMESPACE}.svc");
    cluster.set_service_address(service, addr.to_string());
    let controller = Controller::with_counts(client, options, counts.clone());
    let controller = controller.with_admission(admission);
    let health = controller.health();
    let task = tokio::spawn(async move {
        if let Err(error) = controller.run(std::future::pending()).await {
            tracing::error!(%error, "the controller ended");
        }
    });
    until("the controller serves admission", async || {
        Ok(health.ready().ok())
    })
    .await?;
    Ok(task)
}

async fn admission_server() -> Result<(AdmissionServer, SocketAddr), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(|error| format!("listening for admission: {error}"))?;
    let certificates = Certificates::SelfSignedCa {
        service: ObjectKey::new(SYSTEM_NAMESPACE, CONTROLLER_SERVICE),
        secret: ObjectKey::new(SYSTEM_NAMESPACE, "lbcf-controller-admission"),
        names: Vec::new(),
    };
    let server = AdmissionServer::new(listener, certificates).map_err(|error| error.to_string())?;
    let addr = server.addr().map_err(|error| error.to_string())?;
    Ok((server, addr))
}

/// Writes the kubeconfig. Returns its path, and the folder if one was created for it.
fn write_kubeconfig(
    path: Option<&Path>,
    server: &ServerHandle,
) -> Result<(PathBuf, Option<PathBuf>), DemoError> {
    let (path, folder) = match path {
        Some(path) => (path.to_owned(), None),
        None => {
            let folder = std::env::temp_dir().join(format!("lbcf-demo-{}", std::process::id()));
            std::fs::create_dir_all(&folder).map_err(|source| DemoError::Write {
                path: folder.clone(),
                source,
            })?;
            (folder.join("kubeconfig"), Some(folder))
        }
    };
    std::fs::write(&path, server.kubeconfig()).map_err(|source| DemoError::Write {
        path: path.clone(),
        source,
    })?;
    Ok((path, folder))
}
