"""Reads the Rust sources of the checkout for `.ci/size` and `.ci/structure`: crates, and lines by what they are."""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent


def git_files(pattern):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", pattern], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


CRATES = sorted((str(pathlib.Path(name).parent) for name in git_files("*Cargo.toml")), key=len, reverse=True)


def crate_of(path):
    return next((crate for crate in CRATES if path.startswith(crate + "/")), ".")


def is_test(path):
    """Files in folders named tests, benches, examples or fuzz, files named tests.rs or test.rs, and everything in the
    crates below tests/ but the conformance kit."""
    crate = crate_of(path)
    if crate.startswith("tests/") and crate != "tests/conformance":
        return True
    parts = pathlib.Path(path).relative_to(crate).parts
    return any(part in ("tests", "benches", "fuzz", "examples") for part in parts[:-1]) or parts[-1] in ("tests.rs", "test.rs")


def production():
    """The paths of production sources, templates of projects included."""
    return [path for path in git_files("*.rs") if not is_test(path)]


def blank(text):
    """Blanks comments and the inside of strings, and keeps line breaks. \\x01 marks a line with a comment."""
    out, i, n = [], 0, len(text)
    while i < n:
        c, two = text[i], text[i:i + 2]
        starts_word = i == 0 or not (text[i - 1].isalnum() or text[i - 1] == "_")
        raw = re.match(r'b?r(#*)"', text[i:i + 12]) if c in "br" and starts_word else None
        if two == "//":
            end = text.find("\n", i)
            out.append("\x01")
            i = n if end < 0 else end
        elif two == "/*":
            depth, end = 1, i + 2
            while end < n and depth:
                step = {"/*": 1, "*/": -1}.get(text[end:end + 2], 0)
                depth, end = depth + step, end + (2 if step else 1)
            out.append("\x01" + "\n\x01" * text.count("\n", i, end))
            i = end
        elif raw:
            close = '"' + raw[1]
            end = text.find(close, i + raw.end())
            end = n if end < 0 else end + len(close)
            out.append('""' + '\n""' * text.count("\n", i, end))
            i = end
        elif c == '"':
            end = i + 1
            while end < n and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append('""' + '\n""' * text.count("\n", i, end))
            i = end + 1
        elif c == "'" and (char := re.match(r"'(\\.[^']*|[^\\'])'", text[i:i + 12])):
            out.append("''")
            i += char.end()
        else:
            out.append(c)
            i += 1
    return "".join(out)


def lines(path):
    """For each line its kind (`code`, `comment`, `test` or `blank`) and its text without comments and strings."""
    found = []
    depth = armed = inside = 0
    for line in blank((ROOT / path).read_text(encoding="utf-8")).split("\n"):
        bare = line.replace("\x01", "").strip()
        if not bare:
            found.append(("comment" if "\x01" in line else "blank", ""))
            continue
        if not inside and re.search(r"#\[cfg\((all\()?test", bare):
            armed = 1
        if armed and not inside and "{" in bare:
            inside, depth, armed = 1, 0, 0
        if inside:
            depth += bare.count("{") - bare.count("}")
            inside = depth > 0
            found.append(("test", ""))
        elif armed and bare.endswith(";"):
            armed = 0
            found.append(("test", ""))
        else:
            found.append(("code", line.replace("\x01", "")))
    return found
