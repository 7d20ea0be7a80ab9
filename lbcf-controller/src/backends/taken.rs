//! Records that cannot be created because another one has their name (d35). No I/O.

use super::plan::RecordPlan;
use crate::api::BackendRecord;
use crate::index::{Lookup, Owner, Unit, controller_of, unit_of};
use kube::ResourceExt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The creations that a plan does not contain because their names are taken.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TakenNames {
    /// By unit: the record that has the name, and why it is not the one to create.
    pub(super) units: BTreeMap<Unit, String>,
    count: usize,
}

impl TakenNames {
    /// Gives records their other name if they have one, and takes the others out of a plan. The API server
    /// would refuse them.
    pub(super) fn take_from(
        plan: &mut RecordPlan,
        find: impl Fn(&BackendRecord) -> Lookup<Arc<BackendRecord>>,
    ) -> Self {
        let mut taken = Self::default();
        let mut other_names = std::mem::take(&mut plan.other_names);
        plan.create.retain_mut(|record| {
            let mut holder = find(record);
            if is_of_other_owner(&holder, record)
                && let Some(other) = other_names.remove(&record.name_any())
            {
                record.metadata.name = Some(other);
                holder = find(record);
            }
            let Some(reason) = conflict_with(&holder) else {
                return true;
            };
            let message = format!("BackendRecord {} exists and {reason}", record.name_any());
            let unit = Unit::from(unit_of(record));
            taken.units.entry(unit).or_insert(message);
            taken.count += 1;
            false
        });
        taken
    }

    /// Describes the first conflict and the number of others; none if no name is taken.
    pub(super) fn message(&self) -> Option<String> {
        let first = self.units.values().next()?;
        Some(message(first, self.count - 1))
    }
}

/// A message about backends that are not registered because the names of their records are taken.
pub(crate) fn message(first: &str, others: usize) -> String {
    let others = match others {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    format!("a backend is not registered until the record of its name is gone: {first}{others}")
}

fn is_of_other_owner(holder: &Lookup<Arc<BackendRecord>>, record: &BackendRecord) -> bool {
    match holder {
        Lookup::Found(holder) => Owner::of(holder) != Owner::of(record),
        Lookup::Unreadable => true,
        Lookup::Missing => false,
    }
}

fn conflict_with(holder: &Lookup<Arc<BackendRecord>>) -> Option<String> {
    match holder {
        Lookup::Missing => None,
        Lookup::Unreadable => Some("cannot be parsed".to_owned()),
        Lookup::Found(holder) => Some(match controller_of(holder) {
            Some(owner) => format!("is controlled by {} {}", owner.kind, owner.name),
            None => "has neither an owner nor the labels of this one".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::BackendRecordSpec;
    use crate::api::names::LABEL_BIND;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

    fn record(name: &str) -> BackendRecord {
        let spec = BackendRecordSpec {
            static_addr: Some(format!("addr-{name}")),
            ..BackendRecordSpec::default()
        };
        let mut record = BackendRecord::new(name, spec);
        record
            .labels_mut()
            .insert(LABEL_BIND.to_owned(), "ours".to_owned());
        record
    }

    #[test]
    fn u21_a_record_gets_its_other_name_if_another_owner_has_the_first() {
        let other_names = ["theirs", "both", "ours"].map(|name| {
            let name = name.to_owned();
            (name.clone(), format!("other-{name}"))
        });
        let mut plan = RecordPlan {
            create: ["theirs", "both", "ours", "free"].map(record).to_vec(),
            other_names: other_names.into(),
            ..RecordPlan::default()
        };
        let mut theirs = record("theirs");
        let labels = theirs.labels_mut();
        labels.insert(LABEL_BIND.to_owned(), "another".to_owned());
        let taken = TakenNames::take_from(&mut plan, |record| match &*record.name_any() {
            "theirs" | "both" | "other-both" => Lookup::Found(Arc::new(theirs.clone())),
            "ours" => Lookup::Found(Arc::new(record.clone())),
            _ => Lookup::Missing,
        });
        let names = plan.create.iter().map(ResourceExt::name_any);
        assert_eq!(names.collect::<Vec<_>>(), ["other-theirs", "free"]);
        let units: Vec<_> = taken.units.keys().map(|unit| &**unit).collect();
        assert_eq!(units, ["addr-both", "addr-ours"]);
    }

    #[test]
    fn d35_a_record_whose_name_is_taken_is_not_created_but_reported() {
        let mut foreign = record("foreign");
        foreign.metadata.owner_references = Some(vec![OwnerReference {
            kind: "ConfigMap".into(),
            name: "other".into(),
            controller: Some(true),
            ..OwnerReference::default()
        }]);
        let mut plan = RecordPlan {
            create: ["free", "foreign", "orphan", "odd"].map(record).to_vec(),
            ..RecordPlan::default()
        };
        let taken = TakenNames::take_from(&mut plan, |record| match record.name_any().as_str() {
            "foreign" => Lookup::Found(Arc::new(foreign.clone())),
            "orphan" => Lookup::Found(Arc::new(record.clone())),
            "odd" => Lookup::Unreadable,
            _ => Lookup::Missing,
        });
        assert_eq!(plan.create, [record("free")]);
        let units: Vec<_> = taken.units.keys().map(|unit| &**unit).collect();
        assert_eq!(units, ["addr-foreign", "addr-odd", "addr-orphan"]);
        assert_eq!(
            taken.message().as_deref(),
            Some(
                "a backend is not registered until the record of its name is gone: BackendRecord \
                 foreign exists and is controlled by ConfigMap other, and 2 more"
            )
        );
        assert_eq!(TakenNames::default().message(), None);
    }
}
