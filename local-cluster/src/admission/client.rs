//! Calls webhooks over HTTPS.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::dialer::{Dialer, ServiceResolver};
use super::failure::cause;
use super::response::RawResponse;
use super::tls::tls_config;
use super::webhook::Webhook;

/// The maximum size of a response in bytes: that of an object, which a patch can contain.
const MAX_RESPONSE: usize = 3 * 1024 * 1024;
/// At most this many clients are kept, each for one CA bundle.
const MAX_CLIENTS: usize = 64;
/// The time that an idle connection is kept, and the number of them to one server.
const IDLE: Duration = Duration::from_secs(90);
const MAX_IDLE: usize = 16;

type HttpsClient = Client<HttpsConnector<Dialer>, Full<Bytes>>;

/// Calls webhooks over pooled connections.
#[derive(Debug)]
pub(super) struct WebhookClient {
    services: ServiceResolver,
    /// The clients, each for one CA bundle.
    clients: Mutex<HashMap<Vec<u8>, HttpsClient>>,
}

impl WebhookClient {
    pub(super) fn new(services: BTreeMap<String, String>) -> Self {
        Self {
            services: ServiceResolver::new(services),
            clients: Mutex::default(),
        }
    }

    pub(super) fn set_service(&self, service: String, address: String) {
        self.services.set(service, address);
        // Pooled connections lead to the former address.
        self.clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Posts a review. The error is the reason why there is no response.
    pub(super) async fn post(
        &self,
        webhook: &Webhook,
        review: Bytes,
        timeout: Duration,
    ) -> Result<RawResponse, String> {
        let client = self
            .client(&webhook.ca_bundle)
            .map_err(|why| format!("could not get REST client: {why}"))?;
        // `timeout` is in whole seconds, rounded up.
        let seconds = timeout.as_millis().div_ceil(1000).max(1);
        let url = format!("{}?timeout={seconds}s", webhook.url);
        let response = tokio::time::timeout(timeout, exchange(&client, &url, review)).await;
        response
            .unwrap_or_else(|_| Err("context deadline exceeded".to_owned()))
            .map_err(|why| format!("failed to call webhook: Post {url:?}: {why}"))
    }

    fn client(&self, ca_bundle: &[u8]) -> Result<HttpsClient, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(ca_bundle) {
            return Ok(client.clone());
        }
        let connector =
            HttpsConnector::from((Dialer(self.services.clone()), tls_config(ca_bundle)?));
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MAX_IDLE)
            .pool_timer(TokioTimer::new())
            .build(connector);
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(ca_bundle.to_vec(), client.clone());
        Ok(client)
    }
}

async fn exchange(client: &HttpsClient, url: &str, review: Bytes) -> Result<RawResponse, String> {
    let request = Request::builder()
        .method(Method::POST)
        .uri(url)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, */*")
        .header(USER_AGENT, "kube-apiserver-admission")
        .body(Full::new(review))
        .map_err(|e| e.to_string())?;
    let response = client.request(request).await.map_err(|e| cause(&e))?;
    let (parts, body) = response.into_parts();
    let content_type = parts.headers.get(CONTENT_TYPE);
    let body = match Limited::new(body, MAX_RESPONSE).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => {
            return Err(format!("the response is larger than {MAX_RESPONSE} bytes"));
        }
        Err(error) => return Err(cause(&*error)),
    };
    Ok(RawResponse {
        code: parts.status.as_u16(),
        content_type: content_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::webhook::webhooks_of;
    use crate::object::object;
    use crate::store::Stored;
    use serde_json::json;

    #[tokio::test]
    async fn the_timeout_is_sent_in_whole_seconds() {
        let service = json!({"name": "s", "namespace": "n"});
        let webhook = json!({"name": "a.x.y", "clientConfig": {"service": service}});
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": [webhook]});
        let webhook = webhooks_of(&Stored::new(object(configuration), 1)).remove(0);
        let client = WebhookClient::new(BTreeMap::new());
        for (millis, expected) in [(0, "1s"), (999, "1s"), (1000, "1s"), (1001, "2s")] {
            let timeout = Duration::from_millis(millis);
            let failed = client
                .post(&webhook, Bytes::new(), timeout)
                .await
                .unwrap_err();
            let url = format!("Post \"https://s.n.svc:443/?timeout={expected}\": ");
            assert!(failed.contains(&url), "{failed}");
        }
    }
}
