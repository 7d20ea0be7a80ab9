//! BackendGroup: which records there shall be (section 15 of the behaviour list).

mod act;
mod decide;
mod expected;

pub(crate) use act::act;

use crate::api::BackendGroupSpec;

impl BackendGroupSpec {
    /// The names of the load balancers, each once (b20).
    pub fn load_balancer_names(&self) -> impl Iterator<Item = &str> {
        let legacy = self
            .lb_name
            .as_ref()
            .filter(|_| self.load_balancers.is_empty());
        let names = self.load_balancers.iter().chain(legacy).map(String::as_str);
        let mut seen = std::collections::HashSet::new();
        names.filter(move |name| seen.insert(*name))
    }
}
