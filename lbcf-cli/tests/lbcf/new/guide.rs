//! The commands that the SDK's guide and the tutorial list for a new author.

use super::{read, unused_path};
use crate::process::{lbcf, text};

/// The guide's chapter on the first driver.
const CHAPTER: &str = include_str!("../../../../lbcf-driver-sdk/src/docs/first_driver.md");

/// The name of the project there.
pub(super) const NAME: &str = "my-driver";

/// The lines of its blocks of shell commands, in order.
pub(super) fn commands() -> Vec<&'static str> {
    let blocks = CHAPTER.split("```sh\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).collect()
}

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");

/// The tutorial's commands in order, each with the lines of output that it shows.
pub(super) fn tutorial() -> Vec<&'static str> {
    let blocks = TUTORIAL.split("```console\n$ ").skip(1);
    let blocks = blocks.map(|rest| rest.split("\n```").next().unwrap());
    blocks.flat_map(|block| block.split("\n$ ")).collect()
}

#[test]
fn all_commands_of_the_tutorial_are_tested_and_those_of_the_guide_are_among_them() {
    let fences = TUTORIAL.matches("```").count();
    let of_commands = TUTORIAL.matches("```console\n$ ").count();
    let of_changes = TUTORIAL.matches("```rust\n").count();
    assert_eq!(fences, 2 * (of_commands + of_changes), "other blocks");
    let mut tutorial = tutorial().into_iter();
    for command in commands() {
        let is_it = |other: &str| other.lines().next() == Some(command);
        assert!(tutorial.any(is_it), "the tutorial lacks {command}");
    }
}

#[test]
fn the_guide_the_output_and_the_readme_have_the_same_commands() {
    let project = unused_path(NAME);
    let output = lbcf(&["new", NAME])
        .current_dir(project.path().parent().unwrap())
        .output()
        .unwrap();
    let (output, readme) = (text(&output.stdout), read(&project, "README.md"));
    let commands = commands();
    assert_eq!(commands.first(), Some(&"lbcf new my-driver"));
    assert!(commands.last().unwrap().starts_with("curl "));
    // The others are those of cargo and the shell.
    let is_own = |command: &&&str| command.starts_with("lbcf ") || command.starts_with("curl ");
    let own: Vec<_> = commands.iter().filter(is_own).skip(1).collect();
    assert_eq!(own.len(), 3, "{own:?}");
    for command in own {
        assert!(output.contains(command), "{command}\n{output}");
        assert!(readme.contains(command), "{command}\n{readme}");
    }
}
