//! What the kit made, so that it can take it away again: written down before the call that makes
//! it, struck out when the driver says that it is gone. Nothing else is ever touched.

use crate::lab::{Answer, Call, Status};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// Something that the kit made, or may have made.
#[derive(Debug, Clone)]
pub(crate) enum Made {
    /// A load balancer.
    LoadBalancer {
        /// The call that makes it.
        create: Call,
        /// Its identity, once the driver said it.
        lb_info: Option<StringMap>,
        /// Whether the driver may still be making it.
        unfinished: bool,
    },
    /// A registered backend.
    Backend {
        /// The call that registers it.
        ensure: Call,
    },
}

/// What is there, with the checks that made it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Mutex<Vec<(&'static str, Made)>>,
}

impl Ledger {
    /// Writes down what a call may make, before it is made.
    pub(crate) fn before(&self, check: &'static str, call: &Call) {
        if call.is_dry_run() {
            return;
        }
        let mut entries = self.lock();
        match call.webhook() {
            "createLoadBalancer" => {
                let known = entries.iter_mut().find(|(_, made)| made.is_made_by(call));
                match known {
                    Some((_, Made::LoadBalancer { unfinished, .. })) => *unfinished = true,
                    _ => entries.push((
                        check,
                        Made::LoadBalancer {
                            create: call.clone(),
                            lb_info: None,
                            unfinished: true,
                        },
                    )),
                }
            }
            "ensureBackend" if !entries.iter().any(|(_, made)| made.is_registered_by(call)) => {
                entries.push((
                    check,
                    Made::Backend {
                        ensure: call.clone(),
                    },
                ));
            }
            _ => {}
        }
    }

    /// Strikes out what is gone, and writes down identities.
    pub(crate) fn after(&self, call: &Call, answer: &Answer) {
        if call.is_dry_run() {
            return;
        }
        let status = answer.status();
        let mut entries = self.lock();
        match (call.webhook(), status) {
            ("createLoadBalancer", Some(Status::Succ | Status::Fail)) => {
                for (_, made) in entries.iter_mut().filter(|(_, made)| made.is_made_by(call)) {
                    if let Made::LoadBalancer {
                        lb_info,
                        unfinished,
                        ..
                    } = made
                    {
                        *unfinished = false;
                        if status == Some(Status::Succ) {
                            *lb_info = Some(identity(call, answer));
                        }
                    }
                }
            }
            ("deleteLoadBalancer", Some(Status::Succ)) => {
                let lb_info = map(call, "lbInfo");
                if lb_info.is_empty() {
                    return;
                }
                entries.retain(|(_, made)| match made {
                    Made::LoadBalancer { lb_info: known, .. } => known.as_ref() != Some(&lb_info),
                    Made::Backend { ensure } => map(ensure, "lbInfo") != lb_info,
                });
            }
            ("deregisterBackend", Some(Status::Succ)) => {
                entries.retain(|(_, made)| !made.is_taken_away_by(call));
            }
            _ => {}
        }
    }

    /// What a check made and nobody took away, the last first.
    pub(crate) fn of(&self, check: &str) -> Vec<Made> {
        let entries = self.lock();
        let of_check = entries.iter().rev().filter(|(by, _)| *by == check);
        of_check.map(|(_, made)| made.clone()).collect()
    }

    /// Strikes out what cannot be taken away, or was never made.
    pub(crate) fn forget(&self, made: &Made) {
        self.lock().retain(|(_, other)| !other.is_same(made));
    }

    /// Everything that is still there, with the checks that made it.
    pub(crate) fn all(&self) -> Vec<(&'static str, Made)> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(&'static str, Made)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Made {
    fn is_made_by(&self, call: &Call) -> bool {
        let same = |name| matches!(self, Self::LoadBalancer { create, .. } if create.field(name) == call.field(name));
        same("recordID") && same("lbSpec")
    }

    fn is_registered_by(&self, call: &Call) -> bool {
        self.is_taken_away_by(call)
    }

    fn is_taken_away_by(&self, call: &Call) -> bool {
        let same = |name| matches!(self, Self::Backend { ensure } if ensure.field(name) == call.field(name));
        same("lbInfo") && same("backendAddr")
    }

    fn is_same(&self, other: &Self) -> bool {
        match other {
            Self::LoadBalancer { create, .. } => self.is_made_by(create),
            Self::Backend { ensure } => self.is_taken_away_by(ensure),
        }
    }

    /// What it is, for people who have to remove it.
    pub(crate) fn described(&self) -> String {
        let text = |call: &Call, name| call.field(name).map(Value::to_string).unwrap_or_default();
        match self {
            Self::LoadBalancer {
                lb_info: Some(lb_info),
                ..
            } => format!(
                "a load balancer with lbInfo {}",
                serde_json::to_string(lb_info).unwrap_or_default()
            ),
            Self::LoadBalancer { create, .. } => format!(
                "perhaps a load balancer made from lbSpec {} under recordID {}",
                text(create, "lbSpec"),
                text(create, "recordID")
            ),
            Self::Backend { ensure } => format!(
                "a backend {} on the load balancer {}",
                text(ensure, "backendAddr"),
                text(ensure, "lbInfo")
            ),
        }
    }
}

/// A load balancer's identity: what the driver answered, or else `lbSpec`.
fn identity(create: &Call, answer: &Answer) -> StringMap {
    let lb_info = answer.map("lbInfo");
    if lb_info.is_empty() {
        map(create, "lbSpec")
    } else {
        lb_info
    }
}

fn map(call: &Call, name: &str) -> StringMap {
    call.field(name)
        .and_then(|value| serde_json::from_value(value.clone()).ok())
        .unwrap_or_default()
}
