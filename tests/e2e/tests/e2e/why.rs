//! Thirty broken situations: `why` names the cause first, and the line that it prints, or what it advises, ends it.

mod exits;
mod situations;
mod ways;

use crate::concurrently::run_concurrently;
use kube::Client;
use lbcf_controller::Options;
use lbcf_controller::api::ServiceMode;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, needs_embedded, sample, until};
use lbcf_inspect::{Chain, Cluster, Fix, ObjectRef, Scope, why};
use local_cluster::ServerHandle;
use serde_json::{Value, json};
use situations::{Event, Helps, SITUATIONS, Situation};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;

/// A user's shell, with kubectl.
struct Shell {
    server: ServerHandle,
    folder: TempDir,
}

impl Shell {
    async fn of(world: &World) -> Self {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = world.cluster.serve(any_port).await;
        let folder = TempDir::with_prefix("lbcf-why-").unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        server.write_kubeconfig(&kubeconfig).unwrap();
        let shell = Self { server, folder };
        let namespace = format!("kubectl config set-context --current --namespace={NAMESPACE}");
        shell.run(&namespace).await;
        shell
    }

    async fn run(&self, line: &str) {
        let mut command = Command::new("sh");
        command.args(["-ec", line]).kill_on_drop(true);
        command.env("KUBECONFIG", self.folder.path().join("kubeconfig"));
        // kubectl caches what servers have there.
        command.env("HOME", self.folder.path());
        let output = command.output().await.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{errors}");
    }
}

async fn has_kubectl() -> bool {
    let version = Command::new("kubectl")
        .args(["version", "--client"])
        .output();
    let has = version.await.is_ok_and(|output| output.status.success());
    if !has {
        // Not `println!`: the test harness discards what a passing test prints.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: why, as kubectl is not on the PATH"
        );
    }
    has
}

struct Lab {
    world: World,
    shell: Shell,
    asked: ObjectRef,
}

impl Lab {
    /// A load balancer with two pods that are registered, and a driver with a class.
    async fn of(situation: &Situation) -> Self {
        let world = World::bare().await;
        world.create_class_driver(ServiceMode::Endpoints).await;
        world.create(&manifests::load_balancer(LB)).await;
        world.create_pods(2).await;
        world.create(&manifests::group(GROUP, &[LB])).await;
        let shell = Shell::of(&world).await;
        let namespace = if situation.asked.starts_with("lbd/") {
            SYSTEM
        } else {
            NAMESPACE
        };
        let asked = ObjectRef::parse(situation.asked, namespace).unwrap();
        let lab = Self {
            world,
            shell,
            asked,
        };
        if situation.has_controller {
            lab.start_controller();
            lab.world.until_pods(2).await;
        }
        lab
    }

    fn start_controller(&self) {
        self.world.start(Options {
            driver_health_period: Some(Duration::from_millis(100)),
            ..World::quick()
        });
    }

    async fn happen(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Run(line) => self.shell.run(line).await,
                Event::Fault(rule) => {
                    let rule = serde_json::from_str(rule).unwrap();
                    self.world.cloud.faults().add(rule).unwrap();
                }
                Event::FaultsEnd => self.world.cloud.faults().clear(),
                Event::DriverStops => self.world.stop_driver().await,
                Event::DriverStarts => self.world.start_driver().await,
                Event::Ready(pod, ready) => self.world.set_ready(pod, *ready).await,
                Event::PodStatus(pod, status) => {
                    let status: Value = serde_json::from_str(status).unwrap();
                    self.patch_status(pod, &json!({"status": status})).await;
                }
                Event::ControllerStarts => self.start_controller(),
            }
        }
    }

    async fn patch_status(&self, pod: &str, patch: &Value) {
        use k8s_openapi::api::core::v1::Pod;
        use kube::api::{Patch, PatchParams};
        let pods = self.world.api::<Pod>(NAMESPACE);
        let (params, patch) = (PatchParams::default(), Patch::Strategic(patch));
        pods.patch_status(pod, &params, &patch).await.unwrap();
    }

    async fn ask(&self) -> (Cluster, Vec<Chain>) {
        self.ask_as(&self.world.client()).await
    }

    async fn ask_as(&self, client: &Client) -> (Cluster, Vec<Chain>) {
        let scope = Scope::Namespace(NAMESPACE.to_owned());
        let cluster = Cluster::read(client, &scope).await.unwrap();
        let chains = why::why(&cluster, &self.asked);
        (cluster, chains)
    }

    /// Waits until the first cause is this one, and returns what helps against it.
    async fn until_cause(&self, situation: &Situation) -> Fix {
        let printed = Mutex::new(String::new());
        let found = until("the cause comes first", async || {
            let (cluster, chains) = self.ask().await;
            let text = why::text(&chains, &cluster.unseen);
            let mut printed = printed.lock().unwrap();
            if *printed != text {
                // Shown if the test fails.
                println!("{}: {text}", situation.name);
                *printed = text;
            }
            let first = chains.first()?.first()?;
            let message = format!("{} {}", first.object, first.message);
            message.contains(situation.cause).then(|| first.fix.clone())
        });
        found.await
    }

    /// Waits until nothing stops the object any more, or it is gone.
    async fn until_ended(&self, situation: &Situation) {
        let printed = Mutex::new(String::new());
        until(situation.name, async || {
            let (cluster, chains) = self.ask().await;
            let text = why::text(&chains, &cluster.unseen);
            let mut printed = printed.lock().unwrap();
            if *printed != text {
                println!("{} then: {text}", situation.name);
                *printed = text;
            }
            let is_gone = || {
                chains
                    .iter()
                    .flatten()
                    .all(|it| it.message == "does not exist")
            };
            (chains.is_empty() || (situation.ends_gone && is_gone())).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exhaustive_why_names_the_cause_first_and_its_line_helps() {
    if needs_embedded("kubectl is given a kubeconfig of it") || !has_kubectl().await {
        return;
    }
    let situations = sample("broken situations", SITUATIONS, 6);
    let seen = run_concurrently(situations, solve).await;
    // The others are about nodes, Deployments, or what is in kube-system.
    let (same, all) = (seen.iter().filter(|it| **it).count(), seen.len());
    assert!(
        same * 2 > all,
        "a tenant gets the same cause in {same} of {all}"
    );
}

/// Returns whether the tenant of the namespace, which may read no other one, gets the same cause.
async fn solve(situation: &'static Situation) -> bool {
    let mut lab = Lab::of(situation).await;
    lab.happen(situation.breaks).await;
    let fix = lab.until_cause(situation).await;
    let (cluster, chains) = lab
        .ask_as(&lab.world.client_of_tenant(NAMESPACE).await)
        .await;
    let unseen = why::text(&[], &cluster.unseen);
    assert!(
        unseen.contains("loadbalancerdrivers in namespace kube-system"),
        "{unseen}"
    );
    let first = chains.first().and_then(|chain| chain.first());
    let is_same =
        first.is_some_and(|it| format!("{} {}", it.object, it.message).contains(situation.cause));
    match (situation.helps, fix) {
        (Helps::Line, Fix::Run(line)) => lab.shell.run(&line).await,
        (Helps::Line, Fix::Advice(advice)) => panic!("{}: no line: {advice}", situation.name),
        (Helps::Events(events), _) => lab.happen(events).await,
    }
    lab.until_ended(situation).await;
    println!("{}: solved", situation.name);
    lab.shell.server.shutdown().await;
    is_same
}

#[test]
fn there_are_thirty_situations_and_half_of_them_are_questions_of_trackers() {
    let asked = SITUATIONS.iter().filter(|it| !it.seen_in.is_empty());
    assert!(SITUATIONS.len() >= 30 && asked.count() >= 15);
}
