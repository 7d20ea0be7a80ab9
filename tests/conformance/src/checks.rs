//! The checks by group. Each is declared in one place: the rule that it tests, by its name in the
//! specification's table, why that matters, what it needs, and the code.

/// Declares a check: the name of the rule, which is that of its static; the function that tests it;
/// the group; what it needs besides; and its texts.
macro_rules! check {
    (
        $name:ident = $code:ident, $group:ident,
        $(observer $observer:ident,)?
        $(needs [$($need:ident $(($feature:ident))?),+],)?
        $(runs $concurrency:ident,)?
        why $why:literal,
        source $source:literal,
        typical $typical:literal,
    ) => {
        static $name: Check = Check {
            why: $why,
            source: $source,
            typical: $typical,
            $(observer: Observer::$observer,)?
            $(needs: &[$(Need::$need $((Feature::$feature))?),+],)?
            $(concurrency: Concurrency::$concurrency,)?
            ..Check::new(rules::$name, Group::$group, |lab| Box::pin($code(lab)))
        };
    };
}

mod additions;
mod asyn;
mod bad;
mod clb;
mod conc;
mod dlb;
mod drg;
mod dry;
mod elb;
mod ens;
mod generate;
mod hlth;
mod jpd;
mod lat;
mod life;
mod lst;
mod prelude;
mod rtry;
mod tour;
mod vbe;
mod vlb;
mod wire;

use crate::check::Check;

/// Every check, in the order of reports.
pub fn all() -> impl Iterator<Item = &'static Check> + Clone {
    const GROUPS: [&[&Check]; 20] = [
        wire::CHECKS,
        additions::CHECKS,
        hlth::CHECKS,
        vlb::CHECKS,
        clb::CHECKS,
        elb::CHECKS,
        dlb::CHECKS,
        vbe::CHECKS,
        generate::CHECKS,
        ens::CHECKS,
        drg::CHECKS,
        jpd::CHECKS,
        lst::CHECKS,
        asyn::CHECKS,
        rtry::CHECKS,
        dry::CHECKS,
        conc::CHECKS,
        bad::CHECKS,
        life::CHECKS,
        lat::CHECKS,
    ];
    GROUPS.into_iter().flatten().copied()
}

/// The ids of all checks.
pub(crate) fn ids() -> Vec<&'static str> {
    all().map(|check| check.id).collect()
}

/// The check with this id, compared without regard to case.
pub fn by_id(id: &str) -> Option<&'static Check> {
    all().find(|check| check.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests;
