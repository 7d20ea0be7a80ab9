//! Load balancers in the files that a program reads.

mod replace;
#[cfg(test)]
mod tests;

use crate::HookError;
use lbcf_serving::private_file;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use tokio::task::spawn_blocking;

const PREFIX: &str = "lb-";
/// Begins the line with the load balancer as JSON, which HAProxy, nginx and most others take for a comment.
const STATE: &str = "# lbcf/";
/// The version of the format of these files, which follows [`STATE`].
const VERSION: &str = "1";

/// Load balancers in files of one folder, such as `conf.d` of nginx or HAProxy. The file `lb-NAME.EXTENSION`
/// has a load balancer in a comment, as JSON, and below it the directives that the driver renders from it. So
/// a restarted driver and a restarted program read the same file.
///
/// At every moment, a crash of the machine included, each file is the old one or the new one. When a change
/// returns, it is on the disk. Two changes of one load balancer must not overlap.
///
/// ```
/// # async fn example() -> Result<(), lbcf_driver_sdk::HookError> {
/// use lbcf_driver_sdk::local::StateFiles;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Listener {
///     port: u16,
/// }
///
/// # let conf_d = tempfile::tempdir().unwrap();
/// let files = StateFiles::open(conf_d.path(), "conf").unwrap();
/// let listener = Listener { port: 80 };
/// let directives = format!("server {{ listen {}; }}\n", listener.port);
/// assert!(files.write("80", &listener, &directives).await?, "reload the program now");
/// assert!(!files.write("80", &listener, &directives).await?, "the same: no reload");
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Debug)]
pub struct StateFiles<S> {
    folder: PathBuf,
    suffix: String,
    /// Locked as long as it is open; the system closes it when the process is killed.
    lock: Option<fs::File>,
    state: PhantomData<fn(S) -> S>,
}

impl<S: Serialize + DeserializeOwned> StateFiles<S> {
    /// Creates the folder, for its owner alone: where the program is another user's, create it before. Locks it
    /// against other drivers until this is dropped or the process ends.
    ///
    /// # Errors
    /// Those of the file system; `WouldBlock` if another driver uses the folder.
    pub fn open(folder: impl Into<PathBuf>, extension: &str) -> io::Result<Self> {
        let folder = folder.into();
        private_file::create_folder(&folder)?;
        let path = folder.join(".lbcf.lock");
        let lock = fs::File::create(&path)?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => {
                let message = format!("another driver uses it: {} is locked", path.display());
                io::Error::new(ErrorKind::WouldBlock, message)
            }
            fs::TryLockError::Error(error) => error,
        })?;
        let mut files = Self::without_lock(folder, extension);
        files.lock = Some(lock);
        Ok(files)
    }

    /// For a program beside the driver, such as the conformance kit's observer.
    #[must_use]
    pub fn without_lock(folder: impl Into<PathBuf>, extension: &str) -> Self {
        Self {
            folder: folder.into(),
            suffix: format!(".{extension}"),
            lock: None,
            state: PhantomData,
        }
    }

    /// The load balancer of this name, if it has a file.
    ///
    /// # Errors
    /// Those of the file system, a name that is no name of a file, and a file that this cannot have written:
    /// a driver that stops here never overwrites it.
    pub async fn read(&self, name: &str) -> Result<Option<S>, HookError> {
        let path = self.path(name)?;
        let text = off_the_runtime(&path, read_if_exists).await?;
        text.map(|text| parse(&text).map_err(|problem| failed(&path, problem)))
            .transpose()
    }

    /// All load balancers, by name. Files that cannot be read are logged: they must not stop the others.
    ///
    /// # Errors
    /// Those of reading the folder.
    pub async fn read_all(&self) -> Result<BTreeMap<String, S>, HookError> {
        let paths = off_the_runtime(&self.folder, |folder| {
            fs::read_dir(folder)?
                .map(|entry| Ok(entry?.file_name()))
                .collect::<io::Result<Vec<_>>>()
        })
        .await?;
        let mut all = BTreeMap::new();
        for file in paths {
            let file = file.to_string_lossy();
            let name = file
                .strip_prefix(PREFIX)
                .and_then(|it| it.strip_suffix(&self.suffix));
            let Some(name) = name else { continue };
            match self.read(name).await {
                Ok(Some(state)) => {
                    all.insert(name.to_owned(), state);
                }
                Ok(None) => {}
                Err(error) => tracing::error!(%error, "a load balancer's file is left alone"),
            }
        }
        Ok(all)
    }

    /// Writes a file unless it is the same already; `true` if it was written.
    ///
    /// # Errors
    /// Those of the file system, after which the old content is still there, and a name that is no name of
    /// a file.
    pub async fn write(&self, name: &str, state: &S, directives: &str) -> Result<bool, HookError> {
        let path = self.path(name)?;
        let json = serde_json::to_string(state).map_err(|problem| failed(&path, problem))?;
        let text = format!(
            "# Written by an LBCF driver, which reads the next line and writes the others again.\n\
             {STATE}{VERSION} {json}\n{directives}"
        );
        off_the_runtime(&path, move |path| {
            let differs = read_if_exists(path)?.as_ref() != Some(&text);
            if differs {
                replace::replace(path, text.as_bytes())?;
            }
            Ok(differs)
        })
        .await
    }

    /// Removes a file; one that does not exist is removed already.
    ///
    /// # Errors
    /// Those of the file system, and a name that is no name of a file.
    pub async fn remove(&self, name: &str) -> Result<(), HookError> {
        off_the_runtime(&self.path(name)?, replace::remove).await
    }

    fn path(&self, name: &str) -> Result<PathBuf, HookError> {
        let file = format!("{PREFIX}{name}{}", self.suffix);
        if name.is_empty() || file.contains(['/', '\\', '\0']) {
            return Err(HookError::fail(format!("{file:?} is no name of a file")));
        }
        Ok(self.folder.join(file))
    }
}

fn parse<S: DeserializeOwned>(text: &str) -> Result<S, String> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(STATE)?.split_once(' '));
    let (version, json) =
        line.ok_or_else(|| format!("has no line that begins with \"{STATE}{VERSION} \""))?;
    if version != VERSION {
        return Err(format!(
            "has version {version:?} of the format, and this driver reads {VERSION}"
        ));
    }
    serde_json::from_str(json).map_err(|error| format!("the line \"{STATE}{VERSION}\": {error}"))
}

fn read_if_exists(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// A disk may be slow, and the runtime's threads must go on responding to other calls.
async fn off_the_runtime<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, HookError> {
    let owned = path.to_owned();
    let done = spawn_blocking(move || work(&owned)).await;
    done.map_err(io::Error::other)
        .flatten()
        .map_err(|error| failed(path, error))
}

fn failed(path: &Path, problem: impl Display) -> HookError {
    HookError::fail(format!("{}: {problem}", path.display()))
}
