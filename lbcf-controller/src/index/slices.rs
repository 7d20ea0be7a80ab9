//! EndpointSlices, reduced to what reconciling needs.
//!
//! Only the slices that name a Service are of interest, and of an endpoint what decides about its
//! registration or is sent to a driver. Texts that the endpoints of a slice share are kept once.

mod parse;

pub(crate) use parse::SliceParts;

use super::store::Versioned;
use super::{MultiMap, Store};
use crate::api::{AddressFamily, ObjectKey};
use crate::index::request::Unit;
use lbcf_driver_sdk::webhook::Protocol;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SliceView {
    pub key: ObjectKey,
    pub version: u64,
    /// The Service that its label names. Of a slice without one nothing else is kept.
    pub service: Option<ObjectKey>,
    pub family: AddressFamily,
    pub ports: Vec<SlicePort>,
    /// In the order of their addresses.
    pub endpoints: Vec<Endpoint>,
    /// The malformed parts, by field. The rest of the slice counts.
    pub problems: Vec<String>,
    /// True if a malformed field leaves unknown which endpoints the slice has.
    pub is_unknown: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlicePort {
    pub name: String,
    /// None stands for all ports.
    pub port: Option<i32>,
    pub protocol: Protocol,
    pub app_protocol: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The first of its addresses, which are interchangeable. It is the unit of an
    /// owner's backends.
    pub address: Unit,
    pub conditions: EndpointConditions,
    pub pod: Option<PodTarget>,
    pub node_name: Option<Arc<str>>,
    pub zone: Option<Arc<str>>,
    pub hostname: Option<Arc<str>>,
    /// The zones of its hints.
    pub for_zones: Box<[Arc<str>]>,
}

/// The pod that an endpoint stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodTarget {
    pub name: Arc<str>,
    pub uid: Arc<str>,
}

/// Conditions as they are stored; None is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EndpointConditions {
    pub ready: Option<bool>,
    pub serving: Option<bool>,
    pub terminating: Option<bool>,
}

impl EndpointConditions {
    /// True if it accepts traffic; unknown counts as ready.
    pub(crate) fn is_ready(self) -> bool {
        self.ready.unwrap_or(true)
    }

    /// True if it is ready apart from terminating; unknown is what `ready` says.
    pub(crate) fn is_serving(self) -> bool {
        self.serving.unwrap_or_else(|| self.is_ready())
    }

    /// True if it is going away; unknown counts as no.
    pub(crate) fn is_terminating(self) -> bool {
        self.terminating.unwrap_or(false)
    }
}

impl Endpoint {
    /// True if it is for one of these zones.
    pub(crate) fn is_for_zone(&self, zones: &[String]) -> bool {
        let is_selected = |zone: &Arc<str>| zones.iter().any(|selected| **selected == **zone);
        if self.for_zones.is_empty() {
            self.zone.as_ref().is_some_and(is_selected)
        } else {
            self.for_zones.iter().any(is_selected)
        }
    }
}

impl SliceView {
    /// The endpoints with an address.
    pub(crate) fn at(&self, address: &str) -> &[Endpoint] {
        let begin = self.endpoints.partition_point(|it| *it.address < *address);
        let rest = &self.endpoints[begin..];
        let length = rest.partition_point(|it| *it.address == *address);
        &rest[..length]
    }

    /// The addresses at which another state of the slice differs, and whether one of its backends
    /// may have to be deregistered there.
    pub(super) fn changes(old: Option<&Self>, new: Option<&Self>) -> Vec<(Unit, bool)> {
        let is_other = match (old, new) {
            (Some(old), Some(new)) => old.ports != new.ports || old.family != new.family,
            _ => true,
        };
        let [mut old, mut new] = [endpoints_of(old), endpoints_of(new)];
        let mut changed = Vec::new();
        // Both are in the order of addresses.
        while let Some(address) = first_of(old, new) {
            let (was, is) = (take_at(&mut old, &address), take_at(&mut new, &address));
            if is_other || was != is {
                let stays =
                    |it: &Endpoint| it.conditions.is_ready() && !it.conditions.is_terminating();
                let is_gone = !was.is_empty() && (is.is_empty() || is_other);
                let may_deregister = is_gone || !is.iter().all(stays);
                changed.push((address, may_deregister));
            }
        }
        changed
    }
}

fn endpoints_of(slice: Option<&SliceView>) -> &[Endpoint] {
    slice.map_or(&[], |slice| &slice.endpoints)
}

fn first_of(a: &[Endpoint], b: &[Endpoint]) -> Option<Unit> {
    let firsts = [a.first(), b.first()].into_iter().flatten();
    firsts.map(|it| &it.address).min().cloned()
}

/// Takes the endpoints with this address, which are the first if there are any.
fn take_at<'a>(endpoints: &mut &'a [Endpoint], address: &str) -> &'a [Endpoint] {
    let length = endpoints.partition_point(|it| *it.address == *address);
    let (taken, rest) = endpoints.split_at(length);
    *endpoints = rest;
    taken
}

impl Versioned for SliceView {
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }
}

/// The slices, and those of each Service.
#[derive(Debug, Default)]
pub(super) struct Slices {
    pub(super) store: Store<SliceView>,
    pub(super) of_service: MultiMap<ObjectKey, ObjectKey>,
}

#[cfg(test)]
mod tests;
