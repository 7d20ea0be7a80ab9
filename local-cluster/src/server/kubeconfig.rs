//! The kubeconfig for clients of a server.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lbcf_serving::private_file;
use serde_json::Value;

use super::options::Token;

/// A kubeconfig with the one context `local-cluster`.
pub(super) fn text(url: &str, authority: Option<&str>, token: Option<&Token>) -> String {
    // Some clients, such as the one for Node.js, use plain HTTP only if verification is off.
    let trust = authority.map_or_else(
        || "insecure-skip-tls-verify: true".to_owned(),
        |pem| format!("certificate-authority-data: {}", STANDARD.encode(pem)),
    );
    // A JSON string is a YAML string, whatever characters it has.
    let user = token.map_or_else(
        || "  user: {}\n".to_owned(),
        |token| format!("  user:\n    token: {}\n", Value::from(token.reveal())),
    );
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: local-cluster\n  cluster:\n    server: {url}\n    {trust}\n\
         users:\n\
         - name: local-cluster\n{user}\
         contexts:\n\
         - name: local-cluster\n  context:\n    cluster: local-cluster\n    namespace: default\n    user: local-cluster\n\
         current-context: local-cluster\n"
    )
}

/// Writes a file that only its owner may read, and replaces it atomically.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path)?,
        // A pipe or a device cannot be replaced, only written to.
        Ok(_) => {
            let mut file = OpenOptions::new().write(true).open(path)?;
            return file.write_all(text.as_bytes());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let beside = folder.join(format!(".kubeconfig-{}", uuid::Uuid::new_v4().simple()));
    let written = write_new(&beside, text).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = private_file::options().create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_read_it() {
        let token = Token::new("a:\"b\\#'{}").unwrap();
        let text = text("https://127.0.0.1:1", Some("PEM"), Some(&token));
        let read = kube::config::Kubeconfig::from_yaml(&text).unwrap();
        let cluster = read.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.certificate_authority_data.as_deref(), Some("UEVN"));
        assert_eq!(cluster.server.as_deref(), Some("https://127.0.0.1:1"));
        assert_eq!(read.current_context.as_deref(), Some("local-cluster"));
        assert!(text.contains(r#"token: "a:\"b\\#'{}""#), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_may_read_it_even_where_it_replaces_another_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = std::env::temp_dir().join(format!("kubeconfig-{}", uuid::Uuid::new_v4()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("config");
        fs::write(&path, "for all to read").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let link = folder.join("link");
        std::os::unix::fs::symlink("config", &link).unwrap();
        write(&link, "secret").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "secret");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        assert!(write(&folder.join("no/such/folder"), "x").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
