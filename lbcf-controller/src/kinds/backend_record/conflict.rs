//! Records of different owners that register one address with different parameters: whose apply,
//! and what the records report about it. No I/O, no clock.

use crate::api::names::FINALIZER_BACKEND_RECORD;
use crate::api::{
    BackendRecord, Condition, ConditionStatus, Conditions, ObjectExt, ObjectKey, StringMap,
    condition_types, reasons,
};
use crate::index::{Neighbour, Owner};
use std::collections::BTreeSet;

/// The number of parameters that a message names.
const NAMED_PARAMETERS: usize = 5;

/// The meaning of the neighbours of a record for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sharing {
    /// All have its parameters, or there are none.
    Agreed,
    /// Nothing changes for now: the record is being deleted, or only records that are being deleted
    /// disagree. They leave the address registered as long as this record is, so it is ensured
    /// again only when they are gone: an error before would let them deregister it.
    Leaving,
    Conflict(Conflict),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conflict {
    /// True if the record's own parameters are those of the address.
    applies: bool,
    /// The other record, and its owner.
    other: ObjectKey,
    other_owner: Option<Owner>,
    /// The parameters that differ. Their values are not reported, because the other record may be
    /// in a namespace that users of this one cannot read.
    parameters: String,
}

/// The parameters that an address has: those of the record that takes precedence.
pub(super) fn effective_parameters<'a>(
    record: &'a BackendRecord,
    neighbours: &'a [Neighbour],
) -> &'a StringMap {
    &preceding(neighbours).unwrap_or(record).spec.parameters
}

fn preceding(neighbours: &[Neighbour]) -> Option<&BackendRecord> {
    let mut staying = neighbours.iter().filter(|it| !it.record.is_deleting());
    let first = staying.find(|neighbour| neighbour.takes_precedence)?;
    Some(&*first.record)
}

pub(super) fn sharing(record: &BackendRecord, neighbours: &[Neighbour]) -> Sharing {
    if record.is_deleting() {
        return Sharing::Leaving;
    }
    let parameters = &record.spec.parameters;
    // The records of one owner differ only while it updates them.
    let disagrees = |other: &&BackendRecord| {
        other.spec.parameters != *parameters && Owner::of(other) != Owner::of(record)
    };
    let others = || neighbours.iter().map(|neighbour| &*neighbour.record);
    let applies = *effective_parameters(record, neighbours) == *parameters;
    let mut staying = others().filter(|other| !other.is_deleting());
    let other = match preceding(neighbours).filter(disagrees) {
        Some(overriding) if !applies => Some(overriding),
        _ => staying.find(disagrees),
    };
    match other {
        Some(other) => Sharing::Conflict(Conflict {
            applies,
            other: ObjectKey::of(other),
            other_owner: Owner::of(other),
            parameters: differing(parameters, &other.spec.parameters),
        }),
        None if others()
            .filter(disagrees)
            .any(|other| other.has_finalizer(FINALIZER_BACKEND_RECORD)) =>
        {
            Sharing::Leaving
        }
        None => Sharing::Agreed,
    }
}

/// The names of the parameters that two maps do not have in common.
fn differing(one: &StringMap, other: &StringMap) -> String {
    let names: BTreeSet<&str> = one.keys().chain(other.keys()).map(String::as_str).collect();
    let differing = names
        .into_iter()
        .filter(|&name| one.get(name) != other.get(name));
    let mut differing: Vec<&str> = differing.collect();
    if differing.len() > NAMED_PARAMETERS {
        differing.truncate(NAMED_PARAMETERS);
        differing.push("…");
    }
    differing.join(", ")
}

impl Conflict {
    pub(super) fn condition(&self, generation: Option<i64>) -> Condition {
        let reason = if self.applies {
            reasons::PARAMETERS_APPLY
        } else {
            reasons::PARAMETERS_OVERRIDDEN
        };
        let type_ = condition_types::PARAMETERS_CONFLICT;
        Condition::unmet(type_, reason, self.message(), generation)
            .with_status(ConditionStatus::True)
    }

    fn message(&self) -> String {
        let (other, parameters) = (&self.other, &self.parameters);
        let owner = self.other_owner.as_ref().map(Owner::request_key);
        let owner = owner.map(|owner| format!(" of {owner}"));
        let owner = owner.unwrap_or_default();
        let result = self.result();
        format!(
            "BackendRecord {other}{owner} registers the same address with other parameters ({parameters}), which {result}"
        )
    }

    /// The message about the record's owner; none if the other record has no owner. It is the
    /// same for all records that the two owners disagree about.
    pub(super) fn message_of_owner(&self, lb_name: &str) -> Option<String> {
        let other = self.other_owner.as_ref()?.request_key();
        let (parameters, result) = (&self.parameters, self.result());
        Some(format!(
            "{other} registers the same addresses at load balancer {lb_name} with other parameters ({parameters}), which {result}"
        ))
    }

    const fn result(&self) -> &'static str {
        if self.applies {
            "do not apply: those of the oldest owner do"
        } else {
            "apply instead: those of the oldest owner do"
        }
    }
}

/// The condition of a conflict that is stored and has not been resolved.
fn stored(conditions: &[Condition]) -> Option<&Condition> {
    let condition = conditions.find(condition_types::PARAMETERS_CONFLICT);
    condition.filter(|condition| condition.status == ConditionStatus::True)
}

/// True if a registered record is to be ensured again. The stored condition proves that other
/// parameters may be in the cloud, whatever process stored it; it is resolved by the ensuring.
pub(super) fn needs_ensure(conditions: &[Condition], sharing: &Sharing) -> bool {
    let stored = stored(conditions);
    match sharing {
        Sharing::Leaving => false,
        Sharing::Agreed => stored.is_some(),
        // What was registered before the conflict was known is not known either.
        Sharing::Conflict(conflict) => {
            conflict.applies && stored.is_none_or(|it| it.reason != reasons::PARAMETERS_APPLY)
        }
    }
}

/// The condition to store with the record's next status.
pub(super) fn condition(
    record: &BackendRecord,
    conditions: &[Condition],
    sharing: &Sharing,
    is_ensured: bool,
) -> Option<Condition> {
    let generation = record.metadata.generation;
    match sharing {
        Sharing::Conflict(conflict) => Some(conflict.condition(generation)),
        Sharing::Agreed if is_ensured => stored(conditions).map(|_| {
            Condition::unmet(
                condition_types::PARAMETERS_CONFLICT,
                reasons::RESOLVED,
                "no other record registers the address with other parameters",
                generation,
            )
        }),
        Sharing::Agreed | Sharing::Leaving => None,
    }
}

#[cfg(test)]
mod tests;
