//! Whole pods, read in pages where an owner registers many: one request instead of one for each pod.
//!
//! Units are reconciled in the order of their names, as pods are listed, so that the pages follow the batches: held are the
//! pods of a batch and the last page.

use crate::api::{BackendOwner, BackendRecord, ObjectKey};
use crate::cluster::{RawList, Writer};
use crate::index::{Index, Owner, PodView};
use crate::process::lock::Mutex;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Fewer pods are read one by one.
const FEW: usize = 16;
/// An owner that registers a smaller part of its pods reads them one by one, as all others are in the pages, too.
const PART: usize = 4;
const PAGE: u32 = 500;

#[derive(Debug, Default)]
pub(crate) struct PodPages(Mutex<HashMap<Owner, Pages>>);

#[derive(Debug)]
struct Pages {
    /// As text, which is a tenth of what it is as an object.
    pods: BTreeMap<String, Box<RawValue>>,
    /// The last name that was read.
    read_to: String,
    /// The token of the next page, which is empty for the first; none after the last.
    next: Option<String>,
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            pods: BTreeMap::new(),
            read_to: String::new(),
            next: Some(String::new()),
        }
    }
}

impl Pages {
    /// The token of a page that may have one of these pods.
    fn lacking(&self, names: &BTreeSet<String>) -> Option<String> {
        let is_read = names.last().is_none_or(|last| *last <= self.read_to);
        self.next.clone().filter(|_| !is_read)
    }

    /// Adds a page. Of those before, only these pods are held.
    fn add(&mut self, page: RawList, names: &BTreeSet<String>) {
        self.pods.retain(|name, _| names.contains(name));
        let next = page.metadata.continue_.filter(|next| !next.is_empty());
        // A server whose pages are empty would never come to an end.
        self.next = next.filter(|_| !page.items.is_empty());
        for (name, pod) in page.items {
            self.read_to.clone_from(&name);
            self.pods.insert(name, pod);
        }
    }
}

/// True if the pods that are to be registered are read in pages.
const fn is_worth_pages(wanted: usize, selected: usize, registered: usize) -> bool {
    wanted >= FEW && selected.saturating_sub(registered) * PART >= selected
}

impl PodPages {
    /// Reads pods of an owner whose records are to be created, if they are many. A page that cannot be read is none:
    /// the pods are read one by one then.
    pub(crate) async fn read(
        &self,
        cluster: &Writer,
        (owner, object): (&Owner, &dyn BackendOwner),
        (selected, registered): (usize, usize),
        names: &BTreeSet<String>,
    ) {
        let selector = object.pods().and_then(|pods| pods.by_label.as_ref());
        let Some(selector) = selector else {
            return;
        };
        let begun = self.0.lock().remove(owner);
        if begun.is_none() && !is_worth_pages(names.len(), selected, registered) {
            return;
        }
        let labels = selector
            .selector
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let labels = labels.collect::<Vec<_>>().join(",");
        let mut pages = begun.unwrap_or_default();
        while let Some(next) = pages.lacking(names) {
            let params = ListParams::default().labels(&labels).limit(PAGE);
            let params = ListParams {
                continue_token: Some(next).filter(|next| !next.is_empty()),
                ..params
            };
            match cluster
                .list_as_text::<Pod>(&owner.key().namespace, &params)
                .await
            {
                Ok(page) => pages.add(page, names),
                Err(_) => return,
            }
        }
        self.0.lock().insert(owner.clone(), pages);
    }

    /// The pod, if it was read and is still what its watch says.
    pub(crate) fn find(
        &self,
        index: &Index,
        record: &BackendRecord,
        key: &ObjectKey,
    ) -> Option<Pod> {
        let pages = self.0.lock();
        let pod = pages.get(&Owner::of(record)?)?.pods.get(&*key.name)?;
        let pod: Pod = serde_json::from_str(pod.get()).ok()?;
        let known = index.find::<PodView>(key)?;
        (*known == PodView::of(&pod)).then_some(pod)
    }

    /// Ends the reading of pages after an owner's last batch.
    pub(crate) fn remove(&self, owner: &Owner) {
        self.0.lock().remove(owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(names: &[&str], next: &str) -> RawList {
        let items: Vec<_> = names
            .iter()
            .map(|name| json!({"metadata": {"name": name}}))
            .collect();
        let list = json!({"metadata": {"continue": next}, "items": items});
        serde_json::from_str(&list.to_string()).unwrap()
    }

    #[test]
    fn pages_are_read_as_long_as_one_may_have_a_pod_and_the_last_is_held() {
        let wanted = |names: [&str; 2]| BTreeSet::from(names.map(str::to_owned));
        let held = |pages: &Pages| pages.pods.keys().cloned().collect::<Vec<_>>();
        let mut pages = Pages::default();
        let names = wanted(["a", "d"]);
        assert_eq!(pages.lacking(&names).as_deref(), Some(""));
        pages.add(page(&["a", "b"], "second"), &names);
        assert_eq!(pages.lacking(&names).as_deref(), Some("second"));
        pages.add(page(&["c", "d", "e"], "third"), &names);
        assert_eq!(held(&pages), ["a", "c", "d", "e"]);
        assert_eq!(pages.lacking(&names), None);
        // The next batch begins in the page that is held.
        let names = wanted(["e", "z"]);
        assert_eq!(pages.lacking(&names).as_deref(), Some("third"));
        pages.add(page(&["f"], ""), &names);
        assert_eq!(held(&pages), ["e", "f"]);
        assert_eq!(pages.lacking(&names), None, "z does not exist any more");
        for nothing in [page(&[], ""), page(&[], "more")] {
            let mut pages = Pages::default();
            pages.add(nothing, &names);
            assert_eq!(pages.lacking(&names), None);
        }
    }

    #[test]
    fn pods_are_read_in_pages_only_where_most_of_them_are_wanted() {
        for (wanted, selected, registered, expected) in [
            (256, 2000, 0, true),
            (256, 2000, 1500, true),
            (256, 2000, 1501, false),
            (16, 20, 4, true),
            (15, 15, 0, false),
            (20, 10, 40, false),
        ] {
            let is = is_worth_pages(wanted, selected, registered);
            assert_eq!(
                is, expected,
                "{wanted} of {selected}, {registered} registered"
            );
        }
    }
}
