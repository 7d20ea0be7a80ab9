//! The form of answer that a client wants.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::status::ApiError;

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
}

/// What of the objects is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Whole objects.
    Full,
    /// Rows for people.
    Table,
    /// Metadata only.
    Partial,
    /// All resources of all groups at once, in this version of the format.
    Aggregated(&'static str),
}

/// A form of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) encoding: Encoding,
    pub(crate) shape: Shape,
}

/// The first form that the client accepts and this server writes.
pub(crate) fn negotiate(headers: &HeaderMap, discovery: bool) -> Result<Form, ApiError> {
    let json = Form {
        encoding: Encoding::Json,
        shape: Shape::Full,
    };
    let mut any = false;
    for value in headers.get_all(ACCEPT) {
        let Ok(text) = value.to_str() else { continue };
        for range in text.split(',').map(str::trim).filter(|r| !r.is_empty()) {
            any = true;
            if let Some(form) = form_of(range, discovery) {
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

fn form_of(range: &str, discovery: bool) -> Option<Form> {
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
    let shape = match (kind, group, version) {
        (None, _, _) => Shape::Full,
        (Some("Table"), Some("meta.k8s.io"), Some("v1" | "v1beta1")) => Shape::Table,
        (
            Some("PartialObjectMetadata" | "PartialObjectMetadataList"),
            Some("meta.k8s.io"),
            Some("v1" | "v1beta1"),
        ) => Shape::Partial,
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")) if discovery => {
            Shape::Aggregated("v2")
        }
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2beta1"))
            if discovery =>
        {
            Shape::Aggregated("v2beta1")
        }
        _ => return None,
    };
    Some(Form { encoding, shape })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn shape(accept: &str) -> Option<Shape> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
        negotiate(&headers, true).ok().map(|form| form.shape)
    }

    #[test]
    fn the_first_known_form_wins() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(shape(table), Some(Shape::Table));
        assert_eq!(
            shape("application/vnd.kubernetes.protobuf,application/json"),
            Some(Shape::Full)
        );
        assert_eq!(shape("application/json, */*"), Some(Shape::Full));
        assert_eq!(
            shape("application/json;as=Table;v=v9;g=meta.k8s.io,*/*"),
            Some(Shape::Full)
        );
        assert_eq!(shape("text/html"), None);
        assert!(negotiate(&HeaderMap::new(), false).is_ok());
    }
}
