//! Managed fields: decoding and encoding of `managedFields`.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Value, json};

use super::field_set::FieldSet;
use crate::object::{Object, at, managers, string};

/// The key of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Manager {
    pub(super) name: String,
    /// The operation is `Apply` instead of `Update`.
    pub(super) applies: bool,
    pub(super) api_version: String,
    /// Empty for the object itself.
    pub(super) subresource: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ManagedFieldsEntry {
    pub(super) manager: Manager,
    /// The time of the last change; none after an apply without changes.
    pub(super) time: Option<String>,
    pub(super) set: FieldSet,
    /// The encoded entry, until something changes: most do not.
    pub(super) encoded: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ManagedFields(pub(super) Vec<ManagedFieldsEntry>);

impl Manager {
    /// Identifies an entry: appliers have one for all versions.
    pub(super) fn identity(&self) -> (&str, &str, Option<&str>) {
        let version = (!self.applies).then_some(self.api_version.as_str());
        (&self.name, &self.subresource, version)
    }

    /// The order of conflicts, which a cluster sorts by its identifiers of entries.
    pub(super) fn order(&self) -> (&str, bool, &str, bool, &str) {
        let (is_whole, subresource) = (self.subresource.is_empty(), &self.subresource);
        (
            &self.name,
            !self.applies,
            &self.api_version,
            is_whole,
            subresource,
        )
    }
}

impl ManagedFieldsEntry {
    /// The manager in messages about conflicts.
    pub(super) fn shown(&self) -> String {
        let mut shown = Value::from(self.manager.name.as_str()).to_string();
        if !self.manager.subresource.is_empty() {
            let subresource = Value::from(self.manager.subresource.as_str());
            shown = format!("{shown} with subresource {subresource}");
        }
        if !self.manager.applies {
            shown = format!("{shown} using {}", self.manager.api_version);
        }
        shown
    }

    fn owns(&self, fields: &FieldSet) -> bool {
        !self.set.intersection(fields).is_empty()
    }

    fn read(entry: &Value) -> Option<Self> {
        let word = |key: &str| string(entry, key);
        let applies = match word("operation") {
            "Apply" => true,
            "Update" => false,
            _ => return None,
        };
        if word("apiVersion").is_empty() || word("fieldsType") != "FieldsV1" {
            return None;
        }
        let set = entry.get("fieldsV1").and_then(Value::as_object);
        Some(Self {
            manager: Manager {
                name: word("manager").to_owned(),
                applies,
                api_version: word("apiVersion").to_owned(),
                subresource: word("subresource").to_owned(),
            },
            time: Some(word("time").to_owned()).filter(|time| !time.is_empty()),
            set: set.map(FieldSet::from_json).unwrap_or_default(),
            encoded: Some(entry.clone()),
        })
    }

    fn write(self) -> Value {
        if let Some(encoded) = self.encoded {
            return encoded;
        }
        let manager = &self.manager;
        let mut entry = json!({
            "apiVersion": manager.api_version, "fieldsType": "FieldsV1",
            "fieldsV1": self.set.to_json(),
            "operation": if manager.applies { "Apply" } else { "Update" },
        });
        for (key, value) in [
            ("manager", &manager.name),
            ("subresource", &manager.subresource),
            ("time", self.time.as_ref().unwrap_or(&String::new())),
        ] {
            if !value.is_empty() {
                entry[key] = Value::from(value.as_str());
            }
        }
        entry
    }
}

impl ManagedFields {
    /// Decodes the entries of an object; `None` if any is invalid.
    pub(super) fn read(object: &Object) -> Option<Self> {
        let entries = managers(object).iter().map(ManagedFieldsEntry::read);
        let mut entries: Vec<ManagedFieldsEntry> = entries.collect::<Option<_>>()?;
        // Of several entries of one manager, the last counts.
        let mut seen = HashSet::new();
        let mut counts: Vec<bool> = entries
            .iter()
            .rev()
            .map(|entry| seen.insert(entry.manager.identity()))
            .collect();
        entries.retain(|_| counts.pop().unwrap_or_default());
        Some(Self(entries))
    }

    /// The entries before a request: those of its own object if it may write them, otherwise the
    /// live ones. An empty list, or one empty entry, resets them.
    pub(super) fn before_request(live: &Object, next: &Object, subresource: &str) -> Self {
        let of_live = || Self::read(live).unwrap_or_default();
        if !subresource.is_empty() {
            return of_live();
        }
        match at(next, &["metadata", "managedFields"]) {
            Some(Value::Array(list)) if list.is_empty() => Self::default(),
            Some(Value::Array(list)) if list.len() == 1 && list[0] == json!({}) => Self::default(),
            given if given == at(live, &["metadata", "managedFields"]) => of_live(),
            _ => match Self::read(next) {
                Some(mut managers) if !managers.0.is_empty() => {
                    // Entries of clients are encoded again, which normalises them.
                    managers.0.iter_mut().for_each(|entry| entry.encoded = None);
                    managers
                }
                _ => of_live(),
            },
        }
    }

    /// The entries of an object's scale: those with its replicas.
    pub(super) fn of_scale(&self, replicas: &FieldSet) -> Self {
        let owners = self.0.iter().filter(|entry| entry.owns(replicas));
        let of_scale = owners.map(|entry| ManagedFieldsEntry {
            set: replicas.clone(),
            encoded: None,
            ..entry.clone()
        });
        Self(of_scale.collect())
    }

    /// The entries after a write of the scale, whose entries are in the version of scales: only those of
    /// applies are found again, and others are added without a time.
    pub(super) fn with_scale(mut self, scale: &Self, replicas: &FieldSet) -> Self {
        let is_kept = |entry: &ManagedFieldsEntry, of: &Self| {
            let mut others = of.0.iter().filter(|other| other.owns(replicas));
            entry.manager.applies && others.any(|other| other.manager == entry.manager)
        };
        let added = scale
            .0
            .iter()
            .filter(|one| one.owns(replicas) && !is_kept(one, &self));
        let mut added: Vec<ManagedFieldsEntry> = added.cloned().collect();
        for entry in &mut added {
            (entry.time, entry.set, entry.encoded) = (None, replicas.clone(), None);
        }
        for entry in self
            .0
            .iter_mut()
            .filter(|one| one.owns(replicas) && !is_kept(one, scale))
        {
            entry.set = entry.set.difference(replicas);
            entry.encoded = None;
        }
        self.0.retain(|entry| !entry.set.is_empty());
        self.0.extend(added);
        self
    }

    /// Removes the entry of a manager.
    pub(super) fn take(&mut self, manager: &Manager) -> Option<ManagedFieldsEntry> {
        let index = self
            .0
            .iter()
            .position(|e| e.manager.identity() == manager.identity())?;
        Some(self.0.remove(index))
    }

    /// Removes fields from all entries, and drops empty entries.
    pub(super) fn remove(&mut self, set: &FieldSet) {
        if set.is_empty() {
            return;
        }
        for entry in &mut self.0 {
            let left = entry.set.difference(set);
            if left != entry.set {
                entry.set = left;
                entry.encoded = None;
            }
        }
        self.0.retain(|entry| !entry.set.is_empty());
    }

    /// Encodes the entries in their canonical order.
    pub(super) fn write(mut self) -> Vec<Value> {
        self.0.sort_by(|a, b| {
            let appliers_first = b.manager.applies.cmp(&a.manager.applies);
            appliers_first.then_with(|| by_age(a, b))
        });
        self.0.into_iter().map(ManagedFieldsEntry::write).collect()
    }
}

fn by_age(a: &ManagedFieldsEntry, b: &ManagedFieldsEntry) -> Ordering {
    let (x, y) = (&a.manager, &b.manager);
    a.time
        .cmp(&b.time)
        .then_with(|| x.name.cmp(&y.name))
        .then_with(|| x.api_version.cmp(&y.api_version))
        .then_with(|| x.subresource.cmp(&y.subresource))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn entry(name: &str, time: &str, field: &str) -> Value {
        json!({"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": name, "operation": "Update",
               "time": time, "fieldsV1": {format!("f:{field}"): {}}})
    }

    fn holder(entries: Value) -> Object {
        object(json!({"metadata": {"managedFields": entries}}))
    }

    #[test]
    fn invalid_entries_are_refused() {
        let good = entry("m", "t", "a");
        for (key, value) in [
            ("operation", json!("Replace")),
            ("apiVersion", json!("")),
            ("fieldsType", json!("FieldsV2")),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            assert_eq!(ManagedFields::read(&holder(json!([good, bad]))), None);
        }
        let read = ManagedFields::read(&holder(json!([good]))).unwrap();
        assert_eq!(read.write(), [good]);
    }

    #[test]
    fn an_empty_list_resets_managers_and_a_missing_one_does_not() {
        let live = holder(json!([entry("m", "t", "a")]));
        let begin = |next: Value, subresource: &str| {
            ManagedFields::before_request(&live, &object(next), subresource)
                .0
                .len()
        };
        assert_eq!(begin(json!({"metadata": {}}), ""), 1);
        assert_eq!(begin(json!({"metadata": {"managedFields": []}}), ""), 0);
        assert_eq!(begin(json!({"metadata": {"managedFields": [{}]}}), ""), 0);
        assert_eq!(
            begin(json!({"metadata": {"managedFields": []}}), "status"),
            1
        );
        let junk = json!({"metadata": {"managedFields": [{"manager": "x"}]}});
        assert_eq!(begin(junk, ""), 1);
    }

    #[test]
    fn the_last_entry_of_a_manager_counts() {
        let entries = json!([
            entry("m", "t", "a"),
            entry("n", "t", "a"),
            entry("m", "t", "b")
        ]);
        let managers = ManagedFields::read(&holder(entries)).unwrap();
        assert_eq!(
            managers.write(),
            [entry("m", "t", "b"), entry("n", "t", "a")]
        );
    }

    #[test]
    fn messages_identify_managers() {
        let mut one = entry("kubectl", "2026-01-01T00:00:00Z", "a");
        let shown = |entry: &Value| ManagedFieldsEntry::read(entry).unwrap().shown();
        assert_eq!(shown(&one), "\"kubectl\" using v1");
        one["subresource"] = json!("status");
        assert_eq!(
            shown(&one),
            "\"kubectl\" with subresource \"status\" using v1"
        );
        one["operation"] = json!("Apply");
        assert_eq!(shown(&one), "\"kubectl\" with subresource \"status\"");
    }
}
