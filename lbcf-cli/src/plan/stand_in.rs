//! A stand-in for the drivers of a rehearsal: it asks them what changes nothing, and assumes that the rest succeeds.

use super::Call;
use crate::local_server::serve;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::routing::post;
use axum::{Json, Router};
use lbcf_driver_client::DriverClient;
use lbcf_driver_sdk::webhook::{
    ALL, Class, CreateLoadBalancer, GenerateBackendAddr, Webhook, WebhookInfo,
};
use lbcf_serving::listener::Listener;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// The limit of a request, in bytes: a controller sends whole pods.
const LONGEST: usize = 32 << 20;
/// The time that a driver has: the controller waits longer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The delay after which a driver that is not done is called again, in seconds: after the rehearsal.
const LATER: u64 = 3600;
/// The field of lbInfo that only load balancers of the rehearsal have, which drivers do not know.
const PLANNED: &str = "planned";

/// A driver that is stood in for.
pub(super) struct Driver {
    /// None for one that is not asked.
    pub(super) client: Option<DriverClient>,
    pub(super) accepts_dry_runs: bool,
    /// Its response to `healthz`.
    pub(super) healthz: Value,
}

/// The server, which ends when it is dropped.
pub(super) struct StandIn {
    pub(super) url: String,
    state: Arc<Drivers>,
    _server: JoinSet<()>,
}

struct Drivers {
    by_host: BTreeMap<String, Driver>,
    calls: Mutex<Vec<Call>>,
    /// Why drivers are not asked any more, by host.
    silent: Mutex<BTreeMap<String, String>>,
}

impl StandIn {
    /// Stands in for drivers, by the hosts of their URLs.
    pub(super) async fn start(by_host: BTreeMap<String, Driver>) -> std::io::Result<Self> {
        let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await?;
        // Other users of this machine cannot call drivers through it.
        let secret = RandomState::new().build_hasher().finish();
        let url = format!("http://{}/{secret:x}", listener.addr());
        let state = Arc::new(Drivers {
            by_host,
            calls: Mutex::default(),
            silent: Mutex::default(),
        });
        let webhooks = Router::new()
            .route(&format!("/{secret:x}/{{host}}/{{webhook}}"), post(respond))
            .layer(DefaultBodyLimit::max(LONGEST))
            .with_state(Arc::clone(&state));
        Ok(Self {
            url,
            state,
            _server: serve(listener, webhooks),
        })
    }

    /// The number of calls so far.
    pub(super) fn count(&self) -> usize {
        lock(&self.state.calls).len()
    }

    /// The calls since the last time.
    pub(super) fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut lock(&self.state.calls))
    }

    /// The assumptions behind these calls.
    pub(super) fn notes(&self, calls: &[Call]) -> Vec<String> {
        let silent = lock(&self.state.silent);
        let notes = silent.iter().map(|(host, why)| {
            format!("the driver at {host} is assumed to succeed, as it does not respond from here (--connect-to HOST=URL): {why}")
        });
        let mut notes: Vec<String> = notes.collect();
        if calls
            .iter()
            .any(|it| it.request["lbInfo"].get(PLANNED).is_some())
        {
            let note =
                "what concerns load balancers that do not exist yet is assumed, addresses too";
            notes.push(note.to_owned());
        }
        if calls.iter().any(|it| it.response["status"] == "Running") {
            notes.push(
                "what follows when a call is not Running any more is not foreseen".to_owned(),
            );
        }
        notes
    }
}

async fn respond(
    State(drivers): State<Arc<Drivers>>,
    Path((host, webhook)): Path<(String, String)>,
    body: Bytes,
) -> Json<Value> {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    // It goes on if the controller gives up.
    let responded = tokio::spawn(async move { drivers.respond(&host, webhook, request).await });
    Json(responded.await.unwrap_or_default())
}

impl Drivers {
    async fn respond(&self, host: &str, webhook: String, request: Value) -> Value {
        let driver = self.by_host.get(host);
        let Some(info) = ALL.iter().find(|it| it.name == webhook) else {
            return Value::Null;
        };
        if info.class == Class::Health {
            return driver.map_or(Value::Null, |it| it.healthz.clone());
        }
        let asked = match driver {
            Some(driver) => self.ask((host, driver), *info, &request).await,
            None => None,
        };
        let mut response = asked.unwrap_or_else(|| assumed(*info, &request));
        if response["status"] == "Running" {
            response["minRetryDelayInSeconds"] = LATER.into();
        }
        lock(&self.calls).push(Call {
            webhook,
            request,
            response: response.clone(),
        });
        response
    }

    /// The driver's own response, where there is one that says something.
    async fn ask(
        &self,
        (host, driver): (&str, &Driver),
        info: WebhookInfo,
        request: &Value,
    ) -> Option<Value> {
        let (webhook, changes) = (info.name, info.changes_load_balancer());
        let is_known = request["lbInfo"].get(PLANNED).is_none();
        if !is_known || changes && !driver.accepts_dry_runs || lock(&self.silent).contains_key(host)
        {
            return None;
        }
        let mut request = request.clone();
        if changes {
            request["dryRun"] = true.into();
        }
        let client = driver.client.as_ref()?;
        let called = client
            .raw_call_within(webhook, request.to_string(), TIMEOUT)
            .await;
        let why = match called {
            Ok(response) if response.status == 200 => {
                match serde_json::from_slice::<Value>(&response.body) {
                    // The success of a dry run has no result.
                    Ok(Value::Object(response)) => {
                        let response = Value::Object(response);
                        let says = !changes || response["status"] == "Fail";
                        return says.then_some(response);
                    }
                    _ => format!("{webhook}: the response is no JSON object"),
                }
            }
            Ok(response) => format!("{webhook}: HTTP status {}", response.status),
            Err(error) => format!("{webhook}: {error}"),
        };
        lock(&self.silent).insert(host.to_owned(), why);
        None
    }
}

/// The response of a driver that succeeds at once.
fn assumed(info: WebhookInfo, request: &Value) -> Value {
    if info.class == Class::Verdict {
        return json!({"succ": true, "doNotDeregister": []});
    }
    let mut response = json!({"status": "Succ"});
    if info == <CreateLoadBalancer>::INFO {
        response["lbInfo"] = json!({PLANNED: request["recordID"]});
    } else if info == <GenerateBackendAddr>::INFO {
        match address(request) {
            Some(address) => response["backendAddr"] = address.into(),
            None => response = json!({"status": "Running", "msg": "it has no address yet"}),
        }
    }
    response
}

/// The address at which most load balancers reach the backend: its own, or that of its node.
fn address(request: &Value) -> Option<String> {
    let number = |port: &Value| {
        port["port"]
            .as_u64()
            .or_else(|| port["portNumber"].as_u64())
    };
    let (pod, service, endpoint) = (
        &request["podBackend"],
        &request["serviceBackend"],
        &request["endpointBackend"],
    );
    let (ip, port) = if let Some(ip) = pod["pod"]["status"]["podIP"].as_str() {
        (ip, number(&pod["port"])?)
    } else if let Some(ip) = endpoint["address"].as_str() {
        (ip, number(endpoint)?)
    } else {
        let wanted = number(&service["port"])?;
        let ports = service["service"]["spec"]["ports"].as_array()?;
        let port = ports.iter().find(|it| number(it) == Some(wanted))?;
        let addresses = service["nodeAddresses"].as_array()?;
        let ip = addresses.iter().find(|it| it["type"] == "InternalIP")?;
        (ip["address"].as_str()?, port["nodePort"].as_u64()?)
    };
    match ip.contains(':') {
        true => Some(format!("[{ip}]:{port}")),
        false => Some(format!("{ip}:{port}")),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_the_backend_or_of_its_node() {
        let pod =
            json!({"podBackend": {"pod": {"status": {"podIP": "10.0.0.1"}}, "port": {"port": 80}}});
        let older = json!({"podBackend": {"pod": {"status": {"podIP": "fd00::1"}}, "port": {"portNumber": 80}}});
        let endpoint = json!({"endpointBackend": {"address": "10.0.0.2", "port": 8080}});
        let service = |port: u64| {
            json!({"serviceBackend": {
                "port": {"port": port}, "service": {"spec": {"ports": [{"port": 80, "nodePort": 30080}]}},
                "nodeAddresses": [{"type": "Hostname", "address": "a"}, {"type": "InternalIP", "address": "10.0.0.3"}],
            }})
        };
        let pending = json!({"podBackend": {"pod": {"status": {}}, "port": {"port": 80}}});
        for (request, expected) in [
            (pod, Some("10.0.0.1:80")),
            (older, Some("[fd00::1]:80")),
            (endpoint, Some("10.0.0.2:8080")),
            (service(80), Some("10.0.0.3:30080")),
            (service(81), None),
            (pending, None),
        ] {
            assert_eq!(address(&request).as_deref(), expected, "{request}");
        }
    }

    #[tokio::test]
    async fn a_driver_that_does_not_respond_is_asked_once_and_assumed_to_succeed() {
        let silent = Driver {
            // No server listens there.
            client: DriverClient::new("http://127.0.0.1:9").ok(),
            accepts_dry_runs: true,
            healthz: json!({"healthy": true}),
        };
        let stand_in = StandIn::start([("silent".to_owned(), silent)].into())
            .await
            .unwrap();
        let client = DriverClient::new(&format!("{}/silent", stand_in.url)).unwrap();
        let call = async |webhook: &str, body: Value| {
            let response = client.raw_call(webhook, body.to_string()).await.unwrap();
            serde_json::from_slice::<Value>(&response.body).unwrap()
        };
        assert_eq!(call("healthz", json!({})).await, json!({"healthy": true}));
        let created = call("createLoadBalancer", json!({"recordID": "r"})).await;
        assert_eq!(created, json!({"status": "Succ", "lbInfo": {PLANNED: "r"}}));
        assert_eq!(
            call("validateBackend", json!({})).await,
            json!({"succ": true, "doNotDeregister": []})
        );
        let calls = stand_in.take_calls();
        assert_eq!(calls.len(), 2, "healthz is no call for an object");
        let notes = stand_in.notes(&calls);
        assert_eq!(notes.len(), 1);
        assert!(
            notes[0].contains("the driver at silent") && notes[0].contains("createLoadBalancer"),
            "{notes:?}"
        );
    }
}
