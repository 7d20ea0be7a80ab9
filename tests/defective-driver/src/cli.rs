//! The mock driver's command with the flags for defects. A binary that offers the command calls
//! [`run`].

use crate::{Defect, Defects};
use mock_driver::MockError;
use mock_driver::cli::MockDriverArgs;

/// Runs the mock cloud and its driver until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
pub struct DefectiveDriverArgs {
    /// The flags of the right driver.
    #[command(flatten)]
    pub mock: MockDriverArgs,

    /// Misbehave on purpose in this way, to test what judges drivers; may be given several times
    #[arg(
        long = "defect",
        env = "LBCF_MOCK_DEFECT",
        value_name = "ID",
        value_delimiter = ','
    )]
    pub defects: Vec<Defect>,

    /// List the defects and the conformance checks that find them, and end
    #[arg(long, env = "LBCF_MOCK_LIST_DEFECTS")]
    pub list_defects: bool,
}

/// Lists the defects, or serves until Ctrl-C, SIGTERM or a defect ends the driver.
///
/// # Errors
/// [`MockError`], when the server cannot start or standard output cannot be written.
pub async fn run(args: DefectiveDriverArgs) -> Result<(), MockError> {
    if args.list_defects {
        return list_defects(&mut std::io::stdout().lock()).map_err(MockError::Output);
    }
    mock_driver::cli::run(args.mock, Defects::new(args.defects)).await
}

/// One line for each: its id, what is wrong, and the checks that find it.
fn list_defects(out: &mut impl std::io::Write) -> std::io::Result<()> {
    let ids = Defect::ALL.iter().map(|defect| defect.id().len());
    let width = ids.max().unwrap_or_default();
    for defect in Defect::ALL {
        let (id, checks) = (defect.id(), defect.found_by().join(" "));
        writeln!(out, "{id:width$}  {} [{checks}]", defect.about())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: DefectiveDriverArgs,
    }

    #[test]
    fn defects_are_named_by_flags_and_unknown_ones_rejected() {
        let args = [
            "lbcf",
            "--defect",
            "http-201",
            "--defect",
            "addr-random,null-500",
        ];
        assert_eq!(
            Command::parse_from(args).args.defects,
            [Defect::Http201, Defect::AddrRandom, Defect::Null500]
        );
        let error = Command::try_parse_from(["lbcf", "--defect", "adr-random"]);
        let error = error.err().unwrap();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("addr-random"), "{error}");
        assert!(error.to_string().contains("--list-defects"), "{error}");
    }

    #[test]
    fn the_list_has_a_line_for_each_defect() {
        let mut list = Vec::new();
        list_defects(&mut list).unwrap();
        let list = String::from_utf8(list).unwrap();
        assert_eq!(list.lines().count(), Defect::ALL.len());
        assert!(list.contains("\nhttp-201 "), "{list}");
        assert!(list.contains(" [WIRE-01]\n"), "{list}");
    }
}
