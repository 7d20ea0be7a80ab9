//! Texts that others wrote, on a terminal.

/// Adds a line. Control characters, which would act on the terminal or look like other lines, become spaces.
pub fn push_line(text: &mut String, line: &str) {
    text.extend(
        line.chars()
            .map(|it| if it.is_control() { ' ' } else { it }),
    );
    text.push('\n');
}
