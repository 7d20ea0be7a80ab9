//! A client whose view of the cluster is wrong for a while, from one of its writes on (after Sieve).

mod body;

use crate::cluster::Cluster;
use crate::kill_switch::write_target;
use axum::body::Body as ResponseBody;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use local_cluster::InProcess;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tower::Service;

/// So long a view is wrong: many times as long as the test's controllers wait to try again.
const WRONG_FOR: Duration = Duration::from_millis(300);
/// An older list is so many of the client's writes older.
const OLDER: usize = 4;

/// How a view is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staleness {
    /// Watches report nothing, and then everything in order.
    Lags,
    /// Watches report nothing, and then expire: what exists is listed, and what was meanwhile is never seen.
    SkipsToTheEnd,
    /// Watches report once more what they have reported before.
    Repeats,
    /// Watches expire, and lists are those of some writes before, as if read from a cache that trails.
    RestartsFromAnOlderList,
}

impl Staleness {
    /// What a test goes through.
    pub const ALL: [Self; 4] = [
        Self::Lags,
        Self::SkipsToTheEnd,
        Self::Repeats,
        Self::RestartsFromAnOlderList,
    ];
}

/// The view of a client. Clones are the same view.
#[derive(Debug, Clone)]
pub struct View(Arc<ViewState>);

#[derive(Debug)]
struct ViewState {
    how: Staleness,
    /// The write from which on it is wrong, by what it writes to and its number among those, from 0.
    at: Option<(String, usize)>,
    is_wrong: watch::Sender<bool>,
    writes: Mutex<Writes>,
}

#[derive(Debug, Default)]
struct Writes {
    counts: BTreeMap<String, usize>,
    /// The version of the cluster after each write, and before the first one.
    versions: Vec<u64>,
    is_reached: bool,
    /// Lists of collections that were older.
    listed: BTreeSet<String>,
}

impl View {
    /// How often the client has written to each target, events left out.
    #[must_use]
    pub fn writes(&self) -> BTreeMap<String, usize> {
        self.writes_mut().counts.clone()
    }

    /// True if the write was reached.
    #[must_use]
    pub fn was_wrong(&self) -> bool {
        self.writes_mut().is_reached
    }

    fn writes_mut(&self) -> MutexGuard<'_, Writes> {
        self.0.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a write, with which the view may begin to be wrong.
    fn count(&self, target: &str) {
        let begins = {
            let mut writes = self.writes_mut();
            let count = writes.counts.entry(target.to_owned()).or_default();
            *count += 1;
            let this = (target.to_owned(), *count - 1);
            let begins = self.0.at.as_ref() == Some(&this);
            writes.is_reached |= begins;
            begins
        };
        if begins {
            self.0.is_wrong.send_replace(true);
            let view = self.clone();
            tokio::spawn(async move {
                tokio::time::sleep(WRONG_FOR).await;
                view.0.is_wrong.send_replace(false);
            });
        }
    }

    /// The version of which a collection is listed while the view is wrong, the first time.
    fn older_version(&self, collection: &str) -> Option<u64> {
        if self.0.how != Staleness::RestartsFromAnOlderList || !*self.0.is_wrong.borrow() {
            return None;
        }
        let mut writes = self.writes_mut();
        let is_first = writes.listed.insert(collection.to_owned());
        let at = writes.versions.len().saturating_sub(1 + OLDER);
        is_first.then(|| writes.versions[at])
    }
}

/// A client of the controller's name whose view is wrong in this way from the `nth` write to a target on, such as
/// `PATCH backendrecords/status`. Without a write it never is.
pub async fn client_stale_at(
    cluster: &Cluster,
    how: Staleness,
    at: Option<(String, usize)>,
) -> (Client, View) {
    let mut inner = cluster.service().named(crate::CONTROLLER);
    let list = Request::get("/api/v1/namespaces?limit=1").body(Body::empty());
    let listed = inner.call(list.expect("a request")).await;
    let writes = Writes {
        versions: vec![version(&read(listed.expect("a response")).await.1)],
        ..Writes::default()
    };
    let view = View(Arc::new(ViewState {
        how,
        at,
        is_wrong: watch::Sender::new(false),
        writes: Mutex::new(writes),
    }));
    let answered = view.clone();
    let service =
        tower::service_fn(move |request| answer(inner.clone(), answered.clone(), request));
    (Client::new(service, "default"), view)
}

async fn answer(
    mut inner: InProcess,
    view: View,
    mut request: Request<Body>,
) -> Result<Response<ResponseBody>, Infallible> {
    let (path, query) = (request.uri().path(), request.uri().query());
    let query = query.unwrap_or_default();
    let is_watch = query.contains("watch=");
    // Single objects are read as they are.
    let is_list = request.method() == Method::GET && query.contains("limit=");
    let older = is_list.then(|| view.older_version(path)).flatten();
    if let Some(version) = older {
        let uri = format!("{path}?resourceVersion={version}&resourceVersionMatch=Exact");
        *request.uri_mut() = uri.parse().expect("a URI");
    }
    let target = write_target(&request);
    if let Some(target) = &target {
        view.count(target);
    }
    let response = inner.call(request).await?;
    assert!(
        older.is_none() || response.status().is_success(),
        "the older list is not there any more"
    );
    if is_watch && response.status().is_success() {
        let is_wrong = view.0.is_wrong.subscribe();
        return Ok(response.map(|body| body::stale(body, view.0.how, is_wrong)));
    }
    if target.is_none() {
        return Ok(response);
    }
    let (response, body) = read(response).await;
    let version = version(&body);
    if version > 0 {
        view.writes_mut().versions.push(version);
    }
    Ok(response)
}

/// A response that is received whole, and its body.
async fn read(response: Response<ResponseBody>) -> (Response<ResponseBody>, Value) {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let json = serde_json::from_slice(&body).unwrap_or_default();
    (Response::from_parts(parts, ResponseBody::from(body)), json)
}

fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.and_then(|it| it.parse().ok()).unwrap_or(0)
}
