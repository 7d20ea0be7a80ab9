//! The review of one request: which webhooks see it, in which order, and what comes of it.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use tokio::time::Instant;

use super::Admission;
use super::answer::{self, Answer, Patch};
use super::asked::{Asked, Operation};
use super::failure::Failure;
use super::hook::Hook;
use super::installed::Hooks;
use super::matching::{version, wants_namespace, wants_object};
use super::patching::{PatchError, patched};
use super::question::{Shown, question};
use crate::object::{Object, text};
use crate::resources::Kind;
use crate::rules::{FieldValidation, clean_metadata, decode};
use crate::status::ApiError;
use crate::store::{Resource, Stored};
use crate::warnings::note;

/// How many validating webhooks are asked at once.
const AT_ONCE: usize = 32;

/// The review of one request.
#[derive(Debug)]
pub(crate) struct Review<'a> {
    admission: &'a Admission,
    asked: Asked<'a>,
    /// The other versions of the same objects.
    others: Vec<Arc<Kind>>,
    /// The webhooks whose rules cover the request.
    mutating: Vec<Arc<Hook>>,
    validating: Vec<Arc<Hook>>,
    deadline: Instant,
    warnings: Vec<String>,
}

impl<'a> Review<'a> {
    /// A review that no webhook takes part in.
    pub(super) fn by_nobody(admission: &'a Admission, asked: Asked<'a>, deadline: Instant) -> Self {
        Self {
            admission,
            asked,
            others: Vec::new(),
            mutating: Vec::new(),
            validating: Vec::new(),
            deadline,
            warnings: Vec::new(),
        }
    }

    /// The review by those of the webhooks whose rules cover the request.
    pub(super) fn of(
        admission: &'a Admission,
        asked: Asked<'a>,
        others: Vec<Arc<Kind>>,
        hooks: &Hooks,
        deadline: Instant,
    ) -> Self {
        let covering = |hooks: &[Arc<Hook>]| -> Vec<Arc<Hook>> {
            let covers = |hook: &&Arc<Hook>| version(hook, &asked, &others).is_some();
            hooks.iter().filter(covers).cloned().collect()
        };
        Self {
            mutating: covering(&hooks.mutating),
            validating: covering(&hooks.validating),
            others,
            ..Self::by_nobody(admission, asked, deadline)
        }
    }

    /// Whether the object must be shown before it is decided about.
    pub(crate) fn mutates(&self) -> bool {
        !self.mutating.is_empty()
    }

    /// Whether the object must be shown after it is decided about.
    pub(crate) fn validates(&self) -> bool {
        !self.validating.is_empty()
    }

    /// Notes what the user is to be told, whatever becomes of the request.
    pub(crate) fn warn(&mut self, warnings: Vec<String>) {
        note(&mut self.warnings, warnings);
    }

    /// What the user is to be told.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    /// Lets webhooks change the object, given and returned in presented form. What its kind does not
    /// have is not in it any more, nor in what webhooks see.
    pub(crate) async fn mutate(
        &mut self,
        mut object: Object,
        before: Option<&Stored>,
        validation: FieldValidation,
    ) -> Result<Object, ApiError> {
        if !self.mutates() {
            return Ok(object);
        }
        let found = decode(self.asked.kind, &mut object, validation)?;
        self.warn(found);
        match self.mutated(Some(object), before).await {
            Ok(object) => Ok(object.unwrap_or_default()),
            Err(error) => Err(error.with_warnings(std::mem::take(&mut self.warnings))),
        }
    }

    /// Lets webhooks judge the object, given in presented form.
    pub(crate) async fn validate(
        &mut self,
        object: Option<&Object>,
        before: Option<&Stored>,
    ) -> Result<(), ApiError> {
        if !self.validates() {
            return Ok(());
        }
        self.validated(object, before)
            .await
            .map_err(|error| error.with_warnings(std::mem::take(&mut self.warnings)))
    }

    /// Lets webhooks judge a deletion.
    pub(crate) async fn delete(&mut self, object: &Stored) -> Result<(), ApiError> {
        if self.mutates() {
            let judged = self.mutated(None, Some(object)).await;
            judged.map_err(|error| error.with_warnings(std::mem::take(&mut self.warnings)))?;
        }
        self.validate(None, Some(object)).await
    }

    /// Asks the mutating webhooks, one after the other.
    async fn mutated(
        &mut self,
        mut object: Option<Object>,
        before: Option<&Stored>,
    ) -> Result<Option<Object>, ApiError> {
        // Those that want to know of later changes; and those among them that there was one for.
        let (mut asked, mut again) = (Vec::new(), Vec::new());
        for hook in self.mutating.clone() {
            if !self.wants(&hook, object.as_ref(), before) {
                continue;
            }
            if self.change(&hook, &mut object, before).await? {
                again.append(&mut asked);
            }
            if hook.reinvoked {
                asked.push(hook);
            }
        }
        // Once more, and no more: two webhooks that undo each other would never end.
        for hook in again {
            if self.wants(&hook, object.as_ref(), before) {
                self.change(&hook, &mut object, before).await?;
            }
        }
        Ok(object)
    }

    /// Asks one mutating webhook and does what it says; returns whether that changed anything.
    async fn change(
        &mut self,
        hook: &Hook,
        object: &mut Option<Object>,
        before: Option<&Stored>,
    ) -> Result<bool, ApiError> {
        let answered = self.ask(hook, object.as_ref(), before, true).await;
        let changed = self.take(hook, answered).and_then(|patch| match patch {
            Some(patch) => self.apply(hook, object.as_ref(), &patch),
            None => Ok(None),
        });
        match changed {
            Ok(Some(changed)) if object.as_ref() != Some(&changed) => {
                *object = Some(changed);
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(failure) => self.settle(hook, failure).map(|()| false),
        }
    }

    /// Asks the validating webhooks, all at once.
    async fn validated(
        &mut self,
        object: Option<&Object>,
        before: Option<&Stored>,
    ) -> Result<(), ApiError> {
        let hooks: Vec<Arc<Hook>> = self
            .validating
            .iter()
            .filter(|hook| self.wants(hook, object, before))
            .cloned()
            .collect();
        let mut asking = Vec::new();
        for hook in &hooks {
            asking.push(self.ask(hook, object, before, false));
        }
        let answers = futures::stream::iter(asking).buffered(AT_ONCE);
        let answers: Vec<_> = answers.collect().await;
        let mut refused = None;
        for (hook, answered) in hooks.iter().zip(answers) {
            let judged = self.take(hook, answered);
            let judged = judged.or_else(|failure| self.settle(hook, failure).map(|()| None));
            // The first refusal is told, and the warnings of all.
            refused = refused.or(judged.err());
        }
        refused.map_or(Ok(()), Err)
    }

    /// Whether a webhook wants to see an object with these labels in this place.
    fn wants(&self, hook: &Hook, object: Option<&Object>, before: Option<&Stored>) -> bool {
        if !wants_object(hook, object, before.map(|stored| &stored.object)) {
            return false;
        }
        let place = self.asked.reviewed_namespace();
        if hook.namespaces.is_empty() || !(self.asked.kind.namespaced || self.asked.is_namespace())
        {
            return true;
        }
        // A namespace that is being written is not yet as the store has it.
        if self.asked.is_namespace() && self.asked.operation != Operation::Delete {
            return wants_namespace(hook, object);
        }
        let namespaces = Resource::new("", "namespaces");
        let namespace = self.admission.store.get(&namespaces, "", place);
        wants_namespace(hook, namespace.as_deref().map(|stored| &stored.object))
    }

    /// Asks one webhook.
    async fn ask(
        &self,
        hook: &Hook,
        object: Option<&Object>,
        before: Option<&Stored>,
        mutating: bool,
    ) -> Result<Answer, Failure> {
        let shown = Shown {
            version: self.version(hook),
            object: object.map(|object| self.shown(hook, object)),
            before: before.map(|stored| self.version(hook).present(stored)),
        };
        let uid = uuid::Uuid::new_v4().to_string();
        let review = Bytes::from(question(&uid, &self.asked, shown).to_string());
        let left = self.deadline.saturating_duration_since(Instant::now());
        let timeout = hook.timeout.min(left);
        let reply = self.admission.caller.post(hook, review, timeout).await;
        let answer = reply.and_then(|reply| answer::read(&reply, &uid, mutating));
        let error = answer.as_ref().err();
        tracing::debug!(webhook = hook.name, error, "asked a webhook");
        answer.map_err(Failure::Unasked)
    }

    /// Takes the warnings of an answer, and what it wants changed.
    fn take(
        &mut self,
        hook: &Hook,
        answered: Result<Answer, Failure>,
    ) -> Result<Option<Patch>, Failure> {
        let answer = answered?;
        self.warn(answer.warnings);
        answer
            .verdict
            .map_err(|denial| Failure::Refused(ApiError::denied(&hook.name, &denial)))
    }

    /// The object after a webhook's patch, read as its kind again; `None` when it says nothing.
    fn apply(
        &self,
        hook: &Hook,
        object: Option<&Object>,
        patch: &Patch,
    ) -> Result<Option<Object>, Failure> {
        let impossible = |why: &str| Failure::Refused(ApiError::internal_because(why));
        let given = object.map(|object| self.shown(hook, object));
        let changed = match patched(given.unwrap_or_default(), patch) {
            Ok(None) => return Ok(None),
            Ok(Some(_)) | Err(PatchError::Unfit(_)) if object.is_none() => {
                return Err(impossible(&format!(
                    "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                    hook.name
                )));
            }
            Ok(Some(changed)) => changed,
            Err(PatchError::Unreadable(why)) => return Err(Failure::Unasked(why)),
            Err(PatchError::Unfit(why)) => return Err(impossible(&why)),
        };
        let version = self.version(hook);
        let type_of = |key| text(&changed, &[key]).unwrap_or_default();
        if type_of("kind") != version.kind || type_of("apiVersion") != version.api_version() {
            return Err(impossible(&format!(
                "admission webhook {:?} turned a {} of {} into a {:?} of {:?}",
                hook.name,
                version.kind,
                version.api_version(),
                type_of("kind"),
                type_of("apiVersion"),
            )));
        }
        let kind = self.asked.kind;
        let mut object = kind.present_object(version.to_storage(changed));
        clean_metadata(kind, &mut object)
            .and_then(|()| decode(kind, &mut object, FieldValidation::Ignore))
            .map_err(|error| impossible(error.message()))?;
        Ok(Some(object))
    }

    fn settle(&self, hook: &Hook, failure: Failure) -> Result<(), ApiError> {
        let out_of_time = Instant::now() >= self.deadline;
        failure.settle(hook, out_of_time).map_or(Ok(()), Err)
    }

    /// The version in which a webhook sees the object.
    fn version<'s>(&'s self, hook: &Hook) -> &'s Kind {
        version(hook, &self.asked, &self.others).unwrap_or(self.asked.kind)
    }

    /// An object as a webhook sees it.
    fn shown(&self, hook: &Hook, object: &Object) -> Object {
        let stored = self.asked.kind.to_storage(object.clone());
        self.version(hook).present_object(stored)
    }
}
