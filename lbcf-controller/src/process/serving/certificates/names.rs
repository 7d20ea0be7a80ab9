//! The names that a server's certificate is for.

use rcgen::SanType;
use rustls::pki_types::ServerName;
use std::net::IpAddr;

const MAX_NAMES: usize = 64;

/// At least one name, each of them once. The first is the one that API servers call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names(Vec<ServerName<'static>>);

/// Why a name cannot be in a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    /// It is neither a DNS name nor an IP address.
    #[error("{0:?}: neither a DNS name nor an IP address")]
    NotAName(String),
    #[error("{0} names for one certificate: no more than {MAX_NAMES} are allowed")]
    TooMany(usize),
}

impl Names {
    /// The names of a service in its cluster, followed by `extra` DNS names and IP addresses.
    pub(crate) fn of_service(
        service: &str,
        namespace: &str,
        extra: &[String],
    ) -> Result<Self, NameError> {
        let first = format!("{service}.{namespace}.svc");
        let own = [format!("{first}.cluster.local"), service.to_owned()];
        Self::new(first, own.iter().chain(extra))
    }

    fn new<'a>(
        first: String,
        others: impl IntoIterator<Item = &'a String>,
    ) -> Result<Self, NameError> {
        let mut names = vec![parse(&first)?];
        for name in others {
            let name = parse(name)?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > MAX_NAMES {
            return Err(NameError::TooMany(names.len()));
        }
        Ok(Self(names))
    }

    pub(super) fn first(&self) -> &ServerName<'static> {
        &self.0[0]
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, ServerName<'static>> {
        self.0.iter()
    }

    pub(super) fn in_certificate(&self) -> Result<Vec<SanType>, rcgen::Error> {
        self.iter()
            .map(|name| match name {
                ServerName::IpAddress(ip) => Ok(SanType::IpAddress(IpAddr::from(*ip))),
                name => Ok(SanType::DnsName(name.to_str().as_ref().try_into()?)),
            })
            .collect()
    }
}

fn parse(name: &str) -> Result<ServerName<'static>, NameError> {
    ServerName::try_from(name.to_owned()).map_err(|_| NameError::NotAName(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u47_a_service_has_its_names_in_the_cluster_and_those_of_options() {
        let extra = ["10.0.0.1".to_owned(), "lbcf.example".into(), "lbcf".into()];
        let names = Names::of_service("lbcf", "kube-system", &extra).unwrap();
        assert_eq!(
            names.iter().map(|name| name.to_str()).collect::<Vec<_>>(),
            [
                "lbcf.kube-system.svc",
                "lbcf.kube-system.svc.cluster.local",
                "lbcf",
                "10.0.0.1",
                "lbcf.example"
            ]
        );
        assert!(
            names
                .in_certificate()
                .unwrap()
                .contains(&SanType::IpAddress([10, 0, 0, 1].into()))
        );
    }

    #[test]
    fn a_text_that_is_not_a_name_is_quoted_in_the_error() {
        for wrong in ["", "a b", "*.example", "http://x", "-", "x.example:443"] {
            let error = Names::new("x".to_owned(), &[wrong.to_owned()]).unwrap_err();
            assert_eq!(error, NameError::NotAName(wrong.to_owned()));
        }
        let many: Vec<String> = (0..64).map(|n| format!("x{n}")).collect();
        assert_eq!(
            Names::new("x".to_owned(), &many),
            Err(NameError::TooMany(65))
        );
    }
}
