//! The kubeconfig of the cluster, which is removed at the end unless the user chose its path.

use super::StackError;
use local_cluster::ServerHandle;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

#[derive(Debug)]
pub(super) struct KubeconfigFile {
    path: PathBuf,
    /// Removed with its contents when this is dropped.
    _folder: Option<TempDir>,
}

impl KubeconfigFile {
    pub(super) fn write(path: Option<&Path>, server: &ServerHandle) -> Result<Self, StackError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StackError::Write { path, source }
        };
        let folder = match path {
            Some(_) => None,
            None => {
                let folder = tempfile::Builder::new().prefix("lbcf-").tempdir();
                Some(folder.map_err(failed(&std::env::temp_dir()))?)
            }
        };
        let path = match (path, &folder) {
            (Some(path), _) => path.to_owned(),
            (None, Some(folder)) => folder.path().join("kubeconfig"),
            (None, None) => PathBuf::from("kubeconfig"),
        };
        std::fs::write(&path, server.kubeconfig()).map_err(failed(&path))?;
        Ok(Self {
            path,
            _folder: folder,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
