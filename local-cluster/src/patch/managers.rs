//! The managers of an object's fields: who set what, and how.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::field_set::FieldSet;
use crate::object::{Object, at};

/// How many managers that update are remembered one by one.
const MAX_UPDATERS: usize = 10;
/// Under this name the others are remembered together.
const ANCIENT: &str = "ancient-changes";

/// Who manages fields, and how: one entry for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Manager {
    pub(super) name: String,
    /// Whether it applies; else it updates.
    pub(super) applies: bool,
    pub(super) api_version: String,
    /// Empty for the object as a whole.
    pub(super) subresource: String,
}

/// A manager's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) manager: Manager,
    /// When the manager changed anything; an apply that changed nothing leaves none.
    pub(super) time: Option<String>,
    pub(super) set: FieldSet,
    /// The entry as it was read, until something changes: most do not.
    pub(super) given: Option<Value>,
}

/// All managers of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Managers(pub(super) Vec<Entry>);

impl Manager {
    /// What tells one entry from another. Who applies is one manager in all versions.
    pub(super) fn identity(&self) -> (&str, &str, Option<&str>) {
        let version = (!self.applies).then_some(self.api_version.as_str());
        (&self.name, &self.subresource, version)
    }
}

impl Entry {
    /// The manager as messages name it.
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

    fn read(entry: &Value) -> Option<Self> {
        let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
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
            given: Some(entry.clone()),
        })
    }

    fn write(self) -> Value {
        if let Some(given) = self.given {
            return given;
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

impl Managers {
    /// The managers of an object; `None` when what it says of them makes no sense.
    pub(super) fn read(object: &Object) -> Option<Self> {
        let entries = at(object, &["metadata", "managedFields"]).and_then(Value::as_array);
        let entries: Option<Vec<Entry>> = entries.into_iter().flatten().map(Entry::read).collect();
        let mut entries = entries?;
        // Of entries of one manager the last counts.
        let mut seen = HashSet::new();
        let mut counts: Vec<bool> = entries
            .iter()
            .rev()
            .map(|entry| seen.insert(entry.manager.identity()))
            .collect();
        entries.retain(|_| counts.pop().unwrap_or_default());
        Some(Self(entries))
    }

    /// The managers that a request leaves to begin with: those that it writes itself where it may,
    /// else those there are. Writing none, or one that is empty, forgets them all.
    pub(super) fn to_begin_with(live: &Object, next: &Object, subresource: &str) -> Self {
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
                    // What clients write is written anew, in order and without anything else.
                    managers.0.iter_mut().for_each(|entry| entry.given = None);
                    managers
                }
                _ => of_live(),
            },
        }
    }

    /// Takes a manager's entry out.
    pub(super) fn take(&mut self, manager: &Manager) -> Option<Entry> {
        let index = self
            .0
            .iter()
            .position(|e| e.manager.identity() == manager.identity())?;
        Some(self.0.remove(index))
    }

    /// Takes fields from all managers; who has none left is no manager any more.
    pub(super) fn lose(&mut self, set: &FieldSet) {
        if set.is_empty() {
            return;
        }
        for entry in &mut self.0 {
            if entry.set.lose(set) {
                entry.given = None;
            }
        }
        self.0.retain(|entry| !entry.set.is_empty());
    }

    /// Merges the oldest of too many managers that update.
    pub(super) fn cap(&mut self) {
        let updates = |entry: &&Entry| !entry.manager.applies;
        let mut count = self.0.iter().filter(updates).count();
        if count <= MAX_UPDATERS {
            return;
        }
        let all = std::mem::take(&mut self.0);
        let (appliers, mut updaters): (Vec<Entry>, Vec<Entry>) =
            all.into_iter().partition(|entry| entry.manager.applies);
        updaters.sort_by(by_age);
        self.0 = appliers;
        // Where the oldest of each version is: it takes in the next ones.
        let mut oldest: HashMap<String, usize> = HashMap::new();
        for entry in updaters {
            let version = entry.manager.api_version.clone();
            let first = oldest.get(&version).copied();
            let first = first.and_then(|first| self.0.get_mut(first));
            match first {
                Some(first) if count > MAX_UPDATERS || entry.manager.name == ANCIENT => {
                    ANCIENT.clone_into(&mut first.manager.name);
                    first.manager.subresource.clear();
                    first.set = std::mem::take(&mut first.set).union(&entry.set);
                    // The younger one's.
                    first.time = entry.time;
                    first.given = None;
                    count -= 1;
                }
                _ => {
                    if first.is_none() {
                        oldest.insert(version, self.0.len());
                    }
                    self.0.push(entry);
                }
            }
        }
    }

    /// The managers as an object shows them.
    pub(super) fn write(mut self) -> Vec<Value> {
        self.0.sort_by(|a, b| {
            let (x, y) = (&a.manager, &b.manager);
            y.applies
                .cmp(&x.applies)
                .then_with(|| a.time.cmp(&b.time))
                .then_with(|| x.name.cmp(&y.name))
                .then_with(|| x.api_version.cmp(&y.api_version))
                .then_with(|| x.subresource.cmp(&y.subresource))
        });
        self.0.into_iter().map(Entry::write).collect()
    }
}

fn by_age(a: &Entry, b: &Entry) -> Ordering {
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
    fn what_makes_no_sense_is_not_taken() {
        let good = entry("m", "t", "a");
        for (key, value) in [
            ("operation", json!("Replace")),
            ("apiVersion", json!("")),
            ("fieldsType", json!("FieldsV2")),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            assert_eq!(Managers::read(&holder(json!([good, bad]))), None);
        }
        let read = Managers::read(&holder(json!([good]))).unwrap();
        assert_eq!(read.write(), [good]);
    }

    #[test]
    fn a_client_can_forget_all_managers_but_not_by_leaving_them_out() {
        let live = holder(json!([entry("m", "t", "a")]));
        let begin = |next: Value, subresource: &str| {
            Managers::to_begin_with(&live, &object(next), subresource)
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
    fn the_oldest_updates_are_remembered_together() {
        let entries: Vec<Value> = (0..12)
            .map(|n| entry(&format!("m{n:02}"), &format!("t{n:02}"), &format!("a{n}")))
            .collect();
        let mut managers = Managers::read(&holder(json!(entries))).unwrap();
        managers.cap();
        let written = managers.write();
        assert_eq!(written.len(), 10);
        assert_eq!(written[0]["manager"], "ancient-changes");
        assert_eq!(written[0]["time"], "t02");
        assert_eq!(
            written[0]["fieldsV1"],
            json!({"f:a0": {}, "f:a1": {}, "f:a2": {}})
        );
        assert_eq!(written[1]["manager"], "m03");
        // The next goes where the others are.
        let mut again = written;
        again.push(entry("m12", "t12", "a12"));
        let mut managers = Managers::read(&holder(json!(again))).unwrap();
        managers.cap();
        let written = managers.write();
        assert_eq!((written.len(), &written[0]["time"]), (10, &json!("t03")));
        assert_eq!(written[0]["fieldsV1"].as_object().unwrap().len(), 4);
    }

    #[test]
    fn of_one_managers_entries_the_last_counts() {
        let entries = json!([
            entry("m", "t", "a"),
            entry("n", "t", "a"),
            entry("m", "t", "b")
        ]);
        let managers = Managers::read(&holder(entries)).unwrap();
        assert_eq!(
            managers.write(),
            [entry("m", "t", "b"), entry("n", "t", "a")]
        );
    }

    #[test]
    fn messages_name_managers_by_what_tells_them_apart() {
        let mut one = entry("kubectl", "2026-01-01T00:00:00Z", "a");
        let shown = |entry: &Value| Entry::read(entry).unwrap().shown();
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
