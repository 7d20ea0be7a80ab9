//! The declarations of the objects of one kind, kept up to date by a watch, or the problem that hides them.

use kube::api::DynamicObject;
use kube::runtime::watcher::{Error as WatchError, Event};
use lbcf_controller::ObjectKey;
use std::collections::BTreeMap;
use std::error::Error;
use std::mem;

/// The limit of objects of a kind; a cluster with more is not compared.
const MOST: usize = 100_000;

/// The declarations of each object, in the order of their names.
#[derive(Debug)]
pub(super) struct Listed<T> {
    objects: Objects<T>,
    /// The list that is being read, and takes the place of the objects when it is complete.
    next: Objects<T>,
    /// There are more objects than these, until the next list.
    is_cut: bool,
    /// The reason why the objects are not known.
    problem: Option<String>,
}

type Objects<T> = BTreeMap<ObjectKey, Result<Vec<T>, String>>;

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self {
            objects: Objects::new(),
            next: Objects::new(),
            is_cut: false,
            problem: Some("not listed yet".to_owned()),
        }
    }
}

impl<T: Clone> Listed<T> {
    /// Applies an event of the watch; `declared` takes the declarations from an object.
    pub(super) fn apply(
        &mut self,
        event: Result<Event<DynamicObject>, WatchError>,
        declared: impl Fn(DynamicObject) -> (ObjectKey, Result<Vec<T>, String>),
    ) {
        match event {
            Err(error) => self.problem = Some(reason(&error)),
            Ok(Event::Init) => self.next.clear(),
            Ok(Event::InitApply(object)) => {
                // One more than the limit shows that there are too many.
                if self.next.len() <= MOST {
                    self.next.extend([declared(object)]);
                }
            }
            Ok(Event::InitDone) => {
                self.objects = mem::take(&mut self.next);
                self.is_cut = self.objects.len() > MOST;
                self.problem = None;
            }
            Ok(Event::Apply(object)) => {
                if !self.is_cut {
                    self.objects.extend([declared(object)]);
                    self.is_cut = self.objects.len() > MOST;
                }
            }
            Ok(Event::Delete(object)) => {
                self.objects.remove(&ObjectKey::of(&object));
            }
        }
    }

    /// The declarations of all objects.
    ///
    /// # Errors
    /// The reason why they are not known.
    pub(super) fn all(&self) -> Result<Vec<T>, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.is_cut {
            return Err(format!("there are more than {MOST} objects"));
        }
        let mut all = Vec::with_capacity(self.objects.len());
        for (key, declared) in &self.objects {
            match declared {
                Ok(declared) => all.extend_from_slice(declared),
                Err(problem) => return Err(format!("{key}: {problem}")),
            }
        }
        Ok(all)
    }
}

/// The message with its causes. A kind that the cluster does not know has to be installed.
fn reason(error: &WatchError) -> String {
    use WatchError::{InitialListFailed, WatchStartFailed};
    if let InitialListFailed(kube::Error::Api(status)) | WatchStartFailed(kube::Error::Api(status)) =
        error
        && status.code == 404
    {
        return "the cluster does not know this kind; `lbcf crds | kubectl apply -f -` installs it"
            .to_owned();
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests;
