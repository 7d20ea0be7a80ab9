//! `lbcf`: see the library's front page.

fn main() -> std::process::ExitCode {
    lbcf_cli::main()
}
