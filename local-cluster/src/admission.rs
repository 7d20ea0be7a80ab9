//! Dynamic admission: webhooks that change and judge what is written.
//!
//! [`Admission::review`] says which webhooks a request is for; the writer then shows them the object
//! before ([`Review::mutate`]) and after ([`Review::validate`]) it has decided. `hook` and `installed`
//! read configurations, `matching` knows which requests a webhook wants, `question` and `answer` are
//! the two halves of an `AdmissionReview`, `patching` applies what a mutating webhook answers: all
//! pure. `caller`, with `dialer` and `trust` behind it, is what talks to servers.
//!
//! Only requests are reviewed. What the cluster's own agents write is not: they act between requests
//! and wait for nobody.

mod answer;
mod asked;
mod caller;
mod dialer;
mod failure;
mod hook;
mod installed;
mod matching;
mod patching;
mod question;
mod review;
mod trust;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub(crate) use asked::{Asked, Operation, Options};
pub(crate) use review::Review;

use caller::Caller;
use installed::Installed;

use crate::resources::Registry;
use crate::store::Store;

/// What a request may take as a whole, however many webhooks it meets.
const REQUEST_TIME: Duration = Duration::from_secs(60);

/// The webhooks of a cluster, and the means to call them.
#[derive(Debug)]
pub(crate) struct Admission {
    store: Arc<Store>,
    installed: Installed,
    caller: Caller,
}

impl Admission {
    /// `services` says where the webhooks behind services are: `name.namespace.svc` to `host:port`.
    pub(crate) fn new(store: &Arc<Store>, services: BTreeMap<String, String>) -> Self {
        Self {
            store: Arc::clone(store),
            installed: Installed::new(store),
            caller: Caller::new(services),
        }
    }

    /// Says where a service is from now on.
    pub(crate) fn set_service(&self, service: String, address: String) {
        self.caller.set_service(service, address);
    }

    /// The review of a request: by whom it is to be seen.
    pub(crate) fn review<'a>(&'a self, asked: Asked<'a>, registry: &Registry) -> Review<'a> {
        let deadline = Instant::now() + REQUEST_TIME;
        match self.installed.hooks() {
            Some(hooks) if !asked.is_exempt() => {
                let others = registry.equivalents(asked.kind);
                Review::of(self, asked, others, &hooks, deadline)
            }
            _ => Review::by_nobody(self, asked, deadline),
        }
    }
}
