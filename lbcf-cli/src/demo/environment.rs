//! The environment of the demo: a cluster, a driver and a controller; the latter two can be stopped
//! and started again.

use super::args::{DemoArgs, DemoError};
use super::cloud_view::{CloudView, Source};
use super::examples::NAMESPACE;
use super::kubectl::Kubectl;
use super::profile::{Profile, fixture, mocks};
use crate::local_stack::{LocalStack, StackError, has_loopback_addresses};
use crate::watched_cluster::WatchedCluster;
use kube::Client;
use lbcf_conformance::fixture::placeholders::DriverAddress;
use lbcf_conformance::numbers::Numbers;
use lbcf_conformance::observer::Observer;
use lbcf_conformance::transport::{Settings, Transport};
use lbcf_controller::{Backoff, DriverAddresses, Options};
use local_cluster::LocalClusterOptions;
use mock_driver::cli::Profile as MockProfile;
use mock_driver::{Cloud, FaultTable, MockOptions, MockServer, Traffic, TrafficOptions};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The duration of each stage of a load balancer's creation in the demo's cloud: long enough for the
/// driver to respond with `Running`, short enough for a demo.
const STAGE_DURATION: Duration = Duration::from_millis(300);
/// The time between two searches of the controller for backends that are left over.
const AUDIT_PERIOD: Duration = Duration::from_millis(500);

pub(super) struct DemoEnvironment {
    pub(super) driver_url: String,
    pub(super) cloud: CloudView,
    pub(super) profile: Profile,
    pub(super) is_cluster_of_user: bool,
    stack: LocalStack,
    mock: Option<DemoDriver>,
    /// Reserved ports of the fixture's `{{number}}`.
    _numbers: Option<Numbers>,
}

/// The driver as the demo sees it: the mock, or another one.
struct Driver {
    url: String,
    profile: Profile,
    cloud: Source,
    numbers: Option<Numbers>,
}

struct DemoDriver {
    cloud: Cloud,
    addr: SocketAddr,
    /// Reserve the port of the address, also while the driver is down.
    _port: Numbers,
    /// Those of each start.
    options: MockOptions,
    /// `None` while the driver is down.
    server: Option<MockServer>,
    /// The load balancers forward also while the driver is down.
    traffic: Option<Traffic>,
}

/// The name that the demo's requests have in the cluster.
const CLIENT: &str = "lbcf-demo";
/// The host of the example driver, which is a Service in a cluster.
const DRIVER_HOST: &str = "clb-app-driver.kube-system.svc.cluster.local";

impl DemoEnvironment {
    pub(super) async fn start(args: &DemoArgs) -> Result<Self, DemoError> {
        let other = match &args.driver_url {
            Some(url) => Some(Driver::at(url, args.fixture.as_deref()).await?),
            None => None,
        };
        let is_clb = args.profile == MockProfile::Clb;
        let of_user = args.cluster_kubeconfig.as_deref();
        let has_mock = args.driver_url.is_none();
        // Pods serve on this machine only if this process simulates them.
        let has_traffic = has_mock && of_user.is_none() && is_clb && has_loopback_addresses();
        let cluster = LocalClusterOptions {
            pod_traffic: has_traffic,
            ..LocalClusterOptions::default()
        };
        let mut stack = LocalStack::start(of_user, args.kubeconfig.as_deref(), cluster).await?;
        // The demo deletes it with everything in it.
        let exists = Kubectl::new(stack.client_as(CLIENT)).has_namespace().await;
        if exists != Ok(false) {
            stack.shut_down().await;
            let problem = exists.err();
            let problem = problem.unwrap_or_else(|| format!("the namespace {NAMESPACE} exists"));
            return Err(StackError::Prepare(problem).into());
        }
        let (mock, driver) = match other {
            Some(other) => (None, other),
            None => {
                let drain_time = has_traffic.then_some(args.drain_time);
                let client = stack.client_as("lbcf-mock-driver");
                let mock = DemoDriver::start(args.profile, drain_time, &client).await?;
                let driver = Driver {
                    url: format!("http://{}", mock.addr),
                    profile: mocks::of(args.profile),
                    cloud: Source::Mock(mock.cloud.clone()),
                    numbers: None,
                };
                (Some(mock), driver)
            }
        };
        if let Err(error) = stack.start_controller(options(&driver.url)).await {
            stack.shut_down().await;
            return Err(error.into());
        }
        Ok(Self {
            driver_url: driver.url,
            cloud: CloudView::new(driver.cloud, stack.client_as(CLIENT)),
            profile: driver.profile,
            is_cluster_of_user: of_user.is_some(),
            stack,
            mock,
            _numbers: driver.numbers,
        })
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        self.stack.kubeconfig()
    }

    /// Lines that say where everything is.
    pub(super) fn introduction(&self) -> Vec<String> {
        let line = |word: &str, text: &str| format!("  {word:<10}  {text}");
        let mut lines = vec![
            line("kubeconfig", &self.kubeconfig().to_string_lossy()),
            line("cluster", &self.stack.url()),
            line("driver", &self.driver_url),
        ];
        if self.has_mock() {
            lines.push(line("cloud", &format!("{}/ in a browser", self.driver_url)));
        }
        let source = self.profile.source.as_deref();
        lines.extend(source.map(|source| line("fixture", source)));
        lines.extend(self.profile.without.map(|without| line("without", without)));
        lines.push(format!(
            "  {DRIVER_HOST} resolves to the driver, as cluster DNS would"
        ));
        lines
    }

    pub(super) fn client(&self) -> Client {
        self.stack.client_as(CLIENT)
    }

    pub(super) const fn has_mock(&self) -> bool {
        self.mock.is_some()
    }

    /// The fault rules of the mock.
    pub(super) fn faults(&self) -> Option<&FaultTable> {
        self.mock.as_ref().map(|mock| mock.cloud.faults())
    }

    /// The cloud whose load balancers forward to the pods, if they do.
    pub(super) fn forwarding_cloud(&self) -> Option<&Cloud> {
        let mock = self.mock.as_ref()?;
        mock.traffic.is_some().then_some(&mock.cloud)
    }

    /// The number of calls of each webhook so far.
    pub(super) fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.stack.calls()
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
        self.stack.kill_controller().await;
    }

    pub(super) async fn start_controller(&mut self) -> Result<(), String> {
        let started = self.stack.start_controller(options(&self.driver_url));
        started.await.map_err(|error| error.to_string())
    }

    pub(super) async fn shut_down(mut self) {
        self.stack.kill_controller().await;
        self.stop_driver().await;
        self.stack.shut_down().await;
    }
}

impl Driver {
    /// With the fixture in the file, or else the one that the driver serves, or else the demo's fields.
    async fn at(url: &str, file: Option<&Path>) -> Result<Self, DemoError> {
        let transport = Transport::to_url(url, &Settings::default())?;
        let Some(fixture) = fixture::read(file, &transport).await? else {
            return Ok(Self {
                url: url.to_owned(),
                profile: mocks::of(MockProfile::Clb),
                cloud: Source::Records,
                numbers: None,
            });
        };
        let address = DriverAddress::of(url);
        let is_local = address.as_ref().is_some_and(DriverAddress::is_loopback);
        let (profile, numbers) = fixture::described(&fixture, is_local)?;
        let cloud = match (&fixture.observe, address) {
            (Some(observe), Some(address)) => {
                let observer = Observer::of(&observe.filled(&address), &transport)?;
                Source::observer(observer).await?
            }
            _ => Source::Records,
        };
        Ok(Self {
            url: url.to_owned(),
            profile,
            cloud,
            numbers: Some(numbers),
        })
    }
}

impl DemoDriver {
    /// With a drain time, load balancers forward. The page shows what differs from the cluster.
    async fn start(
        profile: MockProfile,
        drain_time: Option<Duration>,
        cluster: &Client,
    ) -> Result<Self, DemoError> {
        let cloud = match profile {
            MockProfile::Clb => Cloud::with_samples(),
            MockProfile::Azure => Cloud::azure(),
        };
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
        let port = Numbers::of_this_machine();
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port.take(0, 0)));
        let server = MockServer::start(cloud.clone(), addr, options.clone())
            .await
            .map_err(DemoError::Driver)?;
        Ok(Self {
            cloud,
            addr,
            _port: port,
            options,
            server: Some(server),
            traffic,
        })
    }
}

/// With shorter delays than in production.
fn options(driver_url: &str) -> Options {
    let wait = Duration::from_millis(200);
    Options {
        backoff: Backoff {
            min: wait,
            step: wait,
            max: Duration::from_secs(2),
        },
        poll_interval: wait,
        audit_period: AUDIT_PERIOD,
        driver_addresses_of_tenants: DriverAddresses::everything(),
        connect_to: BTreeMap::from([(DRIVER_HOST.to_owned(), driver_url.to_owned())]),
        ..Options::default()
    }
}
