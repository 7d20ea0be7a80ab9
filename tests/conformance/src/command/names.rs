//! Checks and groups by name, with suggestions for unknown names.

use super::console::CommandError;
use crate::check::Check;
use crate::checks;
use crate::classification::Group;
use clap::ValueEnum as _;

/// The names of checks and groups of a flag, without empty ones.
pub(super) fn read(flag: &str, names: &[String]) -> Result<Vec<String>, CommandError> {
    let names = names.iter().map(|name| name.trim());
    let known =
        |name: &str| match checks::by_id(name).is_some() || Group::from_str(name, true).is_ok() {
            true => Ok(name.to_ascii_uppercase()),
            false => Err(CommandError::usage(format!(
                "{flag}: {}",
                unknown(name, true)
            ))),
        };
    names.filter(|name| !name.is_empty()).map(known).collect()
}

/// The checks with these ids, compared without regard to case.
pub(super) fn checks(ids: &[String]) -> Result<Vec<&'static Check>, CommandError> {
    let check = |id: &str| checks::by_id(id).ok_or_else(|| CommandError::usage(unknown(id, false)));
    ids.iter().map(|id| check(id.trim())).collect()
}

/// The message for an unknown name.
fn unknown(name: &str, groups_too: bool) -> String {
    let what = match groups_too {
        true => "no check and no group",
        false => "no check",
    };
    let meant = meant(name, groups_too).map(|meant| format!(": did you mean {meant}?"));
    let meant = meant.unwrap_or_default();
    let name: String = name.chars().take(40).collect();
    format!("{what} has the id {name:?} (`lbcf conformance list` shows them){meant}")
}

/// A suggestion: ENS-02 for `ens2` and `EMS-02`.
fn meant(name: &str, groups_too: bool) -> Option<String> {
    let is_letter = |c: &char| c.is_ascii_alphabetic();
    let letters: String = name.chars().filter(is_letter).take(10).collect();
    let digits: String = name.chars().filter(char::is_ascii_digit).take(10).collect();
    let near = |group: &Group| strsim::osa_distance(&letters.to_ascii_uppercase(), group.id());
    let nearest = Group::ALL.into_iter().min_by_key(near);
    let group = nearest.filter(|group| near(group) <= 1)?;
    let number: Option<u32> = digits.parse().ok();
    let id = number.map(|number| format!("{}-{number:02}", group.id()));
    match id {
        Some(id) if checks::by_id(&id).is_some() => Some(id),
        _ if groups_too => Some(group.id().to_owned()),
        _ => {
            let mut of_group = checks::all().filter(|check| check.group == group);
            let (first, last) = (of_group.next()?, of_group.last()?);
            Some(format!("one of {} to {}", first.id, last.id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(name: &str) -> String {
        read("--only", &[name.to_owned()]).unwrap_err().message
    }

    #[test]
    fn ids_and_groups_are_known_in_any_letter_case() {
        let names = [" ens-02", "", "Drg", "CLB-01 "].map(str::to_owned);
        assert_eq!(read("--only", &names).unwrap(), ["ENS-02", "DRG", "CLB-01"]);
        assert_eq!(checks(&["ens-02".to_owned()]).unwrap()[0].id, "ENS-02");
    }

    #[test]
    fn similar_names_are_suggested() {
        for (name, meant) in [
            ("ENS2", "did you mean ENS-02?"),
            ("ens_02", "did you mean ENS-02?"),
            ("EMS-02", "did you mean ENS-02?"),
            ("ensb", "did you mean ENS?"),
            ("ENS-99", "did you mean ENS?"),
        ] {
            assert!(wrong(name).contains(meant), "{name}: {}", wrong(name));
        }
        let far = wrong("weather");
        assert!(far.starts_with("--only: no check and no group has the id \"weather\""));
        assert!(!far.contains("did you mean"), "{far}");
        let id = checks(&["ENS-99".to_owned()]).unwrap_err().message;
        assert!(id.contains("did you mean one of ENS-01 to ENS-11?"), "{id}");
        assert!(wrong(&"x".repeat(1 << 20)).len() < 200);
    }
}
