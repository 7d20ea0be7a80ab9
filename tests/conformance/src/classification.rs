//! The classification of checks: level, subject, and the features of drivers.

use lbcf_driver_sdk::specification;

/// An enum whose variants have names for users, in the order of reports and of the documentation.
macro_rules! named {
    (
        $(#[$meta:meta])* $enum:ident ($count:literal), $(#[$named:meta])* $name:ident;
        $($(#[$doc:meta])* $variant:ident = $text:literal,)+
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $enum {
            $($(#[$doc])* #[serde(rename = $text)] #[value(name = $text)] $variant,)+
        }

        impl $enum {
            /// All of them, in the order of reports.
            pub const ALL: [Self; $count] = [$(Self::$variant),+];

            $(#[$named])*
            pub const fn $name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.$name())
            }
        }
    };
}
pub(crate) use named;

named! {
    /// The importance of a check.
    Level (2),
    /// The word in reports.
    name;
    /// Required by the specification, or without it controllers in the field retry indefinitely,
    /// lose an update, leak a resource or reject the response.
    Must = "MUST",
    /// Controllers work without it, but users suffer.
    Should = "SHOULD",
}

named! {
    /// The subject of a check.
    Group (19),
    /// The prefix of its checks' ids, such as `ENS`.
    id;
    /// The wire format.
    Wire = "WIRE",
    /// The webhook `healthz`.
    Hlth = "HLTH",
    /// The webhook `validateLoadBalancer`.
    Vlb = "VLB",
    /// The webhook `createLoadBalancer`.
    Clb = "CLB",
    /// The webhook `ensureLoadBalancer`.
    Elb = "ELB",
    /// The webhook `deleteLoadBalancer`.
    Dlb = "DLB",
    /// The webhook `validateBackend`.
    Vbe = "VBE",
    /// The webhook `generateBackendAddr`.
    Gen = "GEN",
    /// The webhook `ensureBackend`.
    Ens = "ENS",
    /// The webhook `deregisterBackend`.
    Drg = "DRG",
    /// The webhook `judgePodDeregister`.
    Jpd = "JPD",
    /// The webhook `listBackends`.
    Lst = "LST",
    /// Operations that are `Running`, and polling.
    Asyn = "ASYN",
    /// Repeated calls.
    Rtry = "RTRY",
    /// Dry runs.
    Dry = "DRY",
    /// Concurrent calls.
    Conc = "CONC",
    /// Bad input.
    Bad = "BAD",
    /// Life cycles.
    Life = "LIFE",
    /// Latency.
    Lat = "LAT",
}

named! {
    /// An optional capability of a driver, as the fixture's `features` name it.
    Feature (10),
    /// The name in the fixture and in reports.
    name;
    /// Operations that return `Running`.
    Async = "async",
    /// Dry runs: the LoadBalancerDriver sets `acceptDryRunCall`.
    DryRun = "dryRun",
    /// The optional webhook `judgePodDeregister`, which keeps pods registered that are not ready.
    JudgePodDeregister = "judgePodDeregister",
    /// The optional webhook `listBackends`, which lists what is registered.
    ListBackends = "listBackends",
    /// Pods as backends, whose addresses `generateBackendAddr` returns.
    PodBackends = "backend.pod",
    /// Services' node ports as backends.
    ServiceBackends = "backend.service",
    /// Endpoints of services that are no pods as backends, such as addresses outside of the cluster.
    EndpointBackends = "backend.endpoint",
    /// Static addresses as backends.
    StaticBackends = "backend.static",
    /// Attributes that can be changed.
    UpdateAttributes = "update.attributes",
    /// Parameters that can be changed.
    UpdateParameters = "update.parameters",
}

impl Level {
    pub(crate) const fn of(level: specification::Level) -> Self {
        match level {
            specification::Level::Must => Self::Must,
            specification::Level::Should => Self::Should,
        }
    }
}

impl Group {
    /// A description for people, such as `ensureBackend` or `repeated calls`.
    pub fn about(self) -> &'static str {
        let mut groups = specification::rules::GROUPS.iter();
        let group = groups.find(|group| group.prefix == self.id());
        group.map_or(self.id(), |group| group.title)
    }
}
