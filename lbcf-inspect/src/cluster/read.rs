//! Reads the objects that a user may see, and notes those that it may not.

use super::{Cluster, Object, Unseen};
use crate::object::{KINDS, Kind, KindInfo};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use lbcf_controller::ObjectKey;
use lbcf_controller::names::SYSTEM_NAMESPACE;

/// Objects of one request.
const PAGE: u32 = 500;
/// Events that are read: the status of a Service has no place for what they say.
const EVENTS: &str = "involvedObject.kind=Service,type=Warning";

/// The namespaces that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// This one, and what all share in `kube-system`.
    Namespace(String),
    /// All of them.
    All,
}

/// The cluster cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[error("reading {what}: {source}")]
pub struct ReadError {
    what: String,
    source: Box<kube::Error>,
}

impl Cluster {
    /// Reads all that answers may depend on. Each kind is listed at most twice, in pages, and nothing is watched.
    ///
    /// # Errors
    /// [`ReadError`], unless the API server only does not permit it, which [`Cluster::unseen`] notes.
    pub async fn read(client: &Client, scope: &Scope) -> Result<Self, ReadError> {
        let mut cluster = Self {
            now: jiff::Timestamp::now(),
            ..Self::default()
        };
        for info in KINDS {
            for namespace in namespaces(info, scope) {
                cluster.list(client, info, namespace).await?;
            }
        }
        Ok(cluster)
    }

    pub(crate) async fn list(
        &mut self,
        client: &Client,
        info: &KindInfo,
        namespace: &str,
    ) -> Result<(), ReadError> {
        let kind = GroupVersionKind::gvk(info.group, info.version, info.name);
        let resource = ApiResource::from_gvk_with_plural(&kind, info.plural);
        let (api, what) = match namespace {
            "" => (
                Api::all_with(client.clone(), &resource),
                info.plural.to_owned(),
            ),
            _ => (
                Api::namespaced_with(client.clone(), namespace, &resource),
                format!("{} in namespace {namespace}", info.plural),
            ),
        };
        let params = match info.kind {
            Kind::Event => ListParams::default().fields(EVENTS),
            _ => ListParams::default(),
        };
        let listed = match pages(&api, params.limit(PAGE)).await {
            Ok(listed) => listed,
            // Not permitted, or a kind that the cluster does not have.
            Err(kube::Error::Api(status)) if [403, 404].contains(&status.code) => {
                let why = status.message.clone();
                self.unseen.push(Unseen { what, why });
                return Ok(());
            }
            Err(source) => {
                let source = Box::new(source);
                return Err(ReadError { what, source });
            }
        };
        self.seen.push((info.kind, namespace.to_owned()));
        let objects = self.objects.entry(info.kind).or_default();
        objects.extend(
            listed
                .into_iter()
                .map(|DynamicObject { metadata, data, .. }| {
                    let text = |text: &Option<String>| text.clone().unwrap_or_default();
                    let key = ObjectKey::new(text(&metadata.namespace), text(&metadata.name));
                    (key, Object { metadata, data })
                }),
        );
        Ok(())
    }
}

fn namespaces<'a>(info: &KindInfo, scope: &'a Scope) -> Vec<&'a str> {
    match scope {
        Scope::Namespace(_) if info.kind == Kind::Lease => vec![SYSTEM_NAMESPACE],
        Scope::Namespace(own) if info.is_shared && own != SYSTEM_NAMESPACE => {
            vec![own, SYSTEM_NAMESPACE]
        }
        Scope::Namespace(own) if info.kind != Kind::Node => vec![own],
        _ => vec![""],
    }
}

async fn pages(
    api: &Api<DynamicObject>,
    mut params: ListParams,
) -> kube::Result<Vec<DynamicObject>> {
    let mut items = Vec::new();
    loop {
        let page = api.list(&params).await?;
        items.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token),
            None => return Ok(items),
        }
    }
}
