//! A session from its start to its end.

use super::args::DevArgs;
use super::printer::Printer;
use super::proxy::{ProxiedDriver, Proxy};
use super::watch::{LOOK_INTERVAL, Look, Watch, look, program};
use crate::local_stack::{LocalStack, has_loopback_addresses};
use crate::manifests::{
    Manifest, NotApplied, apply_any, delete_load_balancers, files, in_the_cloud, parse, read_all,
    read_each,
};
use crate::shell;
use kube::Client;
use lbcf_conformance::driver::Exec;
use lbcf_controller::{Announced, Backoff, DriverAddresses, Options};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time that the driver may take until it responds.
const START: Duration = Duration::from_secs(30);
/// The delays after failures, of the controller and of manifests: prompt, but readable.
const BACKOFF: Backoff = Backoff {
    min: Duration::from_secs(1),
    step: Duration::from_secs(1),
    max: Duration::from_secs(10),
};

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
        let watched = watched(args)?;
        // Taken before the files are read and the driver starts, so that no later change is missed.
        let changes = (Watch::new(look(&watched)), Watch::new(look_at(&args.apply)));
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
        let stack = LocalStack::start(of_user, kubeconfig, has_loopback_addresses()).await?;
        let client = stack.client_as("lbcf-dev");
        let stack = self.stack.insert(stack);
        stack
            .start_controller(options(&manifests, &proxy.url))
            .await?;
        introduce(printer, &url, stack, &watched);
        let work = Work {
            args,
            printer,
            client,
            own: own_driver(&proxy.url)?,
            driver: self.driver.as_ref(),
            proxied: proxy.driver.clone(),
            applied: RefCell::default(),
        };
        let mut work = Box::pin(work.run(manifests, &watched, changes));
        loop {
            tokio::select! {
                call = proxy.calls.next() => printer.call(&call)?,
                never = &mut work => match never {},
            }
        }
    }

    /// Deletes what the driver was asked for. A driver that has ended is started for that.
    pub(super) async fn clean_up(&self, printer: &Printer) {
        let Some(client) = self.client() else { return };
        if in_the_cloud(&client)
            .await
            .is_ok_and(|found| found.is_empty())
        {
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
                printer.notice("error", format!("the driver does not start: {problem}"));
                return self.report_left(printer).await;
            }
            self.proxy.iter().for_each(|proxy| proxy.driver.restarted());
        }
        if let Err(problem) = delete_load_balancers(&client).await {
            printer.notice("error", problem);
        }
    }

    /// Says what stays in the driver's cloud.
    pub(super) async fn report_left(&self, printer: &Printer) {
        let Some(client) = self.client() else { return };
        let left = in_the_cloud(&client).await.unwrap_or_default();
        if !left.is_empty() {
            let left = format!("in the driver's cloud, of: {}", left.join(", "));
            printer.notice("left", left);
        }
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
    client: Client,
    /// The LoadBalancerDriver for users who have none.
    own: Vec<Manifest>,
    driver: Option<&'a Exec>,
    proxied: ProxiedDriver,
    /// Those that need not be applied again.
    applied: RefCell<Vec<Manifest>>,
}

/// Manifests that were not applied for a reason that may pass.
struct Waiting {
    manifests: Vec<Manifest>,
    /// The number of attempts in a row.
    attempts: u32,
    /// When they are tried again.
    next: Instant,
}

impl Work<'_> {
    /// Starts the driver again whenever it has changed, also while it does not respond yet.
    async fn run(
        &self,
        mut manifests: Vec<Manifest>,
        watched: &[PathBuf],
        (mut programs, mut files): (Watch, Watch),
    ) -> Infallible {
        let mut is_ready = false;
        loop {
            let used = async {
                let responds = self.wait_for_driver().await;
                let waiting = self.apply_all(&manifests).await;
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
                () = programs.changed(|| look(watched)) => {}
            }
            if let Some(driver) = self.driver {
                let why = "the driver's program has changed";
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
            sleep(LOOK_INTERVAL).await;
            if files.has_changed(look_at(&self.args.apply)) {
                let (read, problems) = read_each(&self.args.apply);
                for problem in problems {
                    self.printer.notice("error", problem);
                }
                *manifests = read;
                waiting = self.apply_all(manifests).await;
            }
            if let Some(due) = waiting.take_if(|waiting| waiting.next <= Instant::now()) {
                waiting = self.apply(due.manifests, due.attempts + 1).await;
            }
            if !has_ended && self.driver.is_some_and(Exec::has_ended) {
                has_ended = true;
                self.report_end();
            }
        }
    }

    /// Applies the manifests, and the driver's if there is none among them: those that have changed or were refused, as
    /// others would undo what kubectl has changed meanwhile.
    async fn apply_all(&self, manifests: &[Manifest]) -> Option<Waiting> {
        let has_driver = manifests.iter().any(|it| it.kind() == DRIVER_KIND);
        let own = (!has_driver).then_some(&self.own).into_iter().flatten();
        let is_new = |manifest: &&Manifest| !self.applied.borrow().contains(*manifest);
        let new = own.chain(manifests).filter(is_new).cloned().collect();
        self.apply(new, 1).await
    }

    /// Applies manifests one by one: one that is refused holds up no other. Returns those that are to be tried again.
    async fn apply(&self, manifests: Vec<Manifest>, attempts: u32) -> Option<Waiting> {
        let delay = BACKOFF.after(attempts, 0.0);
        let mut waiting = Vec::new();
        for manifest in manifests {
            let is_other = |it: &Manifest| !it.is_of_same_object(&manifest);
            self.applied.borrow_mut().retain(is_other);
            match apply_any(&self.client, &manifest.object).await {
                Ok(()) => {
                    self.printer.notice("applied", manifest.to_string());
                    self.applied.borrow_mut().push(manifest);
                }
                Err(NotApplied { problem, may_pass }) if may_pass => {
                    let again = format!("{problem} (tried again in {} s)", delay.as_secs());
                    self.printer.notice("refused", again);
                    waiting.push(manifest);
                }
                Err(NotApplied { problem, .. }) => self.printer.notice("refused", problem),
            }
        }
        (!waiting.is_empty()).then(|| Waiting {
            manifests: waiting,
            attempts,
            next: Instant::now() + delay,
        })
    }

    /// Waits until the driver responds, and tells if it does; if it does not, the next change of it may help.
    async fn wait_for_driver(&self) -> bool {
        let Some(driver) = self.driver else {
            return true;
        };
        let ready = driver.ready(START).await;
        let responds = ready.is_ok();
        if let Err(problem) = ready
            && !driver.has_ended()
        {
            let (url, start) = (driver.url(), START.as_secs());
            let why = format!("the driver does not respond at {url} within {start} s");
            self.printer.notice("error", format!("{why}: {problem}"));
        }
        responds
    }

    fn report_end(&self) {
        let state = self.driver.map(Exec::state).unwrap_or_default();
        let text = format!("the driver: {state}; it is started again when its program changes");
        self.printer.notice("error", text);
    }
}

const DRIVER_KIND: &str = "LoadBalancerDriver";

/// The files after whose change the driver is started again.
fn watched(args: &DevArgs) -> Result<Vec<PathBuf>, String> {
    if let Some(missing) = args.watch.iter().find(|path| !path.is_file()) {
        return Err(format!(
            "--watch {}: there is no such file",
            missing.display()
        ));
    }
    if args.watch.is_empty() {
        let program = args.exec.as_deref().and_then(program);
        return Ok(program.into_iter().collect());
    }
    Ok(args.watch.clone())
}

fn look_at(paths: &[PathBuf]) -> Look {
    // What cannot be listed is reported when it is read.
    let found = paths
        .iter()
        .flat_map(|path| files(path).unwrap_or_else(|_| vec![path.clone()]));
    look(&found.collect::<Vec<_>>())
}

fn introduce(printer: &Printer, url: &str, stack: &LocalStack, watched: &[PathBuf]) {
    let quoted = |path: &Path| shell::quote(&path.to_string_lossy());
    let watched: Vec<_> = watched.iter().map(|path| quoted(path)).collect();
    let restarts = match watched.is_empty() {
        true => String::new(),
        false => format!(", started again when {} changes", watched.join(" or ")),
    };
    printer.notice("driver", format!("{url}{restarts}"));
    printer.notice("cluster", stack.url());
    let kubeconfig = quoted(stack.kubeconfig());
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

/// The host of a driver's URL, which is that of a Service in a cluster.
fn host_of(url: &str) -> Option<String> {
    let uri: axum::http::Uri = url.parse().ok()?;
    uri.host().map(str::to_owned)
}

fn own_driver(url: &str) -> Result<Vec<Manifest>, String> {
    let text = format!(
        "apiVersion: lbcf.tkestack.io/v1beta1
kind: {DRIVER_KIND}
metadata:
  name: lbcf-dev
  namespace: kube-system
spec:
  driverType: Webhook
  url: {url}
"
    );
    parse("lbcf-dev", text)
}
