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

use super::answer::Reply;
use super::dialer::{Dialer, Services};
use super::failure::cause;
use super::hook::Hook;
use super::trust::tls_config;

/// What an answer may measure: as much as an object, which its patch can hold.
const MAX_ANSWER: usize = 3 * 1024 * 1024;
/// How many sets of authorities are kept clients for.
const MAX_CLIENTS: usize = 64;
/// How long an unused connection is kept, and how many of them to one server.
const IDLE: Duration = Duration::from_secs(90);
const MAX_IDLE: usize = 16;

type HttpsClient = Client<HttpsConnector<Dialer>, Full<Bytes>>;

/// Calls webhooks, and keeps connections to them.
#[derive(Debug)]
pub(super) struct Caller {
    services: Services,
    /// By the authorities that they trust.
    clients: Mutex<HashMap<Vec<u8>, HttpsClient>>,
}

impl Caller {
    pub(super) fn new(services: BTreeMap<String, String>) -> Self {
        Self {
            services: Services::new(services),
            clients: Mutex::default(),
        }
    }

    pub(super) fn set_service(&self, service: String, address: String) {
        self.services.set(service, address);
        // Kept connections lead to where the service was.
        self.clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Posts a review; the error says why there is no reply.
    pub(super) async fn post(
        &self,
        hook: &Hook,
        review: Bytes,
        timeout: Duration,
    ) -> Result<Reply, String> {
        let client = self
            .client(&hook.authorities)
            .map_err(|why| format!("could not get REST client: {why}"))?;
        // The webhook is told how long it has, in whole seconds.
        let seconds = timeout.as_millis().div_ceil(1000).max(1);
        let url = format!("{}?timeout={seconds}s", hook.url);
        let replied = tokio::time::timeout(timeout, exchange(&client, &url, review)).await;
        replied
            .unwrap_or_else(|_| Err("context deadline exceeded".to_owned()))
            .map_err(|why| format!("failed to call webhook: Post {url:?}: {why}"))
    }

    fn client(&self, authorities: &[u8]) -> Result<HttpsClient, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(authorities) {
            return Ok(client.clone());
        }
        let connector =
            HttpsConnector::from((Dialer(self.services.clone()), tls_config(authorities)?));
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MAX_IDLE)
            .pool_timer(TokioTimer::new())
            .build(connector);
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(authorities.to_vec(), client.clone());
        Ok(client)
    }
}

async fn exchange(client: &HttpsClient, url: &str, review: Bytes) -> Result<Reply, String> {
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
    let body = match Limited::new(body, MAX_ANSWER).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => {
            return Err(format!("the response is larger than {MAX_ANSWER} bytes"));
        }
        Err(error) => return Err(cause(&*error)),
    };
    Ok(Reply {
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
    use crate::admission::hook::hooks_of;
    use crate::object::object;
    use crate::store::Stored;
    use serde_json::json;

    #[tokio::test]
    async fn a_webhook_is_told_how_long_it_has_in_whole_seconds() {
        let service = json!({"name": "s", "namespace": "n"});
        let webhook = json!({"name": "a.x.y", "clientConfig": {"service": service}});
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": [webhook]});
        let hook = hooks_of(&Stored::new(object(configuration), 1)).remove(0);
        let caller = Caller::new(BTreeMap::new());
        for (millis, wanted) in [(0, "1s"), (999, "1s"), (1000, "1s"), (1001, "2s")] {
            let timeout = Duration::from_millis(millis);
            let failed = caller.post(&hook, Bytes::new(), timeout).await.unwrap_err();
            let url = format!("Post \"https://s.n.svc:443/?timeout={wanted}\": ");
            assert!(failed.contains(&url), "{failed}");
        }
    }
}
