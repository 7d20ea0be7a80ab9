//! Certificates for tests, in files like those of a mounted Secret: links that are replaced.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_rustls::TlsConnector;

/// The name in the servers' certificates.
pub(crate) const NAME: &str = "driver.test";

pub(crate) struct Ca(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
pub(crate) struct Identity {
    pub(crate) cert: String,
    pub(crate) key: String,
}

impl Ca {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn server(&self) -> Identity {
        self.sign(ExtendedKeyUsagePurpose::ServerAuth)
    }

    pub(crate) fn client(&self) -> Identity {
        self.sign(ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, usage: ExtendedKeyUsagePurpose) -> Identity {
        let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.0).unwrap();
        Identity {
            cert: cert.pem(),
            key: key.serialize_pem(),
        }
    }

    /// A client that trusts this CA, optionally with a certificate.
    pub(crate) fn trusting(&self, own: Option<&Identity>) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match own {
            None => config.with_no_client_auth(),
            Some(own) => {
                let cert = CertificateDer::from_pem_slice(own.cert.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
                config.with_client_auth_cert(vec![cert], key).unwrap()
            }
        };
        Arc::new(config).into()
    }
}

/// A folder like the mount of a Secret.
#[derive(Debug)]
pub(crate) struct Mounted {
    folder: PathBuf,
    versions: usize,
}

impl Mounted {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lbcf-sdk-tests-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self {
            folder,
            versions: 0,
        }
    }

    /// The path of a file, which need not exist.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Replaces all files at once, as kubelet does: the files are links through `..data`, and that
    /// is a link to a folder that is exchanged for another.
    pub(crate) fn put(&mut self, files: &[(&str, &str)]) {
        self.versions += 1;
        let version = format!("..version-{}", self.versions);
        let folder = self.folder.join(&version);
        fs::create_dir(&folder).unwrap();
        for (name, contents) in files {
            fs::write(folder.join(name), contents).unwrap();
            let link = self.path(name);
            if !link.is_symlink() {
                symlink(Path::new("..data").join(name), link);
            }
        }
        let new = self.folder.join("..data_tmp");
        symlink(&version, &new);
        fs::rename(new, self.folder.join("..data")).unwrap();
    }

    /// Replaces a certificate with its key.
    pub(crate) fn put_identity(&mut self, identity: &Identity) {
        self.put(&[("tls.crt", &identity.cert), ("tls.key", &identity.key)]);
    }
}

fn symlink(to: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
