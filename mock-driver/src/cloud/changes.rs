//! Changes of a cloud: the state file has them, and the data plane applies them, before any caller sees them.

use super::handle::Cloud;
use super::state_file::{self, StateFile};
use crate::resources::{CloudState, Endpoint, Model};
use crate::traffic::DataPlane;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

/// The part that an operation may change, so that file and data plane do not have to compare everything.
#[derive(Clone, Copy)]
pub(super) enum Scope<'a> {
    Nothing,
    /// Targets of endpoints, by their addresses.
    Targets(&'a [(&'a Endpoint, &'a str)]),
    Everything,
}

impl Cloud {
    /// Continues with the state of a file if there is one, and saves every change to it before any
    /// caller sees it.
    ///
    /// # Errors
    /// What is wrong with the file, which then stays as it is, or why it cannot be written.
    pub fn keep_in_file(&self, path: &Path) -> Result<(), String> {
        let file = StateFile::claim(path)?;
        if let Some(state) = state_file::read(path)? {
            let restored = self.restore(&state);
            restored.map_err(|problem| format!("{}: {problem}", path.display()))?;
        }
        *self.file() = Some(file);
        self.with(|_, _| ());
        match self.unsaved() {
            None => Ok(()),
            Some(problem) => {
                *self.file() = None;
                Err(problem)
            }
        }
    }

    /// Why the last change is not in the state file.
    pub(crate) fn unsaved(&self) -> Option<String> {
        self.file().as_ref()?.problem().map(str::to_owned)
    }

    /// The same after another attempt.
    pub(crate) fn still_unsaved(&self) -> Option<String> {
        self.unsaved()?;
        self.with(|_, _| ());
        self.unsaved()
    }

    fn file(&self) -> MutexGuard<'_, Option<StateFile>> {
        self.shared
            .file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing without [`Traffic`](crate::Traffic).
    pub(crate) fn data_plane(&self) -> MutexGuard<'_, Option<Arc<DataPlane>>> {
        let plane = self.shared.data_plane.lock();
        plane.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads or changes the state atomically, at one point in time. The data plane has followed
    /// when it returns.
    pub(super) fn with<R>(&self, operation: impl FnOnce(&mut Model, Duration) -> R) -> R {
        self.with_scope(Scope::Everything, operation)
    }

    pub(super) fn with_scope<R>(
        &self,
        scope: Scope<'_>,
        operation: impl FnOnce(&mut Model, Duration) -> R,
    ) -> R {
        let (mut model, now) = self.model();
        let result = operation(&mut model, now);
        self.follow(&mut model, now, scope);
        result
    }

    pub(super) fn read<R>(&self, operation: impl FnOnce(&Model, Duration) -> R) -> R {
        let (model, now) = self.model();
        operation(&model, now)
    }

    /// The model, with the results of what has completed until now.
    pub(super) fn model(&self) -> (MutexGuard<'_, Model>, Duration) {
        let model = self.shared.model.lock();
        let mut model = model.unwrap_or_else(PoisonError::into_inner);
        let now = self.shared.clock.now();
        if model.advance(now) {
            self.follow(&mut model, now, Scope::Everything);
        }
        (model, now)
    }

    /// Stores what the model declares, and has the data plane do it. The model stays locked meanwhile, so
    /// that changes arrive in their order.
    fn follow(&self, model: &mut Model, now: Duration, scope: Scope<'_>) {
        if matches!(scope, Scope::Nothing) {
            return;
        }
        if let Some(file) = &mut *self.file() {
            // No call succeeds with the problem (`router.rs`), and the next one tries again.
            let _ = file.save(&CloudState::of(model, now));
        }
        if let Some(plane) = &*self.data_plane() {
            if let Scope::Targets(changed) = scope {
                for (endpoint, address) in changed {
                    let group = model.group_mut(endpoint).ok();
                    let target = group.and_then(|group| group.targets.get(*address));
                    plane.set_target(endpoint, address, target.map(|target| target.weight));
                }
            } else {
                plane.apply(&CloudState::of(model, now));
            }
        }
    }
}
