//! Wrong files are named, with what is wrong, and are not quoted.

use super::pki::{Ca, Directory};
use lbcf_driver_client::{HttpClient, HttpClientError, HttpClientSettings};
use std::path::{Path, PathBuf};

/// The file that building complains of, and the complaint.
fn complaint(settings: HttpClientSettings) -> (PathBuf, String) {
    match HttpClient::with(settings) {
        Err(HttpClientError::File { path, problem }) => (path, problem),
        other => panic!("{other:?}"),
    }
}

fn trusting(ca_files: Vec<PathBuf>) -> HttpClientSettings {
    HttpClientSettings {
        ca_files,
        ..HttpClientSettings::default()
    }
}

fn with_token_in(file: &Path) -> HttpClientSettings {
    HttpClientSettings {
        token_file: Some(file.into()),
        ..HttpClientSettings::default()
    }
}

#[test]
fn invalid_ca_files_are_errors() {
    let files = Directory::new();
    let ca = Ca::new("ours");
    let pair = ca.good();
    // A whole PEM section with something else in it.
    let other = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let cut = ca.pem.replace("-----END CERTIFICATE-----", "");
    let good_and_bad = format!("{}{other}", ca.pem);
    let long = "x".repeat((1 << 20) + 1);
    for (contents, expected) in [
        ("", "not PEM with a section CERTIFICATE"),
        ("certificate", "not PEM with a section CERTIFICATE"),
        (pair.key.as_str(), "not PEM with a section CERTIFICATE"),
        (cut.as_str(), "damaged PEM"),
        (other, "certificate 1: not a CA's certificate"),
        (
            good_and_bad.as_str(),
            "certificate 2: not a CA's certificate",
        ),
        (long.as_str(), "longer than 1048576 bytes"),
    ] {
        let path = files.write("ca.pem", contents);
        let (named, problem) = complaint(trusting(vec![path.clone()]));
        assert_eq!(named, path);
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
    let missing = files.path("missing.pem");
    let (named, problem) = complaint(trusting(vec![missing.clone()]));
    assert_eq!(named, missing);
    assert!(problem.contains("No such file"), "{problem}");
    let (_, problem) = complaint(trusting(vec![files.path("")]));
    assert_eq!(problem, "not a file");
    // The second of two.
    let good = files.write("ca.pem", &ca.pem);
    let both = trusting(vec![good, missing.clone()]);
    assert_eq!(complaint(both).0, missing);
}

#[test]
fn invalid_client_certificate_files_are_errors() {
    let files = Directory::new();
    let ca = Ca::new("ours");
    let (one, two) = (ca.good(), ca.good());
    let ca = files.write("ca.pem", &ca.pem);
    let (cert, key) = (files.path("tls.crt"), files.path("tls.key"));
    let damaged = one.cert.replace("MII", "AAA");
    for (cert_pem, key_pem, wrong, expected) in [
        ("", one.key.as_str(), &cert, "section CERTIFICATE"),
        (one.cert.as_str(), "", &key, "section PRIVATE KEY"),
        (
            one.key.as_str(),
            one.cert.as_str(),
            &cert,
            "section CERTIFICATE",
        ),
        (
            one.cert.as_str(),
            two.key.as_str(),
            &key,
            "not the key of the certificate in",
        ),
        (
            damaged.as_str(),
            one.key.as_str(),
            &cert,
            "cannot be used with the key in",
        ),
    ] {
        files.write("tls.crt", cert_pem);
        files.write("tls.key", key_pem);
        let (named, problem) = complaint(HttpClientSettings {
            client_certificate: Some((cert.clone(), key.clone())),
            ..trusting(vec![ca.clone()])
        });
        assert_eq!(named, *wrong, "{problem}");
        assert!(problem.contains(expected), "{expected}: {problem}");
        let secret = one.key.lines().nth(1).unwrap();
        assert!(!problem.contains(secret), "{problem}");
    }
}

#[test]
fn invalid_token_files_are_errors() {
    let files = Directory::new();
    for (contents, expected) in [
        ("", "empty"),
        (" \n", "empty"),
        ("a\nb", "character"),
        ("\u{fc}", "character"),
    ] {
        let path = files.write("token", contents);
        let (named, problem) = complaint(with_token_in(&path));
        assert_eq!(named, path);
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
    let long = files.write("token", &"x".repeat(20_000));
    let (_, problem) = complaint(with_token_in(&long));
    assert!(problem.contains("longer than 16384 bytes"), "{problem}");
}
