//! `docs/trace-formats.md` agrees with the registry of trace formats: one section for each, with the same facts.

use std::path::Path;

use flashwatt_workload::trace::{FORMATS, Format};

/// The sections of the page as `(name, text)`.
fn sections() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace-formats.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let sections = page.split("\n## ").skip(1).map(|section| section.split_once('\n').expect("more than a name"));
    sections.map(|(name, text)| (name.to_string(), text.to_string())).collect()
}

/// The sample in the section's code fence: its text, or for a binary format the bytes given in hexadecimal.
fn sample(section: &str, format: &Format) -> Vec<u8> {
    let fenced = section.split("```\n").nth(1).unwrap_or_else(|| panic!("{}: no sample", format.name));
    if !format.example.contains(&0) {
        return fenced.as_bytes().to_vec();
    }
    let byte = |digits| u8::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{}: {digits}", format.name));
    fenced.split_whitespace().map(byte).collect()
}

#[test]
fn every_format_has_its_section_and_no_other_has() {
    let sections = sections();
    let named: Vec<_> = sections.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "All formats").collect();
    assert_eq!(named, FORMATS.iter().map(|format| format.name).collect::<Vec<_>>());
}

#[test]
fn sections_say_what_the_program_knows() {
    for (name, text) in sections() {
        let Some(format) = FORMATS.iter().find(|format| format.name == name) else { continue };
        let has = |words: &str| assert!(text.contains(words), "{name}: {words}");
        has(&format!("- **Columns:** {}\n", format.columns));
        has("- **Recognised by:** ");
        has("- **Source:** ");
        let names = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if !format.aliases.is_empty() {
            has(&format!("- **Other names:** {}\n", names(format.aliases)));
        }
        if !format.events.is_empty() {
            has(&format!("- **Events:** {} (", names(format.events)));
        }
        let points: Vec<_> = match format.events {
            [] => vec![format.logged_at(0).name().to_string()],
            events => (0..).zip(events).map(|(at, name)| format!("`{name}` {}", format.logged_at(at).name())).collect(),
        };
        has(&format!("- **Logged at:** {}", points.join(", ")));
        assert_eq!(text.contains("**Not tried on a real file.**"), !format.tried, "{name}");
        let shown = sample(&text, format);
        assert!(shown == format.example, "{name}: {}", shown.escape_ascii());
        assert!((format.detect)(&shown), "{name}");
    }
}

/// The page explains every key of `[workload.trace]`. The keys come from the message about an unknown key.
#[test]
fn every_key_is_explained() {
    let page = sections().remove(0).1;
    let Err(error) = flashwatt::config::load("", "t", &["workload.trace.nonsense=1".to_string()]) else { panic!() };
    let message = error.to_string();
    let keys = message.split("expected one of ").nth(1).and_then(|rest| rest.split(';').next()).expect("the keys");
    let keys: Vec<_> = keys.split(", ").collect();
    assert!(keys.len() >= 14, "{message}");
    for key in keys {
        assert!(page.contains(key), "{key}");
    }
}
