//! `listBackends`.

use super::StringMap;
use super::operation::{operation_request, operation_response};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

operation_request! {
    /// Lists the backends that are registered with a load balancer. Changes nothing. The `recordID`
    /// is another one for each listing, and the same until the listing is done.
    ListBackends<I> of Created(lb_info),
    written if "I: Borrow<StringMap>", read if "I: Default + From<StringMap>"
    {
        /// The load balancer's identity.
        #[serde(default, with = "crate::wire::nullable_map")]
        #[cfg_attr(feature = "openapi", schema(required, value_type = Option<std::collections::BTreeMap<String, String>>))]
        pub lb_info: I,
        /// The most backends of a response; 0 for all. Sent to drivers with the feature `pages`.
        #[serde(default, deserialize_with = "crate::wire::whole_number", skip_serializing_if = "crate::wire::is_zero")]
        #[cfg_attr(feature = "openapi", schema(minimum = 0))]
        pub limit: i32,
        /// `continue` of the page before; empty for the first.
        #[serde(rename = "continue", default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "String::is_empty")]
        pub continue_token: String,
    }
}

operation_response! {
    /// The registered backends.
    ListBackendsResponse => (Vec<ListedBackend>, String) {
        /// Every backend that is registered, also those that were registered by hand or by other
        /// clusters.
        #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<ListedBackend>>))]
        backends: Vec<ListedBackend>,
        /// Not empty if there are more: the next page is asked for with it. Opaque.
        #[serde(rename = "continue", default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "String::is_empty")]
        continue_token: String
    }
}

/// The page that a request asks for: backends in the order of their addresses, of which the last is where the next
/// page continues, so that a backend that stays registered is in one page, whatever changes meanwhile.
#[cfg(feature = "server")]
pub(crate) fn page(
    mut backends: Vec<ListedBackend>,
    limit: i32,
    continue_token: &str,
) -> (Vec<ListedBackend>, String) {
    let Some(limit) = usize::try_from(limit).ok().filter(|limit| *limit > 0) else {
        return (backends, String::new());
    };
    backends.retain(|backend| *backend.backend_addr > *continue_token);
    backends.sort_by(|a, b| a.backend_addr.cmp(&b.backend_addr));
    let has_more = backends.len() > limit;
    backends.truncate(limit);
    let last = backends.last().filter(|_| has_more);
    let continue_token = last.map_or_else(String::new, |last| last.backend_addr.clone());
    (backends, continue_token)
}

/// A backend that is registered with a load balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(
    rename_all = "camelCase",
    bound(
        serialize = "P: Borrow<StringMap>, B: Serialize",
        deserialize = "P: Default + From<StringMap>, B: Default + Deserialize<'de>"
    )
)]
pub struct ListedBackend<P = StringMap, B = String> {
    /// The backend's address, as returned by `generateBackendAddr`.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub backend_addr: B,
    /// The parameters with which the backend is registered, as far as the driver knows them.
    #[serde(default, with = "crate::wire::nullable_map")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, String>>))]
    pub parameters: P,
    /// The `recordID` of the `ensureBackend` that registered the backend, if the load balancer's API
    /// can store it, for example in a tag: it proves to the controller whose backend it is. Empty where
    /// it is not known or a user registered the backend.
    #[serde(
        rename = "recordID",
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub record_id: String,
}

#[cfg(all(test, feature = "server"))]
mod tests {
    use super::*;

    fn backends(addresses: &[&str]) -> Vec<ListedBackend> {
        let listed = |address: &&str| ListedBackend {
            backend_addr: (*address).to_owned(),
            ..ListedBackend::default()
        };
        addresses.iter().map(listed).collect()
    }

    #[test]
    fn d114_pages_together_have_each_backend_once() {
        let all = ["d", "a", "c", "e", "b"];
        for limit in 1..=6 {
            let (mut token, mut seen) = (String::new(), Vec::new());
            loop {
                let (found, next) = page(backends(&all), limit, &token);
                assert!(found.len() <= usize::try_from(limit).unwrap());
                seen.extend(found.into_iter().map(|backend| backend.backend_addr));
                if next.is_empty() {
                    break;
                }
                token = next;
            }
            assert_eq!(seen, ["a", "b", "c", "d", "e"], "{limit}");
        }
    }

    #[test]
    fn d114_what_comes_and_goes_between_pages_loses_and_repeats_nothing_that_stays() {
        let (first, token) = page(backends(&["a", "b", "c", "d"]), 2, "");
        assert_eq!(first, backends(&["a", "b"]));
        let (second, token) = page(backends(&["aa", "c", "d"]), 2, &token);
        assert_eq!((second, token.as_str()), (backends(&["c", "d"]), ""));
    }

    #[test]
    fn d114_without_a_limit_all_are_listed_as_the_driver_has_them() {
        for limit in [0, -1] {
            let (all, token) = page(backends(&["b", "a"]), limit, "a");
            assert_eq!((all, token.as_str()), (backends(&["b", "a"]), ""));
        }
    }
}
