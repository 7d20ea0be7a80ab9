//! Applying manifests as they change, and again while a reason to refuse them may pass.

use super::printer::Printer;
use crate::manifests::{Manifest, NotApplied, apply_any, parse};
use kube::Client;
use lbcf_controller::Backoff;
use std::cell::RefCell;
use std::time::Duration;
use tokio::time::Instant;

pub(super) const DRIVER_KIND: &str = "LoadBalancerDriver";
/// The delays after failures, of the controller and of manifests: prompt, but readable.
pub(super) const BACKOFF: Backoff = Backoff {
    min: Duration::from_secs(1),
    step: Duration::from_secs(1),
    max: Duration::from_secs(10),
};

/// Manifests that were not applied for a reason that may pass.
#[derive(Default)]
pub(super) struct Waiting {
    manifests: Vec<Manifest>,
    /// The reasons, which have been reported.
    problems: Vec<String>,
    /// The number of attempts in a row.
    attempts: u32,
    /// When they are tried again.
    next: Option<Instant>,
}

impl Waiting {
    pub(super) fn is_due(&self) -> bool {
        self.next <= Some(Instant::now())
    }
}

/// Applies manifests, and remembers them.
pub(super) struct Applier<'a> {
    printer: &'a Printer,
    client: Client,
    /// The LoadBalancerDriver for users who have none.
    own: Vec<Manifest>,
    /// The nodes of an embedded cluster are objects alone, while its pods respond.
    is_embedded: bool,
    /// Those that need not be applied again.
    applied: RefCell<Vec<Manifest>>,
}

impl<'a> Applier<'a> {
    pub(super) fn new(
        printer: &'a Printer,
        client: Client,
        driver: &str,
        is_embedded: bool,
    ) -> Result<Self, String> {
        Ok(Self {
            printer,
            client,
            own: own_driver(driver)?,
            is_embedded,
            applied: RefCell::default(),
        })
    }

    /// Applies the manifests, and the driver's if there is none among them: those that have changed or were refused, as
    /// others would undo what kubectl has changed meanwhile.
    pub(super) async fn apply_all(&self, manifests: &[Manifest]) -> Option<Waiting> {
        let has_driver = manifests.iter().any(|it| it.kind() == DRIVER_KIND);
        let own = (!has_driver).then_some(&self.own).into_iter().flatten();
        let is_new = |manifest: &&Manifest| !self.applied.borrow().contains(*manifest);
        let new = own.chain(manifests).filter(is_new).cloned().collect();
        self.apply(new, &Waiting::default()).await
    }

    pub(super) async fn apply_again(&self, mut due: Waiting) -> Option<Waiting> {
        let manifests = std::mem::take(&mut due.manifests);
        self.apply(manifests, &due).await
    }

    /// Applies manifests one by one: one that is refused holds up no other. Returns those that are to be tried again.
    async fn apply(&self, manifests: Vec<Manifest>, earlier: &Waiting) -> Option<Waiting> {
        let attempts = earlier.attempts + 1;
        let (mut waiting, mut problems) = (Vec::new(), Vec::new());
        for manifest in manifests {
            let is_other = |it: &Manifest| !it.is_of_same_object(&manifest);
            self.applied.borrow_mut().retain(is_other);
            match apply_any(&self.client, &manifest.object, "default").await {
                Ok(()) => {
                    self.printer.notice("applied", manifest.to_string());
                    self.report_node_ports(&manifest);
                    self.applied.borrow_mut().push(manifest);
                }
                Err(NotApplied { problem, may_pass }) if may_pass => {
                    if !earlier.problems.contains(&problem) {
                        let again = format!("{problem} (tried again until it is applied)");
                        self.printer.notice("refused", again);
                    }
                    problems.push(problem);
                    waiting.push(manifest);
                }
                Err(NotApplied { problem, .. }) => self.printer.notice("refused", problem),
            }
        }
        (!waiting.is_empty()).then(|| Waiting {
            manifests: waiting,
            problems,
            attempts,
            next: Some(Instant::now() + BACKOFF.after(attempts, 0.0)),
        })
    }

    fn report_node_ports(&self, manifest: &Manifest) {
        let service_type = manifest.object.data["spec"]["type"].as_str();
        let has_node_ports = ["NodePort", "LoadBalancer"].contains(&service_type.unwrap_or("none"));
        if self.is_embedded && manifest.kind() == "Service" && has_node_ports {
            let text = format!("{manifest}: its node ports do not respond here, only its pods do");
            self.printer.notice("note", text);
        }
    }
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
