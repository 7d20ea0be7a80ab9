//! Changes of files. A file that is being written counts as changed when two looks in a row find the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The time between two looks for files that have changed.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// When files were written, and their lengths; none of a file that does not exist.
pub(super) type Look = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

/// Files that are watched.
#[derive(Debug, Default)]
pub(super) struct Watch {
    used: Look,
    last: Look,
}

impl Watch {
    /// Begins with the files as they are at present.
    pub(super) fn new(now: Look) -> Self {
        Self {
            used: now.clone(),
            last: now,
        }
    }

    /// True if a file differs from the one that was used, and no file has changed since the last look; it counts as
    /// used then. One that does not exist, as while a program is linked, holds up no other.
    pub(super) fn has_changed(&mut self, now: Look) -> bool {
        let is_settled = now == self.last;
        self.last = now;
        let existing = self.last.iter().filter(|(_, stamp)| stamp.is_some());
        let has_changed = is_settled
            && existing
                .clone()
                .any(|(file, it)| self.used.get(file) != Some(it));
        if has_changed {
            self.used
                .extend(existing.map(|(file, it)| (file.clone(), *it)));
        }
        has_changed
    }

    /// Waits until a file has changed.
    pub(super) async fn changed(&mut self, look: impl Fn() -> Look) {
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            if self.has_changed(look()) {
                return;
            }
        }
    }
}

pub(super) fn look(files: &[PathBuf]) -> Look {
    let stamp = |file: &PathBuf| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let files = files.iter();
    files.map(|file| (file.clone(), stamp(file))).collect()
}

/// The program that a command runs, if it is a file: its first word after assignments of variables.
pub(super) fn program(command: &str) -> Option<PathBuf> {
    let word = command
        .split_whitespace()
        .find(|word| !word.contains('='))?;
    let program = Path::new(word);
    (word.contains('/') && program.is_file()).then(|| program.to_owned())
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
        let mut watch = Watch::new(at(Some(1)));
        for (look, has_changed) in [
            (at(Some(1)), false),
            (at(None), false),
            (at(None), false),
            (at(Some(2)), false),
            (at(Some(3)), false),
            (at(Some(3)), true),
            (at(Some(3)), false),
            (Look::new(), false),
            (Look::new(), false),
            (at(Some(3)), false),
            (at(Some(3)), false),
        ] {
            assert_eq!(watch.has_changed(look.clone()), has_changed, "{look:?}");
        }
    }

    #[test]
    fn the_program_of_a_command_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("driver");
        std::fs::write(&file, "").unwrap();
        let shown = file.display();
        let command = format!("LOG=debug {shown} --listen 127.0.0.1:{{port}}");
        assert_eq!(program(&command), Some(file.clone()));
        for command in ["", "cargo run", "/no/such/file", "A=1"] {
            assert_eq!(program(command), None, "{command}");
        }
    }
}
