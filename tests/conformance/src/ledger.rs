//! The resources that the kit created, for cleaning up: entered before the call that creates them,
//! removed when the driver confirms the deletion. The kit never changes other resources.

use crate::call::{DriverReply, Status, WebhookCall};
use crate::sync::lock;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::Value;
use std::sync::Mutex;

/// A load balancer or a backend that the kit created, or may have created.
#[derive(Debug, Clone)]
pub(crate) struct CreatedResource {
    /// The id of the check.
    pub(crate) check: &'static str,
    /// The call that creates it: `createLoadBalancer` or `ensureBackend`.
    pub(crate) call: WebhookCall,
    /// The identity of a load balancer, once the driver has returned it.
    pub(crate) lb_info: Option<StringMap>,
    /// True if the creation of a load balancer may still be running.
    pub(crate) unfinished: bool,
}

/// The created resources in the order of their creation.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Mutex<Vec<CreatedResource>>,
}

impl Ledger {
    /// Enters the resource that a call may create, before the call.
    pub(crate) fn before(&self, check: &'static str, call: &WebhookCall) {
        if call.is_dry_run() || !matches!(call.webhook(), "createLoadBalancer" | "ensureBackend") {
            return;
        }
        let mut entries = lock(&self.entries);
        match entries.iter_mut().find(|made| made.is_of(call)) {
            Some(made) => made.unfinished = true,
            None => entries.push(CreatedResource {
                check,
                call: call.clone(),
                lb_info: None,
                unfinished: true,
            }),
        }
    }

    /// Enters what a bad request may have created, made from `call`. `received` is the call that its
    /// body is, if it is one: only that can have deleted something, because a `deleteLoadBalancer`
    /// without `lbInfo` succeeds and deletes nothing.
    pub(crate) fn after_bad(
        &self,
        check: &'static str,
        call: &WebhookCall,
        received: Option<&WebhookCall>,
        reply: &DriverReply,
    ) {
        // A tolerant parser may have read all of it.
        let creates = matches!(call.webhook(), "createLoadBalancer" | "ensureBackend");
        if let Some(call) = received.or(creates.then_some(call)) {
            self.before(check, call);
            self.after(call, reply);
        }
    }

    /// Removes deleted resources, and stores identities.
    pub(crate) fn after(&self, call: &WebhookCall, reply: &DriverReply) {
        if call.is_dry_run() {
            return;
        }
        let mut entries = lock(&self.entries);
        match (call.webhook(), reply.status()) {
            ("createLoadBalancer", Some(Status::Succ)) => created(&mut entries, call, reply),
            ("createLoadBalancer", Some(Status::Fail)) => {
                for made in entries.iter_mut().filter(|made| made.is_of(call)) {
                    made.unfinished = false;
                }
            }
            ("deleteLoadBalancer", Some(Status::Succ)) => {
                let lb_info = Some(call.string_map("lbInfo")).filter(|map| !map.is_empty());
                entries.retain(|made| lb_info.is_none() || made.load_balancer() != lb_info);
            }
            ("deregisterBackend", Some(Status::Succ)) => entries.retain(|made| !made.is_of(call)),
            _ => {}
        }
    }

    /// The remaining resources of a check, the last first.
    pub(crate) fn of(&self, check: &str) -> Vec<CreatedResource> {
        let mut made = self.all();
        made.retain(|made| made.check == check);
        made.reverse();
        made
    }

    pub(crate) fn remove(&self, made: &CreatedResource) {
        lock(&self.entries).retain(|other| !other.is_same(made));
    }

    /// All remaining resources.
    pub(crate) fn all(&self) -> Vec<CreatedResource> {
        lock(&self.entries).clone()
    }
}

/// Stores the identity of a load balancer; a second one for the same call is another load balancer.
fn created(entries: &mut Vec<CreatedResource>, call: &WebhookCall, reply: &DriverReply) {
    let returned = reply.string_map("lbInfo");
    let mut other_of = None;
    for made in entries.iter_mut().filter(|made| made.is_of(call)) {
        made.unfinished = false;
        match &made.lb_info {
            None => made.lb_info = Some(reply.identity(&call.string_map("lbSpec"))),
            Some(known) if returned.is_empty() || *known == returned => return,
            Some(_) => other_of = Some(made.check),
        }
    }
    if let Some(check) = other_of {
        // The known one exists, too.
        entries.push(CreatedResource {
            check,
            call: call.clone(),
            lb_info: Some(returned),
            unfinished: false,
        });
    }
}

impl CreatedResource {
    pub(crate) fn is_backend(&self) -> bool {
        self.call.webhook() == "ensureBackend"
    }

    /// True if a call creates or deregisters it.
    fn is_of(&self, call: &WebhookCall) -> bool {
        let same = |name| self.call.field(name) == call.field(name);
        match call.webhook() {
            "createLoadBalancer" => !self.is_backend() && same("recordID") && same("lbSpec"),
            "ensureBackend" | "deregisterBackend" => {
                self.is_backend() && same("lbInfo") && same("backendAddr")
            }
            _ => false,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let known = self.lb_info.as_ref().zip(other.lb_info.as_ref());
        self.is_of(&other.call) && known.is_none_or(|(own, other)| own == other)
    }

    /// The identity of the load balancer, or of the backend's load balancer.
    fn load_balancer(&self) -> Option<StringMap> {
        let of_backend = self.is_backend().then(|| self.call.string_map("lbInfo"));
        of_backend.or_else(|| self.lb_info.clone())
    }

    /// The call that created it, such as `createLoadBalancer under recordID createLoadBalancer(91aa)`.
    pub(crate) fn created_by(&self) -> String {
        let record_id = self.call.field("recordID").and_then(Value::as_str);
        let (webhook, record_id) = (self.call.webhook(), record_id.unwrap_or_default());
        format!("{webhook} under recordID {record_id}")
    }

    /// A description for people who have to remove it.
    pub(crate) fn described(&self) -> String {
        let text = |name| {
            self.call
                .field(name)
                .map(Value::to_string)
                .unwrap_or_default()
        };
        if self.is_backend() {
            let (addr, lb_info) = (text("backendAddr"), text("lbInfo"));
            return format!("a backend {addr} on the load balancer {lb_info}");
        }
        match &self.lb_info {
            Some(lb_info) => {
                let lb_info = serde_json::to_string(lb_info).unwrap_or_default();
                format!("a load balancer with lbInfo {lb_info}")
            }
            None => {
                let lb_spec = text("lbSpec");
                format!("perhaps a load balancer created from lbSpec {lb_spec}")
            }
        }
    }
}
