//! The Secret that keeps the certificates for all replicas.
//!
//! Every replica may write it. A write names the `resourceVersion` that its decision was made on, so
//! of two writes at a time one is a conflict, and that replica reads again.

use super::certificates::{Bundle, PrivatePem};
use crate::api::ObjectKey;
use crate::process::api_server::{ApiError, ApiServer};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::Resource as _;
use kube::api::ObjectMeta;

const TYPE: &str = "kubernetes.io/tls";
const SERVER: &str = "tls.crt";
const SERVER_KEY: &str = "tls.key";
const CAS: &str = "ca.crt";
const CA_KEY: &str = "ca.key";

pub(super) struct SecretStore {
    api: ApiServer,
    pub(super) key: ObjectKey,
    resource: String,
}

impl SecretStore {
    pub(super) fn new(api: ApiServer, key: ObjectKey) -> Self {
        let resource = Secret::url_path(&(), Some(&key.namespace));
        Self { api, key, resource }
    }

    pub(super) async fn read(&self) -> Result<Option<Secret>, ApiError> {
        self.api.get(&self.resource, &self.key.name).await
    }

    /// Replaces what was read; [`ApiError::Stale`] where it has changed since.
    pub(super) async fn write(
        &self,
        over: Option<Secret>,
        bundle: &Bundle,
    ) -> Result<Secret, ApiError> {
        match over {
            Some(mut secret) => {
                // A Secret's type cannot change, and other keys are not the controller's.
                secret.data.get_or_insert_default().extend(data(bundle));
                self.api
                    .replace(&self.resource, &self.key.name, &secret)
                    .await
            }
            None => {
                let secret = Secret {
                    metadata: ObjectMeta {
                        namespace: Some(self.key.namespace.to_string()),
                        name: Some(self.key.name.to_string()),
                        ..ObjectMeta::default()
                    },
                    type_: Some(TYPE.into()),
                    data: Some(data(bundle).into()),
                    ..Secret::default()
                };
                self.api.create(&self.resource, &secret).await
            }
        }
    }
}

/// `None` for a Secret without certificates and keys.
pub(super) fn bundle_of(secret: &Secret) -> Option<Bundle> {
    let data = secret.data.as_ref()?;
    let part = |key: &str| {
        data.get(key)
            .map(|value| value.0.clone())
            .unwrap_or_default()
    };
    let bundle = Bundle {
        cas: part(CAS),
        ca_key: PrivatePem(part(CA_KEY)),
        server: part(SERVER),
        server_key: PrivatePem(part(SERVER_KEY)),
    };
    // A Secret of this type has `tls.crt` and `tls.key`, which are empty in one that is created to be filled.
    (bundle != Bundle::default()).then_some(bundle)
}

fn data(bundle: &Bundle) -> [(String, ByteString); 4] {
    [
        (SERVER, &bundle.server),
        (SERVER_KEY, &bundle.server_key.0),
        (CAS, &bundle.cas),
        (CA_KEY, &bundle.ca_key.0),
    ]
    .map(|(key, value)| (key.to_owned(), ByteString(value.clone())))
}
