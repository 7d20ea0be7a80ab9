//! Waiting for changes of files. The system wakes a session, and a look at the files says what has changed: a file that
//! is being written counts once two looks in a row find the same.

use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Notify;
use tokio::time::sleep;

/// The time between two looks while files change.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// When files were written, and their lengths; none of a file that does not exist. A folder exists.
type Look = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

/// Files that are watched.
pub(super) struct Watch {
    /// The files and folders to look at.
    list: Box<dyn Fn() -> Vec<PathBuf>>,
    watcher: RecommendedWatcher,
    woken: Arc<Notify>,
    is_awake: bool,
    used: Look,
    last: Look,
}

impl Watch {
    /// Begins with the files as they are at present.
    ///
    /// # Errors
    /// A folder that the system does not watch.
    pub(super) fn new(list: impl Fn() -> Vec<PathBuf> + 'static) -> Result<Self, String> {
        let woken = Arc::new(Notify::new());
        let waking = woken.clone();
        let wake = move |event: notify::Result<notify::Event>| {
            // Looks open folders.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                waking.notify_one();
            }
        };
        let unusable = |error| format!("files cannot be watched: {error}");
        let watcher = RecommendedWatcher::new(wake, Config::default()).map_err(unusable)?;
        let mut watch = Self {
            list: Box::new(list),
            watcher,
            woken,
            is_awake: false,
            used: Look::default(),
            last: Look::default(),
        };
        let first = watch.look();
        watch.watch(&first).map_err(unusable)?;
        // Once more, now that every change wakes.
        watch.last = watch.look();
        watch.used = watch.last.clone();
        Ok(watch)
    }

    /// Waits until a file differs from the one that was used, and none changes any more; it counts as used then. One
    /// that does not exist, as while a program is linked, holds up no other.
    pub(super) async fn changed(&mut self) {
        loop {
            if !self.is_awake && self.last.values().all(Option::is_some) {
                self.woken.notified().await;
            }
            self.is_awake = true;
            sleep(LOOK_INTERVAL).await;
            let now = self.look();
            let is_watched = self.watch(&now).is_ok();
            let has_changed = self.has_changed(now);
            // What the system does not watch, as there are too many folders, is looked at again and again.
            self.is_awake |= !is_watched;
            if has_changed {
                return;
            }
        }
    }

    fn look(&self) -> Look {
        (self.list)().into_iter().map(stamped).collect()
    }

    /// Watches folders, as editors replace files, and at each look: another one may have taken its place.
    fn watch(&mut self, look: &Look) -> notify::Result<()> {
        let folders = look.keys().map(|path| match path.is_dir() {
            true => path.clone(),
            false => folder_of(path),
        });
        let mut watched = self.watcher.paths_mut();
        for folder in folders.collect::<BTreeSet<_>>() {
            if folder.is_dir() {
                watched.add(&folder, RecursiveMode::NonRecursive)?;
            }
        }
        watched.commit()
    }

    fn has_changed(&mut self, now: Look) -> bool {
        self.is_awake = now != self.last;
        self.last = now;
        let existing = self.last.iter().filter(|(_, stamp)| stamp.is_some());
        let has_changed = !self.is_awake
            && existing
                .clone()
                .any(|(file, it)| self.used.get(file) != Some(it));
        if has_changed {
            self.used
                .extend(existing.map(|(file, it)| (file.clone(), *it)));
        }
        has_changed
    }
}

fn stamped(path: PathBuf) -> (PathBuf, Option<(SystemTime, u64)>) {
    let stamp = std::fs::metadata(&path).and_then(|it| match it.is_dir() {
        true => Ok((SystemTime::UNIX_EPOCH, 0)),
        false => Ok((it.modified()?, it.len())),
    });
    (path, stamp.ok())
}

pub(super) fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: Option<u64>) -> Look {
        let time = |second| (SystemTime::UNIX_EPOCH + Duration::from_secs(second), second);
        Look::from([("driver".into(), second.map(time))])
    }

    #[test]
    fn a_file_has_changed_once_it_is_written() {
        let mut watch = Watch::new(Vec::new).unwrap();
        watch.last = at(Some(1));
        watch.used = at(Some(1));
        for (look, has_changed) in [
            (at(Some(1)), false),
            (at(None), false),
            (at(None), false),
            (at(Some(2)), false),
            (at(Some(3)), false),
            (at(Some(3)), true),
            (at(Some(3)), false),
            (Look::default(), false),
            (Look::default(), false),
            (at(Some(3)), false),
            (at(Some(3)), false),
        ] {
            let shown = format!("{look:?}");
            assert_eq!(watch.has_changed(look), has_changed, "{shown}");
        }
    }
}
