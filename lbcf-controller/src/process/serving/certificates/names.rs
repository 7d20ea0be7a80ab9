//! The names that a server's certificate is for.

use rcgen::SanType;
use rustls::pki_types::ServerName;
use std::fmt;
use std::net::IpAddr;

/// How many names a certificate may have.
const MAX_NAMES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    /// The name that API servers call.
    first: ServerName<'static>,
    others: Vec<ServerName<'static>>,
}

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
        let mut others = vec![format!("{first}.cluster.local"), service.to_owned()];
        others.extend_from_slice(extra);
        Self::new(&first, &others)
    }

    /// `first` is the name that API servers call.
    pub(crate) fn new(first: &str, others: &[String]) -> Result<Self, NameError> {
        if others.len() >= MAX_NAMES {
            return Err(NameError::TooMany(others.len() + 1));
        }
        let first = parse(first)?;
        let mut parsed: Vec<ServerName<'static>> = Vec::with_capacity(others.len());
        for name in others {
            let name = parse(name)?;
            if name != first && !parsed.contains(&name) {
                parsed.push(name);
            }
        }
        Ok(Self {
            first,
            others: parsed,
        })
    }

    pub(super) const fn first(&self) -> &ServerName<'static> {
        &self.first
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ServerName<'static>> {
        std::iter::once(&self.first).chain(&self.others)
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

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{}", name.to_str())?;
        }
        Ok(())
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
            names.to_string(),
            "lbcf.kube-system.svc, lbcf.kube-system.svc.cluster.local, lbcf, 10.0.0.1, lbcf.example"
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
            let error = Names::new("x", &[wrong.to_owned()]).unwrap_err();
            assert_eq!(error, NameError::NotAName(wrong.to_owned()));
        }
        let many: Vec<String> = (0..64).map(|n| format!("x{n}")).collect();
        assert_eq!(Names::new("x", &many), Err(NameError::TooMany(65)));
    }
}
