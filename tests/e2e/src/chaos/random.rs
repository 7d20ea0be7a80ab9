//! The random numbers of a history, which follow from its seed.

use super::step::{HistoryStep, Name, Target, UserAction};
use crate::chaos::kind::Kind;
use crate::manifests::NAMESPACE;
use crate::seed::scrambled;

pub(super) struct Random {
    seed: u64,
    number: u64,
    pub(super) has_replicas: bool,
    /// Whether the audit removes what is left over in the cloud, so that leaving it over is no violation.
    pub(super) has_audits: bool,
    /// Whether the cluster will be restored to what it is now.
    pub(super) is_backed_up: bool,
}

impl Random {
    pub(super) const fn new(seed: u64, has_replicas: bool, has_audits: bool) -> Self {
        Self {
            seed,
            number: 0,
            has_replicas,
            has_audits,
            is_backed_up: false,
        }
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.number += 1;
        // The low bits of a small seed's first numbers are as random as the others.
        scrambled(self.seed, self.number) % limit
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64);
        choices[usize::try_from(index).unwrap_or_default()]
    }

    /// The next step that may happen now.
    pub(super) fn step(&mut self) -> HistoryStep {
        loop {
            let step = match self.below(40) {
                0..5 => HistoryStep::Settle,
                5..10 => HistoryStep::Fault(self.fault()),
                _ => HistoryStep::User(self.user_action()),
            };
            if !self.is_backed_up || self.can_be_undone(&step) {
                return step;
            }
        }
    }

    /// Whether the controllers can cope with it if the cluster forgets it.
    ///
    /// Load balancers that were deleted exist again afterwards, and no driver has them: a user has to
    /// delete them. What was deregistered or changed is only ensured again by controllers that are
    /// started for that (d56), and replicas go on through a restore.
    fn can_be_undone(&self, step: &HistoryStep) -> bool {
        let HistoryStep::User(action) = step else {
            return true;
        };
        match action {
            UserAction::Create(kind, object) if self.has_replicas => {
                // Two groups for the same pods may disagree about parameters.
                let pods = &object["spec"]["pods"];
                *kind != Kind::Group || pods.is_null()
            }
            _ if self.has_replicas => false,
            UserAction::Delete(target, _) => {
                let holds = [Kind::LoadBalancer, Kind::Bind, Kind::Namespace];
                !holds.contains(&target.kind)
            }
            UserAction::Patch(target, _) => target.kind != Kind::Bind,
            _ => true,
        }
    }
}

/// An object of the test's namespace.
pub(super) fn web(kind: Kind, name: &'static str) -> Target {
    of(NAMESPACE, kind, name)
}

/// An object of a namespace, or of the cluster if that is empty.
pub(super) fn of(namespace: &str, kind: Kind, name: &'static str) -> Target {
    Target {
        kind,
        namespace: namespace.to_owned(),
        name: Name::Known(name),
    }
}
