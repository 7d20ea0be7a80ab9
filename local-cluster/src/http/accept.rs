//! Content negotiation: the `Accept` header.

use http::HeaderMap;
use http::header::ACCEPT;

use super::table::Include;
use crate::resources::Kind;
use crate::status::ApiError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
}

/// The transformation of objects before they are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transform {
    None,
    /// A `Table`, as `kubectl get` prints it.
    Table,
    /// `PartialObjectMetadata`, of one object.
    Partial,
    /// `PartialObjectMetadataList`, of a list.
    PartialList,
    /// `APIGroupDiscoveryList`: all resources of all groups.
    Aggregated,
}

/// Which transforms an endpoint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndpointRestrictions {
    Objects,
    Groups,
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResponseFormat {
    pub(crate) encoding: Encoding,
    pub(crate) transform: Transform,
    /// The part of its object that each row of a table includes.
    pub(crate) include: Include,
}

impl ResponseFormat {
    /// Refuses a transform that does not fit the response, once the request is carried out. Watches take both
    /// partial forms, as one.
    pub(super) fn misfit(self, kind: &Kind, is_list: bool) -> ApiError {
        let (requested, is) = match is_list {
            true => ("PartialObjectMetadata", "is a list"),
            false if kind.is_custom() => return ApiError::unexplained("content is not a list"),
            false => ("PartialObjectMetadataList", "is not a list"),
        };
        ApiError::not_acceptable_because(&format!(
            "you requested {requested}, but the requested object {is} ({})",
            kind.internal_type(is_list)
        ))
    }
}

/// The first accepted format that this server can write; JSON without the header.
pub(crate) fn negotiate(
    headers: &HeaderMap,
    endpoint: EndpointRestrictions,
) -> Result<ResponseFormat, ApiError> {
    let json = ResponseFormat {
        encoding: Encoding::Json,
        transform: Transform::None,
        include: Include::Metadata,
    };
    let mut any = false;
    for value in headers.get_all(ACCEPT) {
        let Ok(text) = value.to_str() else { continue };
        for range in text.split(',').map(str::trim).filter(|r| !r.is_empty()) {
            any = true;
            if let Some(form) = form_of(range, endpoint) {
                return Ok(form);
            }
        }
    }
    if any {
        Err(ApiError::not_acceptable())
    } else {
        Ok(json)
    }
}

fn form_of(range: &str, endpoint: EndpointRestrictions) -> Option<ResponseFormat> {
    let mut parts = range.split(';').map(str::trim);
    let encoding = match parts.next()? {
        "application/json" | "application/*" | "*/*" => Encoding::Json,
        "application/yaml" => Encoding::Yaml,
        _ => return None,
    };
    let (mut kind, mut group, mut version) = (None, None, None);
    for (key, value) in parts.filter_map(|p| p.split_once('=')) {
        match key.trim() {
            "as" => kind = Some(value.trim()),
            "g" => group = Some(value.trim()),
            "v" => version = Some(value.trim()),
            _ => {}
        }
    }
    let transform = match (kind, group, version) {
        (None, _, _) => Transform::None,
        (Some(kind), Some("meta.k8s.io"), Some("v1" | "v1beta1"))
            if endpoint == EndpointRestrictions::Objects =>
        {
            match kind {
                "Table" => Transform::Table,
                "PartialObjectMetadata" => Transform::Partial,
                "PartialObjectMetadataList" => Transform::PartialList,
                _ => return None,
            }
        }
        // Kubernetes 1.36 no longer serves the beta version.
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2"))
            if endpoint == EndpointRestrictions::Groups =>
        {
            Transform::Aggregated
        }
        _ => return None,
    };
    Some(ResponseFormat {
        encoding,
        transform,
        include: Include::Metadata,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn transform(accept: &str) -> Option<Transform> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
        negotiate(&headers, EndpointRestrictions::Objects)
            .ok()
            .map(|form| form.transform)
    }

    #[test]
    fn the_first_supported_format_wins() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(transform(table), Some(Transform::Table));
        assert_eq!(
            transform("application/vnd.kubernetes.protobuf,application/json"),
            Some(Transform::None)
        );
        assert_eq!(transform("application/json, */*"), Some(Transform::None));
        assert_eq!(
            transform("application/json;as=Table;v=v9;g=meta.k8s.io,*/*"),
            Some(Transform::None)
        );
        assert_eq!(transform("text/html"), None);
        assert!(negotiate(&HeaderMap::new(), EndpointRestrictions::Plain).is_ok());
    }
}
