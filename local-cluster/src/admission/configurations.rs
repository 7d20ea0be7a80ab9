//! The webhooks of the stored configurations.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use super::webhook::{Webhook, webhooks_of};
use crate::store::{Resource, Store};

/// All webhooks in the order in which they are called: by the configuration's name, then as listed in it.
#[derive(Debug)]
pub(super) struct Webhooks {
    pub(super) mutating: Vec<Arc<Webhook>>,
    pub(super) validating: Vec<Arc<Webhook>>,
}

/// Caches the webhooks until a configuration is written.
#[derive(Debug)]
pub(super) struct WebhookConfigurations {
    store: Arc<Store>,
    read: RwLock<CachedWebhooks>,
}

#[derive(Debug)]
struct CachedWebhooks {
    heads: [watch::Receiver<u64>; 2],
    /// `None` when there is no configuration.
    webhooks: Option<Arc<Webhooks>>,
}

fn resources() -> [Resource; 2] {
    ["mutating", "validating"].map(|which| {
        let plural = format!("{which}webhookconfigurations");
        Resource::new("admissionregistration.k8s.io", &plural)
    })
}

impl WebhookConfigurations {
    pub(super) fn new(store: &Arc<Store>) -> Self {
        let mut heads = resources().map(|resource| store.head_of(&resource));
        // Configurations may exist from before a restart.
        heads.iter_mut().for_each(watch::Receiver::mark_changed);
        Self {
            store: Arc::clone(store),
            read: RwLock::new(CachedWebhooks {
                heads,
                webhooks: None,
            }),
        }
    }

    /// The webhooks, or `None` if there are none, which costs two comparisons.
    pub(super) fn webhooks(&self) -> Option<Arc<Webhooks>> {
        {
            let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
            let written = |head: &watch::Receiver<u64>| head.has_changed().unwrap_or(false);
            if !read.heads.iter().any(written) {
                return read.webhooks.clone();
            }
        }
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        for head in &mut read.heads {
            // Marked before reading, so that a concurrent write is read the next time.
            head.mark_unchanged();
        }
        let [mutating, validating] = resources().map(|resource| {
            let (configurations, _) = self.store.list(&resource, None);
            let webhooks = configurations.iter().flat_map(|c| webhooks_of(c));
            webhooks.map(Arc::new).collect::<Vec<_>>()
        });
        let any = !mutating.is_empty() || !validating.is_empty();
        read.webhooks = any.then(|| {
            Arc::new(Webhooks {
                mutating,
                validating,
            })
        });
        read.webhooks.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Object, object};
    use serde_json::json;

    fn configuration(name: &str, webhooks: &[&str]) -> Object {
        let webhooks: Vec<_> = webhooks
            .iter()
            .map(|name| json!({"name": name, "clientConfig": {"url": "https://h"}}))
            .collect();
        object(json!({"metadata": {"name": name}, "webhooks": webhooks}))
    }

    #[test]
    fn configurations_are_effective_as_soon_as_they_are_stored() {
        let store = Store::new(10);
        let configurations = WebhookConfigurations::new(&store);
        assert!(configurations.webhooks().is_none());
        let [mutating, validating] = resources();
        let names = || -> Vec<String> {
            let webhooks = configurations.webhooks().unwrap();
            webhooks.mutating.iter().map(|h| h.name.clone()).collect()
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
        assert_eq!(configurations.webhooks().unwrap().validating.len(), 1);
        assert!(Arc::ptr_eq(
            &configurations.webhooks().unwrap(),
            &configurations.webhooks().unwrap()
        ));
    }
}
