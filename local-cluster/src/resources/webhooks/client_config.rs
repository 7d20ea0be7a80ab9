//! Validation of `clientConfig`: a URL or a service.

use http::Uri;
use k8s_openapi::api::admissionregistration::v1::{ServiceReference, WebhookClientConfig};

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names;

pub(super) fn check(config: &WebhookClientConfig, path: &str, errors: &mut Vec<FieldError>) {
    match (&config.url, &config.service) {
        (Some(url), None) => check_url(url, &format!("{path}.url"), errors),
        (None, Some(service)) => check_service(service, &format!("{path}.service"), errors),
        _ => errors.required(path, "exactly one of url or service is required"),
    }
}

fn check_url(url: &str, field: &str, errors: &mut Vec<FieldError>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let mut refuse = |value: &str, detail: &str| {
        errors.invalid(field, value, detail);
    };
    // The parser drops fragments.
    let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
    if !fragment.is_empty() {
        refuse(fragment, "fragments are not permitted in the URL");
    }
    let uri = match url.parse::<Uri>() {
        Ok(uri) => uri,
        Err(error) => {
            let detail = format!("url must be a valid URL: {error}{FORM}");
            errors.required(field, &detail);
            return;
        }
    };
    let scheme = uri.scheme_str().unwrap_or_default();
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        refuse(scheme, &detail);
    }
    if uri.host().unwrap_or_default().is_empty() {
        refuse("", &format!("host must be specified{FORM}"));
    }
    let user = uri
        .authority()
        .and_then(|a| a.as_str().rsplit_once('@'))
        .map(|(user, _)| user);
    if let Some(user) = user {
        refuse(user, "user information is not permitted in the URL");
    }
    if let Some(query) = uri.query().filter(|query| !query.is_empty()) {
        refuse(query, "query parameters are not permitted in the URL");
    }
}

fn check_service(service: &ServiceReference, path: &str, errors: &mut Vec<FieldError>) {
    for (field, value) in [("name", &service.name), ("namespace", &service.namespace)] {
        let here = format!("{path}.{field}");
        if value.is_empty() {
            errors.required(here, &format!("service {field} is required"));
        } else if !names::is_label(value) {
            // The name becomes part of a host name.
            errors.invalid(here, value.as_str(), names::LABEL);
        }
    }
    let port = service.port.unwrap_or(443);
    if !(1..=65_535).contains(&port) {
        errors.invalid(
            format!("{path}.port"),
            port,
            "port is not valid: must be between 1 and 65535, inclusive",
        );
    }
    if let Some(given) = service.path.as_deref() {
        check_path(given, &format!("{path}.path"), errors);
    }
}

fn check_path(path: &str, field: &str, errors: &mut Vec<FieldError>) {
    if matches!(path, "" | "/") {
        return;
    }
    let mut refuse = |detail: &str| errors.invalid(field, path, detail);
    if !path.starts_with('/') {
        refuse("must start with a '/'");
    }
    let inner = path.strip_prefix('/').unwrap_or(path);
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    for (index, segment) in inner.split('/').enumerate() {
        if segment.is_empty() {
            refuse(&format!("segment[{index}] may not be empty"));
        } else if !names::is_subdomain(segment) {
            refuse(&format!("segment[{index}]: {}", names::SUBDOMAIN));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn error_lines(config: Value) -> Vec<String> {
        let mut errors = Vec::new();
        check(&serde_json::from_value(config).unwrap(), "c", &mut errors);
        errors
            .into_iter()
            .map(|e| format!("{}: {}", e.field, e.message))
            .collect()
    }

    #[test]
    fn urls_must_be_plain_https() {
        for fine in [
            json!({"url": "https://127.0.0.1:8443/validate"}),
            json!({"url": "https://example.com"}),
            json!({"url": "https://[::1]:8443/a/b"}),
            json!({"service": {"name": "s", "namespace": "n"}}),
            json!({"service": {"name": "s", "namespace": "n", "path": "/a/b/", "port": 8443}}),
            json!({"service": {"name": "s", "namespace": "n", "path": "/"}}),
        ] {
            assert_eq!(error_lines(fine.clone()), Vec::<String>::new(), "{fine}");
        }
        let of_service = |change: Value| {
            let mut service = json!({"name": "s", "namespace": "n"});
            json_patch::merge(&mut service, &change);
            json!({"service": service})
        };
        for (config, expected) in [
            (
                json!({}),
                "c: Required value: exactly one of url or service is required",
            ),
            (
                json!({"url": "https://a", "service": {"name": "s", "namespace": "n"}}),
                "c: Required value: exactly one of url or service is required",
            ),
            (
                json!({"url": "http://a/b"}),
                "c.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
            ),
            (
                json!({"url": "https://a b"}),
                "c.url: Required value: url must be a valid URL: invalid",
            ),
            (
                json!({"url": "https://u:p@a/b"}),
                "c.url: Invalid value: \"u:p\": user information is not permitted in the URL",
            ),
            (
                json!({"url": "https://a/b#c"}),
                "c.url: Invalid value: \"c\": fragments are not permitted in the URL",
            ),
            (
                json!({"url": "https://a/b?c=d"}),
                "c.url: Invalid value: \"c=d\": query parameters are not permitted in the URL",
            ),
            (
                of_service(json!({"name": ""})),
                "c.service.name: Required value: service name is required",
            ),
            (
                of_service(json!({"namespace": ""})),
                "c.service.namespace: Required value: service namespace is required",
            ),
            (
                of_service(json!({"name": "a/b"})),
                "c.service.name: Invalid value: \"a/b\": a lowercase RFC 1123 label must",
            ),
            (
                of_service(json!({"port": 0})),
                "c.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
            ),
            (
                of_service(json!({"path": "a"})),
                "c.service.path: Invalid value: \"a\": must start with a '/'",
            ),
            (
                of_service(json!({"path": "//"})),
                "c.service.path: Invalid value: \"//\": segment[0] may not be empty",
            ),
            (
                of_service(json!({"path": "/a/B"})),
                "c.service.path: Invalid value: \"/a/B\": segment[1]: a lowercase RFC 1123 subdomain must",
            ),
        ] {
            let found = error_lines(config);
            let one = found.first().cloned().unwrap_or_default();
            assert!(found.len() == 1 && one.starts_with(expected), "{found:?}");
        }
    }
}
