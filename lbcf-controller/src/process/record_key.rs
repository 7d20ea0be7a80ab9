//! The key with which the controller signs the BackendRecords that it creates.
//!
//! A user that may create records in a namespace could otherwise have any backend of any load balancer registered
//! and deregistered. The signature covers what identifies the backend and is there from the record's creation; the key is in a
//! Secret in the controller's namespace, which tenants cannot read.

use super::api_server::{ApiError, ApiServer};
use super::backoff::{Backoff, jitter};
use crate::api::{BackendRecord, ObjectKey, names};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;
use kube::{Client, Resource as _, ResourceExt as _};
use ring::hmac;
use std::collections::BTreeMap;
use std::time::Duration;

/// In the Secret's data.
const KEY: &str = "key";
const LENGTH: usize = 32;
const RETRY: Backoff = Backoff {
    min: Duration::from_secs(1),
    step: Duration::from_secs(1),
    max: Duration::from_secs(30),
};

pub(crate) struct RecordKey {
    key: hmac::Key,
    since: Timestamp,
}

#[derive(Debug, thiserror::Error)]
enum KeyError {
    #[error("{0}")]
    Api(#[from] ApiError),
    #[error(
        "its data has no {KEY} of at least {LENGTH} bytes: delete it, and the controller creates another one"
    )]
    Invalid,
    #[error("the system gives no random numbers")]
    Random,
}

impl RecordKey {
    /// Reads the key, and creates it if there is none, until that succeeds. A dry run creates none.
    pub(crate) async fn load(client: &Client, secret: &ObjectKey, dry_run: bool) -> Self {
        let api = ApiServer(client.clone());
        let mut failures = 0;
        loop {
            let error = match load(&api, secret, dry_run).await {
                Ok(key) => return key,
                // Another replica created it.
                Err(KeyError::Api(ApiError::Stale)) => continue,
                Err(error) => error,
            };
            failures += 1;
            let wait = RETRY.after(failures, jitter());
            let error = super::text::in_full(&error);
            tracing::error!(%secret, error, again_in = ?wait, "cannot read the key that signs BackendRecords (the permissions that the controller needs are in deploy/controller/rbac.yaml)");
            tokio::time::sleep(wait).await;
        }
    }

    fn of(secret: &Secret) -> Option<Self> {
        let key = &secret.data.as_ref()?.get(KEY)?.0;
        let since = secret.creation_timestamp()?.0;
        (key.len() >= LENGTH).then(|| Self::new(key, since))
    }

    fn new(key: &[u8], since: Timestamp) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        Self { key, since }
    }

    /// Signs a record that is to be created, and its backend's address if that is known.
    pub(crate) fn sign(&self, record: &mut BackendRecord, address: Option<&str>) {
        let signature = self.signature(&identity(record));
        // Signed apart, so that earlier versions, which do not know of it, take the record for their own.
        let address = address.map(|address| {
            let signature = self.signature(&address_identity(record, address));
            format!("{address} {signature}")
        });
        let annotations = record.annotations_mut();
        annotations.insert(names::ANNOTATION_SIGNATURE.to_owned(), signature);
        let address = address.map(|address| (names::ANNOTATION_ADDRESS.to_owned(), address));
        annotations.extend(address);
    }

    fn signature(&self, identity: &[u8]) -> String {
        BASE64_STANDARD_NO_PAD.encode(hmac::sign(&self.key, identity))
    }

    fn is_signed(&self, identity: &[u8], signature: &str) -> bool {
        let signature = BASE64_STANDARD_NO_PAD.decode(signature);
        signature.is_ok_and(|it| hmac::verify(&self.key, identity, &it).is_ok())
    }

    /// True for a record that a controller created. Those of the original controller and of earlier versions are older
    /// than the key and have no signature; they count if an address was stored, as only then there is something to undo.
    pub(crate) fn is_own(&self, record: &BackendRecord) -> bool {
        let Some(signature) = record.annotations().get(names::ANNOTATION_SIGNATURE) else {
            let created = record.creation_timestamp();
            let status = record.status.as_ref();
            // A user could have added the annotation to a record that was never registered.
            return record.created_with().is_none()
                && created.is_some_and(|created| created.0 <= self.since)
                && status.is_some_and(|status| !status.backend_addr.is_empty());
        };
        self.is_signed(&identity(record), signature)
            && record.created_with().is_none_or(|(address, signature)| {
                self.is_signed(&address_identity(record, address), signature)
            })
    }
}

async fn load(api: &ApiServer, key: &ObjectKey, dry_run: bool) -> Result<RecordKey, KeyError> {
    let resource = Secret::url_path(&(), Some(&key.namespace));
    if let Some(secret) = api.get(&resource, &key.name).await? {
        return RecordKey::of(&secret).ok_or(KeyError::Invalid);
    }
    let mut random = [0; LENGTH];
    let system = ring::rand::SystemRandom::new();
    ring::rand::SecureRandom::fill(&system, &mut random).map_err(|_| KeyError::Random)?;
    if dry_run {
        return Ok(RecordKey::new(&random, Timestamp::now()));
    }
    let secret = Secret {
        metadata: ObjectMeta {
            namespace: Some(key.namespace.to_string()),
            name: Some(key.name.to_string()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([(
            KEY.to_owned(),
            ByteString(random.into()),
        )])),
        ..Secret::default()
    };
    let created = api.create(&resource, &secret).await?;
    RecordKey::of(&created).ok_or(KeyError::Invalid)
}

/// The fields of a record that cannot change. Signatures that are stored depend on its form.
fn identity(record: &BackendRecord) -> Vec<u8> {
    let spec = &record.spec;
    let identity = (
        (&record.metadata.namespace, &record.metadata.name),
        (&spec.lb_driver, &spec.lb_name, &spec.lb_info),
        (&spec.pod_backend, &spec.service_backend),
        (&spec.endpoint_backend, &spec.static_addr),
    );
    // Structs, strings and maps of strings can always be written.
    serde_json::to_vec(&identity).unwrap_or_default()
}

fn address_identity(record: &BackendRecord, address: &str) -> Vec<u8> {
    [identity(record).as_slice(), address.as_bytes()].concat()
}

#[cfg(test)]
mod tests;
