//! Words for text that is no TOML. The parser's own messages speak of its grammar; these speak of what people write instead:
//! other languages, words without quotes, commas in numbers.

/// What is wrong with a line, and what should stand there.
pub(super) struct Wrong {
    pub what: String,
    pub expected: String,
    /// Whether the whole text is of another language, so that one message says it all.
    pub whole_text: bool,
}

impl Wrong {
    fn line(what: &str, expected: String) -> Option<Self> {
        Some(Wrong { what: what.to_string(), expected, whole_text: false })
    }

    fn text(language: &str) -> Option<Self> {
        let expected = "TOML, as `[device]` and below it `preset = \"x25m\"`".to_string();
        Some(Wrong { what: format!("{language}, not TOML"), expected, whole_text: true })
    }
}

/// Finds the words for a line of a text, in which the parser found a fault with this `message`.
pub(super) fn wrong(text: &str, line: &str, message: &str) -> Wrong {
    let known = language(text, line).or_else(|| twice(line, message)).or_else(|| signs(line)).or_else(|| value(line));
    known.unwrap_or_else(|| Wrong {
        what: format!("not TOML: {}", message.lines().collect::<Vec<_>>().join(", ")),
        expected: "`key = value` lines under `[table]` headers".to_string(),
        whole_text: false,
    })
}

/// Another language than TOML.
fn language(text: &str, line: &str) -> Option<Wrong> {
    if text.trim_start().starts_with('{') {
        return Wrong::text("JSON");
    }
    let (key, rest) = line.split_once(':').filter(|(key, _)| is_key(key))?;
    match rest.trim() {
        "" => Wrong::text("YAML"),
        value => Wrong::line("a colon", format!("`{key} = {value}`")),
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || "_-.".contains(one))
}

/// A key or a table that is there already.
fn twice(line: &str, message: &str) -> Option<Wrong> {
    if !message.contains("duplicate key") {
        return None;
    }
    let each = if line.starts_with('[') { "each table once, with all its keys below it" } else { "each key once" };
    Wrong::line("given twice", each.to_string())
}

/// Signs that are wrong wherever they stand.
fn signs(line: &str) -> Option<Wrong> {
    const CURLY: [char; 4] = ['\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}'];
    if line.contains(CURLY) {
        return Wrong::line("curly quotes", format!("`{}`", line.replace(CURLY, "\"")));
    }
    if line.starts_with('[') && !line.contains(']') {
        return Wrong::line("the bracket is not closed", format!("`{line}]`"));
    }
    if let Some((key, value)) = line.split_once("==") {
        return Wrong::line("two equals signs", format!("`{} = {}`", key.trim(), value.trim()));
    }
    let (before, comment) = line.split_once(" //")?;
    Wrong::line("a comment begins with #", format!("`{} #{comment}`", before.trim()))
}

/// A value that is no value of TOML.
fn value(line: &str) -> Option<Wrong> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
    let opens = value.starts_with('"') && value.matches('"').count() == 1;
    if opens {
        return Wrong::line("the closing quote is missing", format!("`{key} = {value}\"`"));
    }
    if let Some(logical) = ["true", "false"].into_iter().find(|name| value.eq_ignore_ascii_case(name)) {
        return Wrong::line("true and false have small letters", format!("`{key} = {logical}`"));
    }
    if let Some((whole, part)) = value.split_once(',').filter(|(whole, part)| is_number(whole) && is_number(part)) {
        return Wrong::line("a comma in a number", format!("`{key} = {whole}.{part}`"));
    }
    let begins = value.starts_with(|first: char| first.is_alphanumeric() || "/.~_".contains(first));
    let is_word = value.contains(|one: char| one.is_alphabetic() || one == '/' || one == '%');
    let plain = ["inf", "nan"].contains(&value) || value.contains(['"', '\'', '[', '{', '=']);
    if begins && is_word && !plain {
        return Wrong::line(
            "text without quotes",
            format!("quotes around what is no plain number: `{key} = \"{value}\"`"),
        );
    }
    None
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_instead_of_toml() {
        for (line, what, expected) in [
            ("channels: 4", "a colon", "`channels = 4`"),
            ("channels == 4", "two equals signs", "`channels = 4`"),
            ("channels = 4 // four", "a comment begins with #", "`channels = 4 # four`"),
            ("preset = \u{201c}x25m\u{201d}", "curly quotes", "`preset = \"x25m\"`"),
            ("preset = \"x25m", "the closing quote is missing", "`preset = \"x25m\"`"),
            ("[device", "the bracket is not closed", "`[device]`"),
            ("op_ratio = 0,2", "a comma in a number", "`op_ratio = 0.2`"),
            ("preemptible=True", "true and false have small letters", "`preemptible = true`"),
            ("preset = x25m", "text without quotes", "quotes around what is no plain number: `preset = \"x25m\"`"),
            ("channels = 4 4", "not TOML: m", "`key = value` lines under `[table]` headers"),
        ] {
            let wrong = wrong(line, line, "m");
            assert_eq!((&*wrong.what, &*wrong.expected, wrong.whole_text), (what, expected, false), "{line}");
        }
        for (text, line, language) in
            [("{\"device\": 1}", "{\"device\": 1}", "JSON"), ("device:\n  preset: x25m", "device:", "YAML")]
        {
            let wrong = wrong(text, line, "m");
            assert!(wrong.what.starts_with(language) && wrong.whole_text, "{}", wrong.what);
        }
        assert_eq!(wrong("", "[device]", "duplicate key").what, "given twice");
    }
}
