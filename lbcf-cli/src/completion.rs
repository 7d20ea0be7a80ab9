//! Completion for `kubectl lbcf`: kubectl runs a program of the name `kubectl_complete-lbcf` with the words so far, and reads a
//! candidate from each line; the last line says that these are all.

use clap::Command;
use std::path::Path;

const PROGRAM: &str = "kubectl_complete-lbcf";
/// Files are no candidates.
const NO_FILES: &str = ":4";

/// The candidates, if the program runs under that name.
pub(crate) fn of_kubectl(
    mut words: impl Iterator<Item = String>,
    command: &mut Command,
) -> Option<String> {
    let program = words.next()?;
    if Path::new(&program).file_stem()? != PROGRAM {
        return None;
    }
    let words: Vec<String> = words.collect();
    let (begun, before) = words
        .split_last()
        .map_or(("", &[][..]), |(last, before)| (last, before));
    command.build();
    let mut of = &*command;
    for word in before {
        of = of.find_subcommand(word).unwrap_or(of);
    }
    let flags = of
        .get_arguments()
        .filter_map(|it| Some(format!("--{}", it.get_long()?)));
    let subcommands = of.get_subcommands().map(|it| it.get_name().to_owned());
    let candidates = subcommands.chain(flags).filter(|it| it.starts_with(begun));
    let mut lines: Vec<String> = candidates
        .filter(|it| !begun.is_empty() || !it.starts_with('-'))
        .collect();
    lines.push(NO_FILES.to_owned());
    Some(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubectl_gets_commands_and_flags() {
        let complete = |words: &str| {
            let words = words.split(' ').map(str::to_owned);
            of_kubectl(words, &mut crate::command())
        };
        assert_eq!(complete("/usr/bin/lbcf why"), None);
        assert_eq!(
            complete("/bin/kubectl_complete-lbcf wh").as_deref(),
            Some("why\n:4\n")
        );
        assert_eq!(
            complete("kubectl_complete-lbcf why --all").as_deref(),
            Some("--all-namespaces\n:4\n")
        );
        let all = complete("kubectl_complete-lbcf ").unwrap();
        assert!(
            all.starts_with("demo\n") && all.ends_with(":4\n") && !all.contains("--"),
            "{all}"
        );
        assert_eq!(
            complete("kubectl_complete-lbcf why nothing").as_deref(),
            Some(":4\n")
        );
    }
}
