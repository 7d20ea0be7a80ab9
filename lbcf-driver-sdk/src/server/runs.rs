//! Which call starts an operation, which one joins it, and who gets the result.
//!
//! This is the bookkeeping alone: no tasks, no clock. Whoever acts on it reports what happened
//! (a call came, a call went, an operation finished, a result has waited for too long) and does
//! what the answer says.
//!
//! The rules, for one subject (a webhook with a `recordID`):
//!
//! * Only its latest operation is known, and only until one call has got the result. An equal
//!   call joins it while it runs.
//! * When it finishes and calls wait, they get the result, and it is forgotten. When none waits,
//!   the result is kept for the next equal call if one was promised it, that is, was answered
//!   with `Running`. Who hung up was promised nothing: doing the work again is always right, an
//!   old result may be wrong by then. Creating a load balancer is the exception: its result is
//!   kept for who hung up too, since a driver that does not find what it made would make another.
//! * A call with other content replaces it. The earlier operation goes on for those who wait for
//!   it already, its result is kept for nobody.
//! * A kept result goes when another webhook works on the same thing: that a backend was
//!   registered is no news once it was taken away.

use super::hashed::{ByHash, unpredictable};
use super::reject::Answer;
use crate::webhook::{CreateLoadBalancer, DeleteLoadBalancer, StringMap, Webhook};
use axum::body::Bytes;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What calls have to share to be about the same thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    hash: u64,
    webhook: &'static str,
    /// A rehearsal neither waits for the real thing nor displaces its result.
    dry_run: bool,
    record: Record,
}

/// A backend, by its load balancer and its address: a hash of them that nobody outside can
/// predict. Should two be taken for one, a result is lost that could have been collected, and the
/// work is done anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Backend(u64);

impl Backend {
    pub(super) fn new(load_balancer: &StringMap, addr: &str) -> Self {
        Self(unpredictable(&(load_balancer, addr)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Record {
    Id(Arc<str>),
    /// Calls without a `recordID` have nothing in common but equal content.
    Nameless(Bytes),
}

impl Subject {
    /// `content` is what a call without a `recordID` is known by.
    pub(super) fn new(
        webhook: &'static str,
        record_id: &str,
        dry_run: bool,
        content: impl FnOnce() -> Bytes,
    ) -> Self {
        let record = if record_id.is_empty() {
            Record::Nameless(content())
        } else {
            Record::Id(record_id.into())
        };
        Self {
            hash: unpredictable(&(webhook, dry_run, &record)),
            webhook,
            dry_run,
            record,
        }
    }
}

impl Hash for Subject {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Numbers operations in the order in which they were started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunId(u64);

/// What is known when a call comes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known<L> {
    /// Nothing that helps: the operation has to be [started](Runs::start).
    Nothing,
    /// An operation on the same subject, with a request of these bytes. Whoever acts says whether
    /// that is the [same content](Same), and asks again.
    Maybe(RunId, Bytes),
    /// An equal operation runs; the call waits for it.
    Join(RunId, L),
    /// The result of an equal operation, which is the answer.
    Collect(Answer),
}

/// Whether a call's request has the same content as that of the operation that is known, apart
/// from `retryID`. Equal bytes are; others have to be read to know, which is for whoever acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Same {
    /// They were not compared.
    Unknown,
    /// The content is that of this operation.
    As(RunId),
    /// The content is another than that of this operation.
    NotAs(RunId),
}

/// Whether a result now waits to be collected, so that it has to [expire](Runs::expire) some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Kept {
    Yes,
    No,
}

/// The operations that are known. `L` is how to listen to one.
#[derive(Debug)]
pub(super) struct Runs<L> {
    latest: HashMap<Subject, Run<L>, ByHash>,
    /// Results that nobody has collected, oldest first.
    kept: BTreeMap<RunId, KeptResult>,
    /// Those of them that are about a backend.
    kept_of_backend: HashMap<Backend, BTreeSet<RunId>>,
    kept_bytes: usize,
    /// Beyond this the oldest results go.
    kept_limit: usize,
    started: u64,
}

#[derive(Debug)]
struct Run<L> {
    id: RunId,
    request: Bytes,
    backend: Option<Backend>,
    listen: L,
    /// How many calls wait for it.
    waiting: usize,
    /// Whether a call was answered with `Running`, and so will come again for the result; or the
    /// result is one to keep in any case.
    promised: bool,
    result: Option<Answer>,
}

#[derive(Debug)]
struct KeptResult {
    subject: Subject,
    backend: Option<Backend>,
    /// What it takes, in bytes.
    size: usize,
}

impl<L: Clone> Runs<L> {
    /// Keeps at most this many bytes of uncollected results with the requests they belong to.
    pub(super) fn new(kept_limit: usize) -> Self {
        Self {
            latest: HashMap::default(),
            kept: BTreeMap::new(),
            kept_of_backend: HashMap::new(),
            kept_bytes: 0,
            kept_limit,
            started: 0,
        }
    }

    /// A call came: what is there for it? One that joins counts as waiting from now on.
    pub(super) fn known(&mut self, subject: &Subject, request: &Bytes, same: Same) -> Known<L> {
        let Some(run) = self.latest.get_mut(subject) else {
            return Known::Nothing;
        };
        if run.request != *request {
            match same {
                Same::As(id) if id == run.id => {}
                Same::NotAs(id) if id == run.id => return Known::Nothing,
                _ => return Known::Maybe(run.id, run.request.clone()),
            }
        }
        match &run.result {
            None => {
                run.waiting += 1;
                Known::Join(run.id, run.listen.clone())
            }
            Some(result) if run.waiting == 0 => {
                let result = result.clone();
                self.forget(subject);
                Known::Collect(result)
            }
            // The result is on its way to those who waited: this call came after it.
            Some(_) => Known::Nothing,
        }
    }

    /// A call starts an operation, about `backend` if it is about one, and waits for it. `listen`
    /// is how others listen to it.
    pub(super) fn start(
        &mut self,
        subject: &Subject,
        request: &Bytes,
        backend: Option<Backend>,
        listen: L,
    ) -> RunId {
        self.started += 1;
        let id = RunId(self.started);
        let run = Run {
            id,
            request: request.clone(),
            backend,
            listen,
            waiting: 1,
            promised: subject.webhook == CreateLoadBalancer::INFO.name,
            result: None,
        };
        if let Some(earlier) = self.latest.insert(subject.clone(), run) {
            self.forget_kept(earlier.id);
        }
        self.displace(subject, backend);
        id
    }

    /// An operation finished; `None` when there is no result that a later call could use. Those
    /// who wait are told by whoever acts, and report [`got`](Self::got).
    pub(super) fn finished(
        &mut self,
        subject: &Subject,
        id: RunId,
        result: Option<Answer>,
    ) -> Kept {
        let Some(run) = self.run(subject, id) else {
            return Kept::No;
        };
        let backend = run.backend;
        // What was done while this one was at work may have been undone by it.
        self.displace(subject, backend);
        let Some(run) = self.run(subject, id) else {
            return Kept::No;
        };
        if result.is_none() {
            self.forget(subject);
            return Kept::No;
        }
        run.result = result;
        self.keep_unless_awaited(subject, id)
    }

    /// An operation finished, and the call that started it has the result.
    pub(super) fn done(&mut self, subject: &Subject, id: RunId) {
        if let Some(run) = self.run(subject, id) {
            let backend = run.backend;
            self.displace(subject, backend);
            self.forget(subject);
        }
    }

    /// A call that waited has the result.
    pub(super) fn got(&mut self, subject: &Subject, id: RunId) {
        if self.run(subject, id).is_some() {
            self.forget(subject);
        }
    }

    /// A call no longer waits: it was answered with `Running` and so was `promised` the result,
    /// or hung up.
    pub(super) fn left(&mut self, subject: &Subject, id: RunId, promised: bool) -> Kept {
        let Some(run) = self.run(subject, id) else {
            return Kept::No;
        };
        run.waiting = run.waiting.saturating_sub(1);
        run.promised |= promised;
        self.keep_unless_awaited(subject, id)
    }

    /// How many results wait to be collected.
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// A result has waited for long enough.
    pub(super) fn expire(&mut self, subject: &Subject, id: RunId) {
        if self.kept.contains_key(&id) {
            self.forget(subject);
        }
    }

    fn run(&mut self, subject: &Subject, id: RunId) -> Option<&mut Run<L>> {
        self.latest.get_mut(subject).filter(|run| run.id == id)
    }

    fn keep_unless_awaited(&mut self, subject: &Subject, id: RunId) -> Kept {
        let Some(run) = self.latest.get(subject).filter(|run| run.id == id) else {
            return Kept::No;
        };
        let Some(result) = run.result.as_ref().filter(|_| run.waiting == 0) else {
            return Kept::No;
        };
        if !run.promised {
            self.forget(subject);
            return Kept::No;
        }
        debug_assert!(!self.kept.contains_key(&id), "a result is kept once");
        let size = run.request.len() + result.size();
        let backend = run.backend;
        if let Some(backend) = backend {
            let kept = self.kept_of_backend.entry(backend).or_default();
            kept.insert(id);
        }
        self.kept_bytes += size;
        let kept = KeptResult {
            subject: subject.clone(),
            backend,
            size,
        };
        self.kept.insert(id, kept);
        while self.kept_bytes > self.kept_limit
            && let Some((_, oldest)) = self.kept.first_key_value()
        {
            let oldest = oldest.subject.clone();
            self.forget(&oldest);
        }
        if self.kept.contains_key(&id) {
            Kept::Yes
        } else {
            Kept::No
        }
    }

    /// An operation makes results of other webhooks on the same thing old.
    fn displace(&mut self, subject: &Subject, backend: Option<Backend>) {
        if subject.dry_run || self.kept.is_empty() {
            return;
        }
        let is_old = |kept: &KeptResult| {
            kept.subject.webhook != subject.webhook
                && match subject.webhook {
                    // What it takes away is known by other names in other webhooks. It is rare,
                    // and what is lost by asking anew is little.
                    webhook if webhook == DeleteLoadBalancer::INFO.name => true,
                    webhook if webhook == CreateLoadBalancer::INFO.name => {
                        kept.subject.webhook == DeleteLoadBalancer::INFO.name
                    }
                    _ => backend.is_some(),
                }
        };
        let old: Vec<Subject> = match backend {
            Some(backend) => {
                let ids = self.kept_of_backend.get(&backend).into_iter().flatten();
                let kept = ids.filter_map(|id| self.kept.get(id));
                kept.filter(|kept| is_old(kept))
                    .map(|kept| kept.subject.clone())
                    .collect()
            }
            None if [DeleteLoadBalancer::INFO.name, CreateLoadBalancer::INFO.name]
                .contains(&subject.webhook) =>
            {
                let kept = self.kept.values();
                kept.filter(|kept| is_old(kept))
                    .map(|kept| kept.subject.clone())
                    .collect()
            }
            None => Vec::new(),
        };
        for subject in old {
            self.forget(&subject);
        }
    }

    fn forget(&mut self, subject: &Subject) {
        if let Some(run) = self.latest.remove(subject) {
            self.forget_kept(run.id);
        }
    }

    fn forget_kept(&mut self, id: RunId) {
        let Some(kept) = self.kept.remove(&id) else {
            return;
        };
        self.kept_bytes -= kept.size;
        if let Some(backend) = kept.backend
            && let Some(ids) = self.kept_of_backend.get_mut(&backend)
        {
            ids.remove(&id);
            if ids.is_empty() {
                self.kept_of_backend.remove(&backend);
            }
        }
    }
}

#[cfg(test)]
mod tests;
