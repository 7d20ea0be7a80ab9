//! `lbcf-controller`: see the library's `cli`.

fn main() -> std::process::ExitCode {
    lbcf_controller::cli::main()
}
