//! Dynamic admission: mutating and validating webhooks.
//!
//! [`Admission::review`] selects the webhooks of a request; the writer then calls the mutating ones
//! before ([`Review::mutate`]) and the validating ones after ([`Review::validate`]) the rules have decided.
//! `webhook` reads configurations and matches requests, `request` and `response` are the two halves of an
//! `AdmissionReview`: all without I/O. `client`, with `tls`, does the I/O.
//!
//! Only requests are reviewed, not the writes of the cluster's own controllers.

mod client;
mod request;
mod response;
mod review;
mod tls;
mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::client::WebhookClient;
pub(crate) use self::request::{Attributes, Operation, Options};
use self::review::Calls;
pub(crate) use self::review::Review;
use self::webhook::WebhookConfigurations;
use crate::resources::Registry;
use crate::store::Store;

/// The webhooks of a cluster, and the client that calls them.
#[derive(Debug)]
pub(crate) struct Admission {
    store: Arc<Store>,
    configurations: WebhookConfigurations,
    client: WebhookClient,
}

impl Admission {
    /// `services` maps `name.namespace.svc` to `host:port`.
    pub(crate) fn new(store: &Arc<Store>, services: BTreeMap<String, String>) -> Self {
        Self {
            store: Arc::clone(store),
            configurations: WebhookConfigurations::new(store),
            client: WebhookClient::new(services),
        }
    }

    pub(crate) fn set_service(&self, service: String, address: String) {
        self.client.set_service(service, address);
    }

    /// The review of a request by the webhooks whose rules match it.
    pub(crate) fn review<'a>(
        &'a self,
        attributes: Attributes<'a>,
        registry: &Registry,
    ) -> Review<'a> {
        let calls = Calls {
            store: &self.store,
            client: &self.client,
        };
        let webhooks = self.configurations.webhooks();
        let (webhooks, others) = match webhooks.filter(|_| !attributes.is_exempt()) {
            Some(webhooks) => (webhooks, registry.equivalents(attributes.kind)),
            None => Default::default(),
        };
        Review::of(calls, attributes, others, &webhooks)
    }
}
