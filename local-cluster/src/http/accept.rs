//! The form of answer that a client wants.

use http::HeaderMap;
use http::header::ACCEPT;

use super::table::Include;
use crate::resources::Kind;
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
    /// Metadata only, of one object.
    Partial,
    /// Metadata only, of a list.
    PartialList,
    /// All resources of all groups at once.
    Aggregated,
}

/// What is asked: not every shape is to be had everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// Objects.
    Objects,
    /// What groups there are.
    Groups,
    /// Anything else.
    Plain,
}

/// A form of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) encoding: Encoding,
    pub(crate) shape: Shape,
    /// What comes along with the rows of a table.
    pub(crate) include: Include,
}

impl Form {
    /// Whether this verb's answer has the shape; one shape is then as good as the other.
    pub(crate) fn fitting(mut self, kind: &Kind, verb: &str) -> Result<Self, ApiError> {
        let lists = verb == "list";
        let (wanted, is) = match (self.shape, lists) {
            (Shape::Partial, true) => ("PartialObjectMetadata", "is a list"),
            (Shape::PartialList, false) if !matches!(verb, "watch" | "deletecollection") => {
                ("PartialObjectMetadataList", "is not a list")
            }
            (Shape::PartialList, _) => {
                self.shape = Shape::Partial;
                return Ok(self);
            }
            _ => return Ok(self),
        };
        Err(ApiError::not_acceptable_because(&format!(
            "you requested {wanted}, but the requested object {is} ({})",
            kind.internal_type(lists)
        )))
    }
}

/// The first form that the client accepts and this server writes.
pub(crate) fn negotiate(headers: &HeaderMap, endpoint: Endpoint) -> Result<Form, ApiError> {
    let json = Form {
        encoding: Encoding::Json,
        shape: Shape::Full,
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

fn form_of(range: &str, endpoint: Endpoint) -> Option<Form> {
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
        (Some(kind), Some("meta.k8s.io"), Some("v1" | "v1beta1"))
            if endpoint == Endpoint::Objects =>
        {
            match kind {
                "Table" => Shape::Table,
                "PartialObjectMetadata" => Shape::Partial,
                "PartialObjectMetadataList" => Shape::PartialList,
                _ => return None,
            }
        }
        // The beta version of the format is no longer written by this version of Kubernetes.
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2"))
            if endpoint == Endpoint::Groups =>
        {
            Shape::Aggregated
        }
        _ => return None,
    };
    Some(Form {
        encoding,
        shape,
        include: Include::Metadata,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn shape(accept: &str) -> Option<Shape> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
        negotiate(&headers, Endpoint::Objects)
            .ok()
            .map(|form| form.shape)
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
        assert!(negotiate(&HeaderMap::new(), Endpoint::Plain).is_ok());
    }
}
