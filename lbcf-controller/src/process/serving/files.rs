//! The server's certificate and key from files that may change.

use super::certificates::own_validity;
use crate::process::lock::Mutex;
use jiff::Timestamp;
use lbcf_serving::tls::{ServerTls, TlsFiles};
use lbcf_serving::watched_file::{FileError, WatchedFiles};
use rustls::sign::CertifiedKey;
use std::path::PathBuf;
use std::time::Duration;

/// A certificate from files, and when it expires.
pub(super) struct FileCertificate {
    certified: CertifiedKey,
    until: Timestamp,
}

/// The certificate in two files; an expired one is an error.
pub(super) fn watched(
    cert: PathBuf,
    key: PathBuf,
    clock: fn() -> Timestamp,
) -> WatchedFiles<FileCertificate> {
    let files = TlsFiles::new(&cert, &key);
    WatchedFiles::new("certificate", vec![cert.clone(), key], move |contents| {
        let [chain, private] = contents else {
            return Err(FileError::contents(&cert, "no certificate with a key"));
        };
        let certified = files.certificate(chain, private)?;
        let validity = own_validity(&certified)
            .ok_or_else(|| FileError::contents(&cert, "not a certificate of X.509"))?;
        let until = validity.end;
        if validity.is_over(clock()) {
            let problem = format!("the certificate was valid until {until}");
            return Err(FileError::contents(&cert, problem));
        }
        Ok(FileCertificate { certified, until })
    })
}

impl FileCertificate {
    /// Serves it; returns when it expires.
    pub(super) fn serve(self, tls: &ServerTls) -> Timestamp {
        tls.set_certificate(self.certified.into());
        tracing::info!(until = %self.until, "serving this certificate");
        self.until
    }
}

/// Serves the first certificate, and those that replace it. Calls `report` with whether the last one is valid.
pub(super) async fn follow(
    (first, files): (FileCertificate, WatchedFiles<FileCertificate>),
    tls: &ServerTls,
    interval: Duration,
    clock: fn() -> Timestamp,
    report: impl Fn(Result<(), String>),
) {
    let until = Mutex::new(first.serve(tls));
    let replaced = files.watch(interval, |new| *until.lock() = new.serve(tls));
    let reported = async {
        loop {
            let until = *until.lock();
            report(match until < clock() {
                true => Err(format!("the certificate was valid until {until}")),
                false => Ok(()),
            });
            tokio::time::sleep(interval).await;
        }
    };
    tokio::join!(replaced, reported);
}
