//! Which webhooks there are at the moment.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use super::hook::{Hook, hooks_of};
use crate::store::{Resource, Store};

/// All webhooks, in the order in which they are asked: by configuration, then as they stand in it.
#[derive(Debug)]
pub(super) struct Hooks {
    pub(super) mutating: Vec<Arc<Hook>>,
    pub(super) validating: Vec<Arc<Hook>>,
}

/// The webhooks of the stored configurations. They are read again only after one was written.
#[derive(Debug)]
pub(super) struct Installed {
    store: Arc<Store>,
    read: RwLock<Read>,
}

#[derive(Debug)]
struct Read {
    heads: [watch::Receiver<u64>; 2],
    /// `None` when there is no configuration.
    hooks: Option<Arc<Hooks>>,
}

fn resources() -> [Resource; 2] {
    ["mutating", "validating"].map(|which| {
        let plural = format!("{which}webhookconfigurations");
        Resource::new("admissionregistration.k8s.io", &plural)
    })
}

impl Installed {
    pub(super) fn new(store: &Arc<Store>) -> Self {
        let mut heads = resources().map(|resource| store.head_of(&resource));
        // There may be some from before a restart.
        heads.iter_mut().for_each(watch::Receiver::mark_changed);
        Self {
            store: Arc::clone(store),
            read: RwLock::new(Read { heads, hooks: None }),
        }
    }

    /// The webhooks, or `None` when there are none: the usual case, which costs two comparisons.
    pub(super) fn hooks(&self) -> Option<Arc<Hooks>> {
        {
            let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
            let written = |head: &watch::Receiver<u64>| head.has_changed().unwrap_or(false);
            if !read.heads.iter().any(written) {
                return read.hooks.clone();
            }
        }
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        for head in &mut read.heads {
            // Marked as seen before reading: a write in between is seen the next time.
            head.mark_unchanged();
        }
        let [mutating, validating] = resources().map(|resource| {
            let (configurations, _) = self.store.list(&resource, None);
            let hooks = configurations.iter().flat_map(|c| hooks_of(c));
            hooks.map(Arc::new).collect::<Vec<_>>()
        });
        let any = !mutating.is_empty() || !validating.is_empty();
        read.hooks = any.then(|| {
            Arc::new(Hooks {
                mutating,
                validating,
            })
        });
        read.hooks.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Object, object};
    use serde_json::json;

    fn configuration(name: &str, hooks: &[&str]) -> Object {
        let webhooks: Vec<_> = hooks
            .iter()
            .map(|name| json!({"name": name, "clientConfig": {"url": "https://h"}}))
            .collect();
        object(json!({"metadata": {"name": name}, "webhooks": webhooks}))
    }

    #[test]
    fn configurations_count_as_soon_as_they_are_stored() {
        let store = Store::new(10);
        let installed = Installed::new(&store);
        assert!(installed.hooks().is_none());
        let [mutating, validating] = resources();
        let names = || -> Vec<String> {
            let hooks = installed.hooks().unwrap();
            hooks.mutating.iter().map(|h| h.name.clone()).collect()
        };
        store
            .insert(&mutating, configuration("b", &["b2.x.y", "b1.x.y"]), false)
            .unwrap();
        assert_eq!(names(), ["b2.x.y", "b1.x.y"]);
        let a = store
            .insert(&mutating, configuration("a", &["a.x.y"]), false)
            .unwrap();
        assert_eq!(names(), ["a.x.y", "b2.x.y", "b1.x.y"]);
        store.remove(&mutating, &a, Object::new()).unwrap();
        assert_eq!(names(), ["b2.x.y", "b1.x.y"]);
        store
            .insert(&validating, configuration("v", &["v.x.y"]), false)
            .unwrap();
        assert_eq!(installed.hooks().unwrap().validating.len(), 1);
        assert!(Arc::ptr_eq(
            &installed.hooks().unwrap(),
            &installed.hooks().unwrap()
        ));
    }
}
