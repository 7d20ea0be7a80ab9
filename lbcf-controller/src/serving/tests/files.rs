//! Certificates in files that somebody changes.

use super::fixture::{Log, handshake};
use crate::serving::certificates::tests::{NOW, days, first};
use crate::serving::certificates::{Bundle, Found};
use crate::serving::files::CertificateFiles;
use crate::serving::reload::CurrentCertificate;
use rustls::pki_types::CertificateDer;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    files: CertificateFiles,
    current: Arc<CurrentCertificate>,
}

impl Fixture {
    fn in_folder(folder: &str) -> Self {
        let directory = Directory::new();
        let current = CurrentCertificate::none();
        let path = |name: &str| directory.path(&format!("{folder}{name}"));
        let files = CertificateFiles::new(path("tls.crt"), path("tls.key"), Arc::clone(&current));
        Self {
            directory,
            files,
            current,
        }
    }

    /// A fixture that serves a certificate.
    async fn serving(bundle: &Bundle) -> Self {
        let mut fixture = Self::in_folder("");
        fixture.directory.write(bundle);
        fixture.files.load(NOW).await.unwrap();
        fixture
    }

    async fn is_served(&self, bundle: &Bundle) -> bool {
        handshake(&self.current, &bundle.cas, NOW).await.is_ok()
    }
}

fn leaf(bundle: &Bundle) -> CertificateDer<'static> {
    Found::read(bundle).server().unwrap().chain()[0].clone()
}

#[tokio::test]
async fn u47_changed_files_are_served_and_the_same_are_not_loaded_again() {
    let (old, new) = (first(NOW), first(NOW));
    let mut fixture = Fixture::serving(&old).await;
    assert!(fixture.is_served(&old).await);
    let log = Log::new();
    fixture.directory.write(&old);
    fixture.files.look_again(NOW).await;
    assert!(!log.text().contains("serving this certificate"));
    fixture.directory.write(&new);
    fixture.files.look_again(NOW).await;
    assert!(log.text().contains("serving this certificate"));
    assert!(fixture.is_served(&new).await && !fixture.is_served(&old).await);
    let served = handshake(&fixture.current, &new.cas, NOW).await.unwrap();
    assert_eq!(served, leaf(&new));
}

#[cfg(unix)]
#[tokio::test]
async fn u47_links_of_a_mounted_secret_that_are_switched_over_are_noticed() {
    let (old, new) = (first(NOW), first(NOW));
    let mut fixture = Fixture::in_folder("");
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
    fixture.files.load(NOW).await.unwrap();
    fill("..new", &new);
    link("..new", "..data_tmp");
    fs::rename(directory.path("..data_tmp"), directory.path("..data")).unwrap();
    fixture.files.look_again(NOW).await;
    assert!(fixture.is_served(&new).await);
}

#[tokio::test]
async fn u47_a_broken_file_is_kept_out_and_told_once() {
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
        (torn, "the key is not the certificate's"),
        (half, "the certificate is not PEM"),
        (empty, "the key is not PEM"),
        (expired, "the certificate was valid until 2027-"),
    ] {
        let mut fixture = Fixture::serving(&old).await;
        fixture.directory.write(&broken);
        let log = Log::new();
        for _ in 0..3 {
            fixture.files.look_again(NOW).await;
            assert!(fixture.is_served(&old).await, "{told}");
        }
        let [warning] = &*log.warnings() else {
            panic!("{told}: {}", log.text())
        };
        let path = fixture.directory.path("tls.crt");
        assert!(warning.contains(told), "{warning}");
        assert!(warning.contains(path.to_str().unwrap()), "{warning}");
        // And it is not broken for ever.
        fixture.directory.write(&new);
        fixture.files.look_again(NOW).await;
        assert!(fixture.is_served(&new).await, "{told}");
    }
}

#[tokio::test]
async fn u47_a_file_that_cannot_be_read_is_told_once_by_its_path() {
    let old = first(NOW);
    let mut fixture = Fixture::serving(&old).await;
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
            fixture.files.look_again(NOW).await;
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
    let mut fixture = Fixture::serving(&bundle).await;
    let mut swapped = bundle.clone();
    swapped.server.clone_from(&bundle.server_key.0);
    fixture.directory.write(&swapped);
    fixture.files.look_again(NOW).await;
    tracing::trace!(files = ?fixture.files, "shown");
    let log = log.text();
    assert!(log.contains("stays the one that was served before") && log.contains("PrivatePem"));
    let key = String::from_utf8(bundle.server_key.0).unwrap();
    for line in key.lines().filter(|line| !line.starts_with("---")) {
        assert!(!log.contains(line), "{log}");
    }
}
