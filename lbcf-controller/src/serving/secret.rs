//! The Secret that keeps the certificates, for all replicas and their successors.
//!
//! Every replica may write it. A write names the version that its decision was made on, so of two
//! that write at a time one is told to look again, and finds what the other made.

use super::api_server::{ApiError, ApiServer};
use super::certificates::{Bundle, PrivatePem};
use crate::key::ObjectKey;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::Resource as _;
use kube::api::ObjectMeta;
use std::collections::BTreeMap;
use std::fmt;

/// What Kubernetes calls a Secret with a certificate and its key.
const TYPE: &str = "kubernetes.io/tls";
const SERVER: &str = "tls.crt";
const SERVER_KEY: &str = "tls.key";
const CAS: &str = "ca.crt";
const CA_KEY: &str = "ca.key";

/// The Secret.
#[derive(Debug)]
pub(super) struct SecretStore {
    api: ApiServer,
    key: ObjectKey,
    resource: String,
}

/// The Secret as it was read.
#[derive(Clone)]
pub(super) struct Stored(Option<Secret>);

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metadata = self.0.as_ref().map(|secret| &secret.metadata);
        f.debug_tuple("Stored").field(&metadata).finish()
    }
}

impl SecretStore {
    pub(super) fn new(api: ApiServer, key: ObjectKey) -> Self {
        let resource = Secret::url_path(&(), Some(&key.namespace));
        Self { api, key, resource }
    }

    /// Which Secret it is.
    pub(super) const fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub(super) async fn read(&self) -> Result<Stored, ApiError> {
        self.api
            .get(&self.resource, &self.key.name)
            .await
            .map(Stored)
    }

    /// Writes a bundle over what was read; [`ApiError::Stale`] where that is no longer there.
    pub(super) async fn write(&self, over: Stored, bundle: &Bundle) -> Result<Stored, ApiError> {
        let written = match over.0 {
            Some(mut secret) => {
                // A Secret's type cannot change, and what else is in it is not ours.
                secret.data.get_or_insert_default().extend(data(bundle));
                self.api
                    .replace(&self.resource, &self.key.name, &secret)
                    .await
            }
            None => {
                let secret = Secret {
                    metadata: ObjectMeta {
                        namespace: Some(self.key.namespace.clone()),
                        name: Some(self.key.name.clone()),
                        ..ObjectMeta::default()
                    },
                    type_: Some(TYPE.into()),
                    data: Some(data(bundle).into()),
                    ..Secret::default()
                };
                self.api.create(&self.resource, &secret).await
            }
        };
        written.map(|secret| Stored(Some(secret)))
    }
}

impl Stored {
    /// What is in it; `None` where there is no Secret, or one without anything that matters.
    pub(super) fn bundle(&self) -> Option<Bundle> {
        let data = self.0.as_ref()?.data.as_ref()?;
        let part = |key: &str| present(data, key).unwrap_or_default();
        [SERVER, SERVER_KEY, CAS, CA_KEY]
            .iter()
            .any(|key| present(data, key).is_some())
            .then(|| Bundle {
                cas: part(CAS),
                ca_key: present(data, CA_KEY).map(PrivatePem),
                server: part(SERVER),
                server_key: PrivatePem(part(SERVER_KEY)),
            })
    }
}

/// A Secret of this type has to have some keys, so that one made to be filled has empty ones.
fn present(data: &BTreeMap<String, ByteString>, key: &str) -> Option<Vec<u8>> {
    let value = &data.get(key)?.0;
    (!value.is_empty()).then(|| value.clone())
}

fn data(bundle: &Bundle) -> [(String, ByteString); 4] {
    let ca_key = bundle.ca_key.clone().unwrap_or_default();
    [
        (SERVER, &bundle.server),
        (SERVER_KEY, &bundle.server_key.0),
        (CAS, &bundle.cas),
        (CA_KEY, &ca_key.0),
    ]
    .map(|(key, value)| (key.to_owned(), ByteString(value.clone())))
}
