//! The resources that the kit created, for cleaning up: entered before the call that creates them,
//! removed when the driver confirms the deletion. The kit never changes other resources.

use crate::call::{DriverReply, Status, WebhookCall};
use crate::sync::lock;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::Value;
use std::sync::Mutex;

/// A resource that the kit created, or may have created.
#[derive(Debug, Clone)]
pub(crate) enum CreatedResource {
    LoadBalancer {
        /// The call that creates it.
        create: WebhookCall,
        /// The identity, once the driver has returned it.
        lb_info: Option<StringMap>,
        /// Whether the creation may still be running.
        unfinished: bool,
    },
    Backend {
        /// The call that registers it.
        ensure: WebhookCall,
    },
}

/// The created resources with the ids of their checks.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Mutex<Vec<(&'static str, CreatedResource)>>,
}

impl Ledger {
    /// Enters the resource that a call may create, before the call.
    pub(crate) fn before(&self, check: &'static str, call: &WebhookCall) {
        if call.is_dry_run() {
            return;
        }
        let mut entries = lock(&self.entries);
        match call.webhook() {
            "createLoadBalancer" => {
                let known = entries
                    .iter_mut()
                    .find(|(_, made)| made.is_created_by(call));
                match known {
                    Some((_, CreatedResource::LoadBalancer { unfinished, .. })) => {
                        *unfinished = true;
                    }
                    _ => entries.push((
                        check,
                        CreatedResource::LoadBalancer {
                            create: call.clone(),
                            lb_info: None,
                            unfinished: true,
                        },
                    )),
                }
            }
            "ensureBackend" if !entries.iter().any(|(_, made)| made.is_backend_of(call)) => {
                entries.push((
                    check,
                    CreatedResource::Backend {
                        ensure: call.clone(),
                    },
                ));
            }
            _ => {}
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
        match (call.webhook(), received) {
            (_, Some(received)) => {
                self.before(check, received);
                self.after(received, reply);
            }
            // A tolerant parser may have read all of it.
            ("createLoadBalancer" | "ensureBackend", None) => {
                self.before(check, call);
                self.after(call, reply);
            }
            (_, None) => {}
        }
    }

    /// Removes deleted resources, and stores identities.
    pub(crate) fn after(&self, call: &WebhookCall, reply: &DriverReply) {
        if call.is_dry_run() {
            return;
        }
        let status = reply.status();
        let mut entries = lock(&self.entries);
        match (call.webhook(), status) {
            ("createLoadBalancer", Some(Status::Succ | Status::Fail)) => {
                let created = reply.string_map("lbInfo");
                let mut another = None;
                for (check, made) in entries.iter_mut() {
                    if !made.is_created_by(call) {
                        continue;
                    }
                    let CreatedResource::LoadBalancer {
                        lb_info,
                        unfinished,
                        ..
                    } = made
                    else {
                        continue;
                    };
                    *unfinished = false;
                    if status != Some(Status::Succ) {
                        continue;
                    }
                    match lb_info {
                        None => *lb_info = Some(reply.identity(&call.string_map("lbSpec"))),
                        Some(known) if created.is_empty() || *known == created => {
                            another = None;
                            break;
                        }
                        Some(_) => another = Some(*check),
                    }
                }
                if let Some(check) = another {
                    // The known one exists, too.
                    let resource = CreatedResource::LoadBalancer {
                        create: call.clone(),
                        lb_info: Some(created),
                        unfinished: false,
                    };
                    entries.push((check, resource));
                }
            }
            ("deleteLoadBalancer", Some(Status::Succ)) => {
                let lb_info = call.string_map("lbInfo");
                if lb_info.is_empty() {
                    return;
                }
                entries.retain(|(_, made)| match made {
                    CreatedResource::LoadBalancer { lb_info: known, .. } => {
                        known.as_ref() != Some(&lb_info)
                    }
                    CreatedResource::Backend { ensure } => ensure.string_map("lbInfo") != lb_info,
                });
            }
            ("deregisterBackend", Some(Status::Succ)) => {
                entries.retain(|(_, made)| !made.is_backend_of(call));
            }
            _ => {}
        }
    }

    /// The remaining resources of a check, the last first.
    pub(crate) fn of(&self, check: &str) -> Vec<CreatedResource> {
        let entries = lock(&self.entries);
        let of_check = entries.iter().rev().filter(|(by, _)| *by == check);
        of_check.map(|(_, made)| made.clone()).collect()
    }

    pub(crate) fn remove(&self, made: &CreatedResource) {
        lock(&self.entries).retain(|(_, other)| !other.is_same(made));
    }

    /// All remaining resources with the ids of their checks.
    pub(crate) fn all(&self) -> Vec<(&'static str, CreatedResource)> {
        lock(&self.entries).clone()
    }
}

impl CreatedResource {
    fn is_created_by(&self, call: &WebhookCall) -> bool {
        let same = |name| matches!(self, Self::LoadBalancer { create, .. } if create.field(name) == call.field(name));
        same("recordID") && same("lbSpec")
    }

    fn is_backend_of(&self, call: &WebhookCall) -> bool {
        let same = |name| matches!(self, Self::Backend { ensure } if ensure.field(name) == call.field(name));
        same("lbInfo") && same("backendAddr")
    }

    fn is_same(&self, other: &Self) -> bool {
        match other {
            Self::LoadBalancer {
                create, lb_info, ..
            } => {
                let own = match self {
                    Self::LoadBalancer { lb_info, .. } => lb_info.as_ref(),
                    Self::Backend { .. } => None,
                };
                let other = lb_info.as_ref();
                self.is_created_by(create) && (own.is_none() || other.is_none() || own == other)
            }
            Self::Backend { ensure } => self.is_backend_of(ensure),
        }
    }

    /// The call that created it, such as `createLoadBalancer under recordID createLoadBalancer(91aa)`.
    pub(crate) fn created_by(&self) -> String {
        let (Self::LoadBalancer { create: call, .. } | Self::Backend { ensure: call }) = self;
        let record_id = call.field("recordID").and_then(Value::as_str);
        let record_id = record_id.unwrap_or_default();
        format!("{} under recordID {record_id}", call.webhook())
    }

    /// A description for people who have to remove it.
    pub(crate) fn described(&self) -> String {
        let text =
            |call: &WebhookCall, name| call.field(name).map(Value::to_string).unwrap_or_default();
        match self {
            Self::LoadBalancer {
                lb_info: Some(lb_info),
                ..
            } => format!(
                "a load balancer with lbInfo {}",
                serde_json::to_string(lb_info).unwrap_or_default()
            ),
            Self::LoadBalancer { create, .. } => format!(
                "perhaps a load balancer created from lbSpec {}",
                text(create, "lbSpec")
            ),
            Self::Backend { ensure } => format!(
                "a backend {} on the load balancer {}",
                text(ensure, "backendAddr"),
                text(ensure, "lbInfo")
            ),
        }
    }
}
