//! Who may match whom: objects found by their labels, selectors found by the labels they ask for.
//!
//! Both are looked up by one label, so that a question costs what that label's bearers cost and not
//! what a namespace holds. What is found is still to be matched: an index may be a step behind.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::object::{Object, at};
use crate::selector::LabelSelector;

type Pair = (String, String);

/// Objects, named by uid, by namespace and label.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    rooms: HashMap<String, Room>,
    known: HashMap<String, (String, Vec<Pair>)>,
}

#[derive(Debug, Default)]
struct Room {
    all: BTreeSet<String>,
    by_pair: HashMap<Pair, BTreeSet<String>>,
}

impl Labelled {
    /// Takes in an object as it is now.
    pub(super) fn insert(&mut self, uid: &str, namespace: &str, object: &Object) {
        let labels = labels(object);
        if let Some((room, known)) = self.known.get(uid)
            && *room == namespace
            && *known == labels
        {
            return;
        }
        self.remove(uid);
        let room = self.rooms.entry(namespace.to_owned()).or_default();
        room.all.insert(uid.to_owned());
        for pair in &labels {
            let bearers = room.by_pair.entry(pair.clone()).or_default();
            bearers.insert(uid.to_owned());
        }
        let known = (namespace.to_owned(), labels);
        self.known.insert(uid.to_owned(), known);
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, uid: &str) {
        let Some((namespace, labels)) = self.known.remove(uid) else {
            return;
        };
        let Some(room) = self.rooms.get_mut(&namespace) else {
            return;
        };
        room.all.remove(uid);
        for pair in &labels {
            if let Some(bearers) = room.by_pair.get_mut(pair) {
                bearers.remove(uid);
                if bearers.is_empty() {
                    room.by_pair.remove(pair);
                }
            }
        }
        if room.all.is_empty() {
            self.rooms.remove(&namespace);
        }
    }

    /// Objects among which are all that a selector matches.
    pub(super) fn candidates(&self, namespace: &str, selector: &LabelSelector) -> Vec<String> {
        let Some(room) = self.rooms.get(namespace) else {
            return Vec::new();
        };
        let none = BTreeSet::new();
        let bearers = |(key, value): (&str, &str)| {
            let pair = (key.to_owned(), value.to_owned());
            room.by_pair.get(&pair).unwrap_or(&none)
        };
        let fewest = selector.pairs().map(bearers).min_by_key(|set| set.len());
        fewest.unwrap_or(&room.all).iter().cloned().collect()
    }
}

/// Selectors by namespace and a label that they ask for; each belongs to the object with a uid.
#[derive(Debug, Default)]
pub(super) struct Selections {
    by_pair: HashMap<(String, Pair), BTreeSet<String>>,
    /// Those that ask for no label by its value.
    others: HashMap<String, BTreeSet<String>>,
    known: HashMap<String, Selection>,
}

#[derive(Debug)]
struct Selection {
    namespace: String,
    pair: Option<Pair>,
    selector: LabelSelector,
}

impl Selections {
    /// Takes in a selector in place of what its owner had before.
    pub(super) fn insert(&mut self, uid: &str, namespace: &str, selector: LabelSelector) {
        if let Some(known) = self.known.get(uid)
            && known.selector == selector
            && known.namespace == namespace
        {
            return;
        }
        self.remove(uid);
        // Of several labels the one that the fewest others ask for.
        let pair = selector
            .pairs()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .min_by_key(|pair| {
                let key = (namespace.to_owned(), pair.clone());
                self.by_pair.get(&key).map_or(0, BTreeSet::len)
            });
        let set = match &pair {
            Some(pair) => {
                let key = (namespace.to_owned(), pair.clone());
                self.by_pair.entry(key).or_default()
            }
            None => self.others.entry(namespace.to_owned()).or_default(),
        };
        set.insert(uid.to_owned());
        let selection = Selection {
            namespace: namespace.to_owned(),
            pair,
            selector,
        };
        self.known.insert(uid.to_owned(), selection);
    }

    /// Forgets the selector of an object.
    pub(super) fn remove(&mut self, uid: &str) {
        let Some(known) = self.known.remove(uid) else {
            return;
        };
        match known.pair {
            Some(pair) => {
                let key = (known.namespace, pair);
                if let Some(set) = self.by_pair.get_mut(&key) {
                    set.remove(uid);
                    if set.is_empty() {
                        self.by_pair.remove(&key);
                    }
                }
            }
            None => {
                if let Some(set) = self.others.get_mut(&known.namespace) {
                    set.remove(uid);
                    if set.is_empty() {
                        self.others.remove(&known.namespace);
                    }
                }
            }
        }
    }

    /// Whose selectors match an object.
    pub(super) fn matching(&self, namespace: &str, object: &Object) -> Vec<String> {
        let asked = labels(object)
            .into_iter()
            .filter_map(|pair| self.by_pair.get(&(namespace.to_owned(), pair)));
        asked
            .chain(self.others.get(namespace))
            .flatten()
            .filter(|uid| {
                let known = self.known.get(*uid);
                known.is_some_and(|known| known.selector.matches(object))
            })
            .cloned()
            .collect()
    }
}

fn labels(object: &Object) -> Vec<Pair> {
    at(object, &["metadata", "labels"])
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn labelled(labels: Value) -> Object {
        object(json!({"metadata": {"labels": labels}}))
    }

    fn selector(text: &str) -> LabelSelector {
        LabelSelector::parse(text).unwrap()
    }

    #[test]
    fn objects_are_found_by_their_rarest_label() {
        let mut index = Labelled::default();
        for (uid, namespace, labels) in [
            ("a", "d", json!({"app": "web", "tier": "gold"})),
            ("b", "d", json!({"app": "web"})),
            ("c", "d", json!({})),
            ("e", "other", json!({"app": "web"})),
        ] {
            index.insert(uid, namespace, &labelled(labels));
        }
        let found = |index: &Labelled, text: &str| index.candidates("d", &selector(text));
        assert_eq!(found(&index, "app=web"), ["a", "b"]);
        assert_eq!(found(&index, "app=web,tier=gold"), ["a"]);
        assert_eq!(found(&index, "app=db"), [""; 0]);
        assert_eq!(found(&index, "!app"), ["a", "b", "c"]);
        index.insert("a", "d", &labelled(json!({"app": "db"})));
        index.remove("b");
        assert_eq!(found(&index, "app=db"), ["a"]);
        assert_eq!(found(&index, "app=web"), [""; 0]);
        index.remove("a");
        index.remove("c");
        index.remove("e");
        assert!(index.rooms.is_empty() && index.known.is_empty());
    }

    #[test]
    fn selectors_are_found_by_what_they_ask_for() {
        let mut index = Selections::default();
        index.insert("s", "d", selector("app=web"));
        index.insert("t", "d", selector("app=web,tier=gold"));
        index.insert("u", "d", selector("!old"));
        index.insert("v", "other", selector("app=web"));
        let web = labelled(json!({"app": "web"}));
        let found = |index: &Selections, object: &Object| {
            let mut found = index.matching("d", object);
            found.sort();
            found
        };
        assert_eq!(found(&index, &web), ["s", "u"]);
        let gold = labelled(json!({"app": "web", "tier": "gold", "old": ""}));
        assert_eq!(found(&index, &gold), ["s", "t"]);
        index.insert("s", "d", selector("app=db"));
        assert_eq!(found(&index, &web), ["u"]);
        for uid in ["s", "t", "u", "v"] {
            index.remove(uid);
        }
        assert!(index.by_pair.is_empty() && index.others.is_empty() && index.known.is_empty());
    }
}
