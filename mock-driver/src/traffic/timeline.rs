//! The last seconds of load balancers: what their targets have served, and how these have changed.

use super::backend::Backend;
use super::counts::Count;
use super::view::PlaneState;
use crate::resources::{ListenerProtocol, Rule};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The last seconds of a target.
#[derive(Debug, Default)]
pub(crate) struct TargetHistory {
    /// By second since 1970: the requests or connections that it has served, and the attempts that failed.
    pub(crate) seconds: BTreeMap<i64, [u64; 2]>,
    /// Seconds since 1970, and words that begin with a sign for the kind of change.
    pub(crate) changes: Vec<(i64, String)>,
}

/// The histories of a load balancer's targets by IP and port, and one of what no target has served.
pub(crate) type Timeline = BTreeMap<String, TargetHistory>;
pub(crate) const NOT_SERVED: &str = "not served";

impl PlaneState {
    /// From the second `since` on, by the ID of the load balancer.
    pub(super) fn timelines(&self, since: i64) -> BTreeMap<String, Timeline> {
        let mut timelines: BTreeMap<String, Timeline> = BTreeMap::new();
        for (key, listener) in &self.listeners {
            let Ok(running) = &listener.running else {
                continue;
            };
            let timeline = timelines.entry(key.load_balancer.clone()).or_default();
            let served = match listener.protocol {
                ListenerProtocol::Tcp => Count::Connection,
                _ => Count::Request,
            };
            let row = timeline.entry(NOT_SERVED.to_owned()).or_default();
            row.add(&running.context.counters.recent(), since, None);
            for (_, group) in running.routes.all() {
                let (backends, changes) = group.recent();
                for backend in backends {
                    let row = timeline.entry(name(&backend)).or_default();
                    row.add(&backend.counters.recent(), since, Some(served));
                }
                for (second, backend, words) in changes.into_iter().filter(|it| it.0 >= since) {
                    let row = timeline.entry(name(&backend)).or_default();
                    row.changes.push((second, words));
                }
            }
        }
        timelines
    }

    /// Address and path of a request to a plain listener that has a backend or has been used, by a rule for any domain.
    pub(super) fn destination(&self, turn: usize) -> Option<(SocketAddr, String)> {
        let plain = [ListenerProtocol::Tcp, ListenerProtocol::Http];
        let listeners = self.listeners.values();
        let listeners = listeners.filter(|it| plain.contains(&it.protocol));
        let mut all = Vec::new();
        for running in listeners.filter_map(|it| it.running.as_ref().ok()) {
            let is_used = running.context.counters.read().connections > 0;
            for (Rule { domain, url }, group) in running.routes.all() {
                let is_valid =
                    domain == Rule::ANY_DOMAIN && url.bytes().all(|it| it.is_ascii_graphic());
                if is_valid && (is_used || !group.backends().is_empty()) {
                    all.push((running.addr, url));
                }
            }
        }
        let turn = turn.checked_rem(all.len())?;
        all.into_iter().nth(turn)
    }
}

impl TargetHistory {
    fn add(&mut self, seconds: &BTreeMap<i64, [u64; 3]>, since: i64, served: Option<Count>) {
        for (second, counts) in seconds.range(since..) {
            let sum = self.seconds.entry(*second).or_default();
            sum[0] += served.map_or(0, |served| counts[served as usize]);
            sum[1] += counts[Count::Failure as usize];
        }
    }
}

fn name(backend: &Backend) -> String {
    let target = backend.target.as_ref();
    target.map_or_else(|_| backend.address.clone(), SocketAddr::to_string)
}
