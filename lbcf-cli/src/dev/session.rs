//! A session from its start to its end.

use super::applier::{Applier, BACKOFF, DRIVER_KIND, Waiting};
use super::args::DevArgs;
use super::printer::Printer;
use super::proxy::{ProxiedDriver, Proxy};
use super::sources::Sources;
use super::watch::Watch;
use crate::drivers::host_of;
use crate::local_stack::{LocalStack, has_loopback_addresses};
use crate::manifests::{Manifest, delete_load_balancers, files, in_the_cloud, read_all, read_each};
use crate::shell;
use kube::Client;
use lbcf_conformance::driver::Exec;
use lbcf_controller::{Announced, DriverAddresses, Options};
use local_cluster::LocalClusterOptions;
use mock_driver::JournalEntry;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;
use tokio::time::sleep;

/// The time after which a driver that does not respond is reported.
const START: Duration = Duration::from_secs(30);
/// The time between two looks at the driver's process.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// The parts that have been started so far. Dropping it kills the driver and removes the kubeconfig, too, but gives the driver
/// no time.
#[derive(Default)]
pub(super) struct Session {
    stack: Option<LocalStack>,
    driver: Option<Exec>,
    /// It serves also while what is left is deleted.
    proxy: Option<Proxy>,
}

impl Session {
    /// Runs until standard output is closed.
    ///
    /// # Errors
    /// Problems at the beginning. Later problems are printed.
    pub(super) async fn run(
        &mut self,
        args: &DevArgs,
        printer: &Printer,
    ) -> Result<(), Box<dyn Error>> {
        let sources = Sources::of(args)?;
        // Begun before the files are read and the driver starts, so that no later change is missed.
        let changes = changes(&sources, &args.apply)?;
        let manifests = read_all(&args.apply).map_err(|problem| format!("--apply {problem}"))?;
        if let Some(command) = &args.exec {
            self.driver = Some(Exec::start_shown(command)?);
        }
        let url = match (&self.driver, &args.driver_url) {
            (Some(driver), _) => driver.url(),
            (None, Some(url)) => url.clone(),
            (None, None) => return Err("--exec or --driver-url is required".into()),
        };
        let proxy = self.proxy.insert(Proxy::start(&url).await?);
        let (of_user, kubeconfig) = (
            args.cluster_kubeconfig.as_deref(),
            args.kubeconfig.as_deref(),
        );
        let cluster = LocalClusterOptions {
            pod_traffic: has_loopback_addresses(),
            ..LocalClusterOptions::default()
        };
        let stack = LocalStack::start(of_user, kubeconfig, cluster).await?;
        let client = stack.client_as("lbcf-dev");
        let stack = self.stack.insert(stack);
        stack
            .start_controller(options(&manifests, &proxy.url))
            .await?;
        introduce(printer, &url, stack, &sources.describe());
        let work = Work {
            args,
            printer,
            driver: self.driver.as_ref(),
            proxied: proxy.driver.clone(),
            applier: Applier::new(printer, client, &proxy.url, of_user.is_none())?,
        };
        let mut work = Box::pin(work.run(manifests, changes));
        loop {
            tokio::select! {
                call = proxy.calls.next() => printer.call(&call)?,
                never = &mut work => match never {},
            }
        }
    }

    /// Deletes what the driver was asked for. A driver that has ended is started for that.
    pub(super) async fn clean_up(&mut self, printer: &Printer) {
        let Some(client) = self.client() else { return };
        if self.left().await.is_empty() {
            return;
        }
        printer.notice(
            "deleting",
            "what the driver was asked for; a second Ctrl-C leaves it",
        );
        if let Some(driver) = self.driver.as_ref().filter(|it| it.has_ended()) {
            let started = match driver.restart_gracefully().await {
                Ok(()) => driver.ready(START).await.map_err(|why| why.to_string()),
                Err(problem) => Err(problem.to_string()),
            };
            if let Err(problem) = started {
                return printer.notice("error", format!("the driver does not start: {problem}"));
            }
            self.proxy.iter().for_each(|proxy| proxy.driver.restarted());
        }
        let mut deleted = pin!(delete_load_balancers(&client));
        let deleted = loop {
            tokio::select! {
                biased;
                Some(call) = next_call(&mut self.proxy) => drop(printer.call(&call)),
                deleted = &mut deleted => break deleted,
            }
        };
        if let Err(problem) = deleted {
            printer.notice("error", problem);
        }
    }

    /// The objects of which something stays in the driver's cloud, or why they cannot be listed.
    pub(super) async fn left(&self) -> Vec<String> {
        let Some(client) = self.client() else {
            return Vec::new();
        };
        let listed = in_the_cloud(&client).await;
        listed.unwrap_or_else(|problem| vec![format!("objects that are not known ({problem})")])
    }

    fn client(&self) -> Option<Client> {
        self.stack.as_ref().map(|stack| stack.client_as("lbcf-dev"))
    }

    /// Stops the driver, which may take 2 s for that, and everything else.
    pub(super) async fn end(self) {
        if let Some(driver) = self.driver {
            driver.stop().await;
        }
        if let Some(stack) = self.stack {
            stack.shut_down().await;
        }
    }
}

/// The work while calls are shown.
struct Work<'a> {
    args: &'a DevArgs,
    printer: &'a Printer,
    driver: Option<&'a Exec>,
    proxied: ProxiedDriver,
    applier: Applier<'a>,
}

impl Work<'_> {
    /// Starts the driver again whenever it has changed, also while it does not respond yet.
    async fn run(
        &self,
        mut manifests: Vec<Manifest>,
        (mut sources, mut files): (Watch, Watch),
    ) -> Infallible {
        let mut is_ready = false;
        loop {
            let used = async {
                let responds = self.wait_for_driver().await;
                let waiting = self.applier.apply_all(&manifests).await;
                match std::mem::replace(&mut is_ready, true) {
                    false => {
                        let text = "each call is shown from here on; Ctrl-C ends it";
                        self.printer.notice("ready", text);
                    }
                    true if responds => self.printer.notice("ready", "the driver responds again"),
                    true => {}
                }
                self.follow(&mut manifests, &mut files, waiting).await
            };
            tokio::select! {
                never = used => match never {},
                () = sources.changed() => {}
            }
            if let Some(driver) = self.driver {
                let why = "the driver has changed";
                self.printer.notice("restart", why);
                if let Err(problem) = driver.restart_gracefully().await {
                    self.printer.notice("error", problem.to_string());
                }
                self.proxied.restarted();
            }
        }
    }

    /// Applies the manifests that change, and those whose time has come.
    async fn follow(
        &self,
        manifests: &mut Vec<Manifest>,
        files: &mut Watch,
        mut waiting: Option<Waiting>,
    ) -> Infallible {
        let mut has_ended = false;
        loop {
            tokio::select! {
                () = files.changed() => {
                    let (read, problems) = read_each(&self.args.apply);
                    for problem in problems {
                        self.printer.notice("error", problem);
                    }
                    *manifests = read;
                    waiting = self.applier.apply_all(manifests).await;
                }
                () = sleep(LOOK_INTERVAL) => {}
            }
            if let Some(due) = waiting.take_if(|waiting| waiting.is_due()) {
                waiting = self.applier.apply_again(due).await;
            }
            if !has_ended && self.driver.is_some_and(Exec::has_ended) {
                has_ended = true;
                self.report_end();
            }
        }
    }

    /// Waits until the driver responds, however long it takes to build; false if it ends. A change of it ends waiting.
    async fn wait_for_driver(&self) -> bool {
        let Some(driver) = self.driver else {
            return true;
        };
        loop {
            match driver.ready(START).await {
                Ok(()) => return true,
                Err(_) if driver.has_ended() => return false,
                Err(problem) => {
                    let (url, start) = (driver.url(), START.as_secs());
                    let why = format!("the driver does not respond at {url} within {start} s");
                    self.printer.notice("error", format!("{why}: {problem}"));
                }
            }
        }
    }

    fn report_end(&self) {
        let state = self.driver.map(Exec::state).unwrap_or_default();
        let text = format!("the driver: {state}; it is started again when it changes");
        self.printer.notice("error", text);
    }
}

async fn next_call(proxy: &mut Option<Proxy>) -> Option<JournalEntry> {
    Some(proxy.as_mut()?.calls.next().await)
}

/// The driver's sources, and the manifests.
fn changes(sources: &Sources, apply: &[PathBuf]) -> Result<(Watch, Watch), String> {
    let (sources, apply) = (sources.clone(), apply.to_owned());
    let manifests = move || {
        // What cannot be listed is reported when it is read.
        let found = apply.iter().filter_map(|path| files(path).ok()).flatten();
        apply.iter().cloned().chain(found).collect()
    };
    Ok((Watch::new(move || sources.list())?, Watch::new(manifests)?))
}

fn introduce(printer: &Printer, url: &str, stack: &LocalStack, sources: &str) {
    let restarts = match sources.is_empty() {
        true => String::new(),
        false => format!(", started again when {sources} changes"),
    };
    printer.notice("driver", format!("{url}{restarts}"));
    printer.notice("cluster", stack.url());
    let kubeconfig = shell::quote(&stack.kubeconfig().to_string_lossy());
    printer.notice("kubectl", format!("export KUBECONFIG={kubeconfig}"));
    printer.notice("", "kubectl get lbd,lb,bg,br,pods -A");
}

fn options(manifests: &[Manifest], proxy: &str) -> Options {
    let drivers = manifests.iter().filter(|it| it.kind() == DRIVER_KIND);
    let hosts = drivers.filter_map(|it| host_of(it.object.data["spec"]["url"].as_str()?));
    Options {
        backoff: BACKOFF,
        poll_interval: Duration::from_secs(1),
        announced: everywhere(),
        announced_by_tenants: everywhere(),
        driver_addresses_of_tenants: DriverAddresses::everything(),
        connect_to: BTreeMap::from_iter(hosts.map(|host| (host, proxy.to_owned()))),
        ..Options::default()
    }
}

/// Local programs listen on loopback addresses.
fn everywhere() -> Announced {
    let list = "any,127.0.0.0/8,::1".parse();
    list.unwrap_or_default()
}
