//! `lbcf controller` as a process: its logs, its exit codes, and leader election.

use crate::conformance::get;
use crate::process::{Running, TempFile, assert_refused, run, words};
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use lbcf_controller::api::{
    LoadBalancer, LoadBalancerDriver, LoadBalancerDriverSpec, LoadBalancerSpec,
};
use serde_json::Value;

/// A cluster for one test.
pub(crate) struct Cluster {
    server: Running,
    url: String,
    kubeconfig: TempFile,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let kubeconfig = TempFile::new("kubeconfig");
        let server = Running::start(&words(&format!(
            "local-cluster --listen 127.0.0.1:0 --with-crds --kubeconfig {}",
            kubeconfig.as_str()
        )));
        let url = server.line_with("http://");
        Self {
            server,
            url,
            kubeconfig,
        }
    }

    /// The process, and the line with its URL.
    pub(crate) const fn server(&self) -> (&Running, &String) {
        (&self.server, &self.url)
    }

    pub(crate) async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig.path()).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .unwrap();
        Client::try_from(config).unwrap()
    }

    pub(crate) fn kubeconfig(&self) -> &str {
        self.kubeconfig.as_str()
    }

    pub(crate) fn controller(&self, flags: &[&str]) -> Running {
        let always = [
            "controller",
            "--kubeconfig",
            self.kubeconfig.as_str(),
            "--health-address",
            "127.0.0.1:0",
        ];
        Running::start(&[&always, flags].concat())
    }
}

#[tokio::test]
async fn a_log_line_about_a_webhook_names_the_object_and_the_driver() {
    let cluster = Cluster::start();
    let client = cluster.client().await;
    let driver = LoadBalancerDriverSpec {
        driver_type: "Webhook".into(),
        url: "http://127.0.0.1:1".into(),
        ..LoadBalancerDriverSpec::default()
    };
    let lb = LoadBalancerSpec {
        lb_driver: "lbcf-d".into(),
        ..LoadBalancerSpec::default()
    };
    let params = PostParams::default();
    Api::namespaced(client.clone(), "kube-system")
        .create(&params, &LoadBalancerDriver::new("lbcf-d", driver))
        .await
        .unwrap();
    Api::namespaced(client, "default")
        .create(&params, &LoadBalancer::new("lb", lb))
        .await
        .unwrap();
    // Nothing is begun with a driver that is known not to respond.
    let controller = cluster.controller(&["--log-format", "json", "--driver-health-period", "0"]);
    let line: Value = serde_json::from_str(&controller.line_with("no valid response")).unwrap();
    assert_eq!(line["level"], "WARN", "{line}");
    assert_eq!(line["spans"][0]["kind"], "LoadBalancer", "{line}");
    assert_eq!(line["spans"][0]["object"], "default/lb", "{line}");
    assert_eq!(line["span"]["driver"], "kube-system/lbcf-d", "{line}");
    assert_eq!(line["span"]["webhook"], "createLoadBalancer", "{line}");
    assert_eq!(
        line["span"]["traceID"].as_str().unwrap().len(),
        32,
        "{line}"
    );
}

#[test]
fn d124_a_dry_run_whose_admission_has_no_certificate_is_not_ready() {
    let cluster = Cluster::start();
    let flags = ["--dry-run", "--admission-address", "127.0.0.1:0"];
    let controller = cluster.controller(&flags);
    let serving = controller.line_with("serving /healthz, /readyz and /metrics addr=");
    let address = serving.rsplit("addr=").next().unwrap();
    controller.line_with("admission is not served");
    let problem = "admission: a dry run stores no certificate to serve it with: set --server-crt and --server-key, or --admission-address off";
    assert_eq!(get(address, "/readyz").unwrap(), problem);
    assert_eq!(get(address, "/healthz").unwrap(), "ok");
}

#[test]
fn the_second_of_two_controllers_leads_when_the_first_stops() {
    let cluster = Cluster::start();
    let first = cluster.controller(&["--leader-elect-identity", "first"]);
    first.line_with("serving /healthz, /readyz and /metrics addr=127.0.0.1:");
    first.line_with("the index is complete; reconciling");
    let second = cluster.controller(&["--leader-elect-identity", "second"]);
    assert!(
        second
            .line_with("another process is the leader")
            .contains("first_")
    );
    assert_eq!(first.interrupt().0, Some(0));
    second.line_with("the index is complete; reconciling");
    assert_eq!(second.interrupt().0, Some(0));
}

#[test]
fn a_controller_whose_cluster_is_unreachable_exits_with_the_reason() {
    let cluster = Cluster::start();
    let controller = cluster.controller(&[
        "--leader-elect-lease-duration=3s",
        "--leader-elect-renew-deadline=2s",
        "--leader-elect-retry-period=500ms",
    ]);
    controller.line_with("the index is complete; reconciling");
    drop(cluster.server);
    let (code, lines) = controller.wait();
    assert_eq!(code, Some(1));
    let last = lines.last().unwrap();
    assert!(
        last.starts_with(
            "lbcf: leadership lost: lease kube-system/lbcf-controller: not renewed within 2s"
        ),
        "{last}"
    );
}

#[test]
fn without_leader_election_several_controllers_run() {
    let cluster = Cluster::start();
    let first = cluster.controller(&["--leader-elect=false"]);
    first.line_with("the index is complete; reconciling");
    let second = cluster.controller(&["--leader-elect=false"]);
    second.line_with("the index is complete; reconciling");
}

#[test]
fn a_health_address_in_use_and_invalid_election_times_are_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let cluster = Cluster::start();
    for (flags, named) in [
        (
            ["--health-address", addr.as_str()],
            format!("--health-address {addr}"),
        ),
        (
            ["--leader-elect-retry-period", "1h"],
            "--leader-elect-retry-period 3600s".to_owned(),
        ),
    ] {
        let kubeconfig = ["controller", "--kubeconfig", cluster.kubeconfig.as_str()];
        let output = run(&[&kubeconfig[..], &flags].concat());
        assert_refused(&output, &named);
    }
}
