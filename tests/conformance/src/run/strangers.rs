//! Detects others who create and delete load balancers in the same cloud, because then the number of load balancers
//! says nothing about the driver.

use crate::observer::Observation;
use lbcf_driver_sdk::webhook::StringMap;

#[derive(Debug, Default)]
pub(crate) struct Strangers {
    /// The load balancers that a response named: the kit's own.
    named: Vec<StringMap>,
    /// The others in the last observation.
    unnamed: Vec<StringMap>,
    were_seen: bool,
    /// True while one check runs at a time: others may delete what they have not got a response about.
    is_alone: bool,
}

impl Strangers {
    /// Begins a phase of the run.
    pub(crate) fn begin(&mut self, is_alone: bool) {
        self.is_alone = is_alone;
        self.unnamed.clear();
    }

    /// Notes that the kit deletes what it has no name of.
    pub(super) fn delete_unnamed(&mut self) {
        self.unnamed.clear();
    }

    /// Notes the identity in a response to `createLoadBalancer`.
    pub(super) fn name(&mut self, lb_info: &StringMap) {
        if !self.named.contains(lb_info) {
            self.named.push(lb_info.clone());
        }
    }

    /// True if no response named it. An observer may show more of it than a response.
    pub(crate) fn is_unnamed(&self, lb_info: &StringMap) -> bool {
        let is_in = |(key, value): (&String, &String)| lb_info.get(key) == Some(value);
        !self.named.iter().any(|own| own.iter().all(is_in))
    }

    /// Notes what is in the cloud. What a driver creates by mistake stays, so that an unnamed load balancer that is gone
    /// again was a stranger's.
    pub(crate) fn note(&mut self, seen: &Observation) {
        if !self.is_alone {
            return;
        }
        let unnamed = std::mem::take(&mut self.unnamed);
        self.were_seen |= unnamed
            .iter()
            .any(|it| seen.load_balancer(it).is_none() && self.is_unnamed(it));
        let all = seen.load_balancers.iter().map(|it| &it.lb_info);
        self.unnamed = all.filter(|it| self.is_unnamed(it)).cloned().collect();
    }

    pub(crate) const fn were_seen(&self) -> bool {
        self.were_seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(ids: &[&str]) -> Observation {
        let all = ids
            .iter()
            .map(|id| json!({"lbInfo": {"lbID": id, "more": "x"}}));
        let all: Vec<_> = all.collect();
        serde_json::from_value(json!({"loadBalancers": all})).unwrap()
    }

    #[test]
    fn only_an_unnamed_load_balancer_that_is_gone_again_shows_a_stranger() {
        let mut strangers = Strangers::default();
        strangers.begin(false);
        strangers.note(&seen(&["of another check"]));
        strangers.begin(true);
        let own = StringMap::from([("lbID".to_owned(), "own".to_owned())]);
        // Seen before its creation was answered.
        strangers.note(&seen(&["own", "leaked"]));
        strangers.name(&own);
        strangers.note(&seen(&["leaked"]));
        assert!(!strangers.were_seen() && !strangers.is_unnamed(&own));
        strangers.delete_unnamed();
        strangers.note(&seen(&[]));
        assert!(!strangers.were_seen());
        strangers.note(&seen(&["a stranger's"]));
        strangers.note(&seen(&[]));
        assert!(strangers.were_seen());
    }
}
