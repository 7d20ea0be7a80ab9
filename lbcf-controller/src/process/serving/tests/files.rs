//! Certificates in files that change.

use super::fixture::{Log, handshake};
use crate::process::serving::certificates::tests::{NOW, days, first};
use crate::process::serving::certificates::{Bundle, Found};
use crate::process::serving::files::{FileCertificate, watched};
use lbcf_serving::tls::ServerTls;
use lbcf_serving::watched_file::WatchedFiles;
use rustls::pki_types::CertificateDer;
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of a test, gone when the test is over.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("lbcf-{}", uuid::Uuid::new_v4()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn write(&self, bundle: &Bundle) {
        fs::write(self.path("tls.crt"), &bundle.server).unwrap();
        fs::write(self.path("tls.key"), &bundle.server_key.0).unwrap();
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Fixture {
    directory: Directory,
    files: WatchedFiles<FileCertificate>,
    tls: ServerTls,
}

impl Fixture {
    fn new() -> Self {
        let directory = Directory::new();
        let path = |name: &str| directory.path(name);
        Self {
            files: watched(path("tls.crt"), path("tls.key"), || NOW),
            directory,
            tls: ServerTls::new(None).unwrap(),
        }
    }

    /// A fixture that serves a certificate.
    fn serving(bundle: &Bundle) -> Self {
        let mut fixture = Self::new();
        fixture.directory.write(bundle);
        fixture.load();
        fixture
    }

    fn load(&mut self) {
        let first = self.files.read().unwrap().unwrap();
        first.serve(&self.tls);
    }

    fn reread(&mut self) {
        if let Some(certificate) = self.files.reread() {
            certificate.serve(&self.tls);
        }
    }

    async fn is_served(&self, bundle: &Bundle) -> bool {
        handshake(&self.tls, &bundle.cas, NOW).await.is_ok()
    }
}

fn leaf(bundle: &Bundle) -> CertificateDer<'static> {
    Found::read(bundle).server.unwrap().own().unwrap().clone()
}

#[tokio::test]
async fn u47_changed_files_are_served_and_the_same_are_not_loaded_again() {
    let (old, new) = (first(NOW), first(NOW));
    let mut fixture = Fixture::serving(&old);
    assert!(fixture.is_served(&old).await);
    let log = Log::new();
    fixture.directory.write(&old);
    fixture.reread();
    assert!(!log.text().contains("serving this certificate"));
    fixture.directory.write(&new);
    fixture.reread();
    assert!(log.text().contains("serving this certificate"));
    assert!(fixture.is_served(&new).await && !fixture.is_served(&old).await);
    let served = handshake(&fixture.tls, &new.cas, NOW).await.unwrap();
    assert_eq!(served, leaf(&new));
}

#[cfg(unix)]
#[tokio::test]
async fn u47_links_of_a_mounted_secret_that_are_switched_over_are_noticed() {
    let (old, new) = (first(NOW), first(NOW));
    let mut fixture = Fixture::new();
    let directory = &fixture.directory;
    let fill = |folder: &str, bundle: &Bundle| {
        let folder = directory.path(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("tls.crt"), &bundle.server).unwrap();
        fs::write(folder.join("tls.key"), &bundle.server_key.0).unwrap();
        // The times say nothing.
        let file = fs::File::options().write(true).open(folder.join("tls.crt"));
        file.unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    };
    let link = |to: &str, name: &str| {
        let name = directory.path(name);
        std::os::unix::fs::symlink(Path::new(to), name).unwrap();
    };
    fill("..old", &old);
    link("..old", "..data");
    link("..data/tls.crt", "tls.crt");
    link("..data/tls.key", "tls.key");
    let first = fixture.files.read().unwrap().unwrap();
    first.serve(&fixture.tls);
    fill("..new", &new);
    link("..new", "..data_tmp");
    fs::rename(directory.path("..data_tmp"), directory.path("..data")).unwrap();
    fixture.reread();
    assert!(fixture.is_served(&new).await);
}

#[tokio::test]
async fn u47_a_broken_file_is_ignored_and_reported_once() {
    let (old, new) = (first(NOW), first(NOW));
    let mut expired = first(NOW - days(91));
    expired.cas.clone_from(&old.cas);
    let mut torn = new.clone();
    torn.server_key = old.server_key.clone();
    let mut half = new.clone();
    half.server.truncate(100);
    let mut empty = new.clone();
    empty.server_key.0.clear();
    for (broken, told) in [
        (torn, "not the key of the certificate in"),
        (half, "damaged PEM"),
        (empty, "not PEM with a section PRIVATE KEY"),
        (expired, "the certificate was valid until 2027-"),
    ] {
        let mut fixture = Fixture::serving(&old);
        fixture.directory.write(&broken);
        let log = Log::new();
        for _ in 0..3 {
            fixture.reread();
            assert!(fixture.is_served(&old).await, "{told}");
        }
        let [warning] = &*log.warnings() else {
            panic!("{told}: {}", log.text())
        };
        // The file at fault is named: tls.crt or tls.key.
        let path = fixture.directory.path("tls.");
        assert!(warning.contains(told), "{warning}");
        assert!(warning.contains(path.to_str().unwrap()), "{warning}");
        // And it is not broken for ever.
        fixture.directory.write(&new);
        fixture.reread();
        assert!(fixture.is_served(&new).await, "{told}");
    }
}

#[tokio::test]
async fn u47_a_file_that_cannot_be_read_is_reported_once_by_its_path() {
    let old = first(NOW);
    let mut fixture = Fixture::serving(&old);
    let path = fixture.directory.path("tls.key");
    let spoil: [(&dyn Fn(), &str); 3] = [
        (&|| fs::remove_file(&path).unwrap(), "No such file"),
        (&|| fs::create_dir(&path).unwrap(), "not a file"),
        (
            &|| {
                fs::remove_dir(&path).unwrap();
                fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
            },
            "longer than 262144 bytes",
        ),
    ];
    for (spoil, told) in spoil {
        spoil();
        let log = Log::new();
        for _ in 0..3 {
            fixture.reread();
        }
        let [warning] = &*log.warnings() else {
            panic!("{told}: {}", log.text())
        };
        assert!(warning.contains(told), "{warning}");
        assert!(warning.contains(path.to_str().unwrap()), "{warning}");
        assert!(fixture.is_served(&old).await, "{told}");
    }
}

#[tokio::test]
async fn u47_no_key_of_a_file_is_logged() {
    let bundle = first(NOW);
    let log = Log::new();
    let mut fixture = Fixture::serving(&bundle);
    let mut swapped = bundle.clone();
    swapped.server.clone_from(&bundle.server_key.0);
    fixture.directory.write(&swapped);
    fixture.reread();
    tracing::trace!(files = ?fixture.files, "shown");
    let log = log.text();
    assert!(log.contains("the certificate stays what it was") && log.contains("shown"));
    let key = String::from_utf8(bundle.server_key.0).unwrap();
    for line in key.lines().filter(|line| !line.starts_with("---")) {
        assert!(!log.contains(line), "{log}");
    }
}
