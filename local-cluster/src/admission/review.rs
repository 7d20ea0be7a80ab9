//! The review of one request by admission webhooks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use tokio::time::Instant;

use super::client::WebhookClient;
use super::request::{Attributes, Operation, ReviewedObjects, admission_review};
use super::response::{self, WebhookFailure, WebhookPatch, WebhookResponse, patched};
use super::webhook::{Webhook, Webhooks, matching_kind, selects_namespace, selects_object};
use crate::object::{Object, text};
use crate::resources::Kind;
use crate::rules::{FieldValidation, clean_metadata, decode};
use crate::status::ApiError;
use crate::store::{Resource, Store, Stored};
use crate::warnings::note;

/// The time limit for all webhooks of a request together.
const REQUEST_TIME: Duration = Duration::from_secs(60);
/// At most this many validating webhooks are called concurrently.
const AT_ONCE: usize = 32;

/// The objects that webhooks concern, and the client that calls them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls<'a> {
    pub(super) store: &'a Store,
    pub(super) client: &'a WebhookClient,
}

#[derive(Debug)]
pub(crate) struct Review<'a> {
    calls: Calls<'a>,
    attributes: Attributes<'a>,
    /// The other kinds of the same objects.
    equivalents: Vec<Arc<Kind>>,
    /// The webhooks whose rules match the request.
    mutating: Vec<Arc<Webhook>>,
    validating: Vec<Arc<Webhook>>,
    deadline: Instant,
    warnings: Vec<String>,
}

impl<'a> Review<'a> {
    pub(super) fn of(
        calls: Calls<'a>,
        attributes: Attributes<'a>,
        equivalents: Vec<Arc<Kind>>,
        webhooks: &Webhooks,
    ) -> Self {
        let covering = |webhooks: &[Arc<Webhook>]| -> Vec<Arc<Webhook>> {
            let covers = |webhook: &&Arc<Webhook>| {
                matching_kind(webhook, &attributes, &equivalents).is_some()
            };
            webhooks.iter().filter(covers).cloned().collect()
        };
        Self {
            mutating: covering(&webhooks.mutating),
            validating: covering(&webhooks.validating),
            calls,
            attributes,
            equivalents,
            deadline: Instant::now() + REQUEST_TIME,
            warnings: Vec::new(),
        }
    }

    pub(crate) fn mutates(&self) -> bool {
        !self.mutating.is_empty()
    }

    pub(crate) fn validates(&self) -> bool {
        !self.validating.is_empty()
    }

    /// Adds warnings, which the client receives with the response or the error.
    pub(crate) fn warn(&mut self, warnings: Vec<String>) {
        note(&mut self.warnings, warnings);
    }

    pub(crate) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    fn with_warnings(&mut self, error: ApiError) -> ApiError {
        error.with_warnings(std::mem::take(&mut self.warnings))
    }

    /// Calls the mutating webhooks for a create or an update; objects are in presented form.
    pub(crate) async fn mutate(
        &mut self,
        object: Object,
        before: Option<&Stored>,
    ) -> Result<Object, ApiError> {
        let mutated = self.mutated(Some(object), before).await?;
        Ok(mutated.unwrap_or_default())
    }

    /// Calls all webhooks for a delete.
    pub(crate) async fn delete(&mut self, object: &Stored) -> Result<(), ApiError> {
        self.mutated(None, Some(object)).await?;
        self.validate(None, Some(object)).await
    }

    /// Calls the mutating webhooks one after the other.
    async fn mutated(
        &mut self,
        mut object: Option<Object>,
        before: Option<&Stored>,
    ) -> Result<Option<Object>, ApiError> {
        // Webhooks with reinvocation policy `IfNeeded`, and those after which the object has changed.
        let (mut called, mut again) = (Vec::new(), Vec::new());
        for webhook in self.mutating.clone() {
            if !self.selects(&webhook, object.as_ref(), before) {
                continue;
            }
            if self.call_mutating(&webhook, &mut object, before).await? {
                again.append(&mut called);
            }
            if webhook.reinvocation {
                called.push(webhook);
            }
        }
        // Reinvoked once only: two webhooks that undo each other's changes would never end.
        for webhook in again {
            if self.selects(&webhook, object.as_ref(), before) {
                self.call_mutating(&webhook, &mut object, before).await?;
            }
        }
        Ok(object)
    }

    /// Calls one mutating webhook and applies its patch. Returns whether the object has changed.
    async fn call_mutating(
        &mut self,
        webhook: &Webhook,
        object: &mut Option<Object>,
        before: Option<&Stored>,
    ) -> Result<bool, ApiError> {
        let response = self.call(webhook, object.as_ref(), before, true).await;
        let changed = self
            .take_patch(webhook, response)
            .and_then(|patch| match patch {
                Some(patch) => self.apply(webhook, object.as_ref(), &patch),
                None => Ok(None),
            });
        match changed {
            Ok(Some(changed)) if object.as_ref() != Some(&changed) => {
                *object = Some(changed);
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(failure) => match self.resolve(webhook, failure) {
                Ok(()) => Ok(false),
                Err(error) => Err(self.with_warnings(error)),
            },
        }
    }

    /// Calls the validating webhooks concurrently; the object is in presented form.
    pub(crate) async fn validate(
        &mut self,
        object: Option<&Object>,
        before: Option<&Stored>,
    ) -> Result<(), ApiError> {
        let webhooks: Vec<Arc<Webhook>> = self
            .validating
            .iter()
            .filter(|webhook| self.selects(webhook, object, before))
            .cloned()
            .collect();
        let mut calls = Vec::new();
        for webhook in &webhooks {
            calls.push(self.call(webhook, object, before, false));
        }
        let responses = futures::stream::iter(calls).buffered(AT_ONCE);
        let responses: Vec<_> = responses.collect().await;
        let mut rejected = None;
        for (webhook, response) in webhooks.iter().zip(responses) {
            let result = self.take_patch(webhook, response);
            let result = result.or_else(|failure| self.resolve(webhook, failure).map(|()| None));
            // The client receives the first error, and the warnings of all webhooks.
            rejected = rejected.or(result.err());
        }
        match rejected {
            Some(error) => Err(self.with_warnings(error)),
            None => Ok(()),
        }
    }

    fn selects(&self, webhook: &Webhook, object: Option<&Object>, before: Option<&Stored>) -> bool {
        if !selects_object(webhook, object, before.map(|stored| &stored.object)) {
            return false;
        }
        let namespace = self.attributes.reviewed_namespace();
        if webhook.namespaces.is_empty()
            || !(self.attributes.kind.namespaced || self.attributes.is_namespace())
        {
            return true;
        }
        // The labels of a namespace that is being written are not stored yet.
        if self.attributes.is_namespace() && self.attributes.operation != Operation::Delete {
            return selects_namespace(webhook, object);
        }
        let namespaces = Resource::new("", "namespaces");
        let namespace = self.calls.store.get(&namespaces, "", namespace);
        selects_namespace(webhook, namespace.as_deref().map(|stored| &stored.object))
    }

    async fn call(
        &self,
        webhook: &Webhook,
        object: Option<&Object>,
        before: Option<&Stored>,
        mutating: bool,
    ) -> Result<WebhookResponse, WebhookFailure> {
        let objects = ReviewedObjects {
            kind: self.kind_for(webhook),
            object: object.map(|object| self.presented(webhook, object)),
            before: before.map(|stored| self.kind_for(webhook).present(stored)),
        };
        let uid = uuid::Uuid::new_v4().to_string();
        let review = Bytes::from(admission_review(&uid, &self.attributes, objects).to_string());
        let left = self.deadline.saturating_duration_since(Instant::now());
        let timeout = webhook.timeout.min(left);
        let response = self.calls.client.post(webhook, review, timeout).await;
        let response = response.and_then(|raw| response::read(&raw, &uid, mutating));
        let error = response.as_ref().err();
        tracing::debug!(webhook = webhook.name, error, "called a webhook");
        response.map_err(WebhookFailure::CallFailed)
    }

    /// Takes the warnings and the patch of a response.
    fn take_patch(
        &mut self,
        webhook: &Webhook,
        response: Result<WebhookResponse, WebhookFailure>,
    ) -> Result<Option<WebhookPatch>, WebhookFailure> {
        let response = response?;
        self.warn(response.warnings);
        response
            .verdict
            .map_err(|denial| WebhookFailure::Rejected(ApiError::denied(&webhook.name, denial)))
    }

    /// The object after a webhook's patch; `None` if the patch is empty.
    fn apply(
        &self,
        webhook: &Webhook,
        object: Option<&Object>,
        patch: &WebhookPatch,
    ) -> Result<Option<Object>, WebhookFailure> {
        let rejected = |why: &str| WebhookFailure::Rejected(ApiError::internal_because(why));
        let given = object.map(|object| self.presented(webhook, object));
        let changed = match patched(given.unwrap_or_default(), patch) {
            Ok(None) => return Ok(None),
            Ok(Some(_)) | Err(WebhookFailure::Rejected(_)) if object.is_none() => {
                return Err(rejected(&format!(
                    "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                    webhook.name
                )));
            }
            Ok(Some(changed)) => changed,
            Err(failure) => return Err(failure),
        };
        let sent = self.kind_for(webhook);
        let type_of = |key| text(&changed, &[key]).unwrap_or_default();
        if type_of("kind") != sent.kind || type_of("apiVersion") != sent.api_version() {
            return Err(rejected(&format!(
                "admission webhook {:?} turned a {} of {} into a {:?} of {:?}",
                webhook.name,
                sent.kind,
                sent.api_version(),
                type_of("kind"),
                type_of("apiVersion"),
            )));
        }
        let kind = self.attributes.kind;
        let mut object = kind.present_object(sent.to_storage(changed));
        clean_metadata(kind, &mut object)
            .and_then(|()| decode(kind, &mut object, FieldValidation::Ignore))
            .map_err(|error| rejected(error.message()))?;
        Ok(Some(object))
    }

    fn resolve(&self, webhook: &Webhook, failure: WebhookFailure) -> Result<(), ApiError> {
        let out_of_time = Instant::now() >= self.deadline;
        failure.resolve(webhook, out_of_time).map_or(Ok(()), Err)
    }

    /// The kind in which a webhook receives the object.
    fn kind_for<'s>(&'s self, webhook: &Webhook) -> &'s Kind {
        matching_kind(webhook, &self.attributes, &self.equivalents).unwrap_or(self.attributes.kind)
    }

    fn presented(&self, webhook: &Webhook, object: &Object) -> Object {
        let stored = self.attributes.kind.to_storage(object.clone());
        self.kind_for(webhook).present_object(stored)
    }
}
