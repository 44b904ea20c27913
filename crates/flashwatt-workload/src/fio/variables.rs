//! Variables of the environment in a job file: `${NAME}`.

/// The text with the values of its variables, and a warning for each value. A variable that `value_of` does not know stays as it is.
pub(super) fn expanded(text: &str, file: &str, value_of: impl Fn(&str) -> Option<String>) -> (String, Vec<String>) {
    let (mut out, mut warnings) = (String::with_capacity(text.len()), Vec::new());
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_start().starts_with(['#', ';']) {
            out.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some((before, name, after)) = first(rest) {
            out.push_str(before);
            match value_of(name).filter(|value| !value.contains(char::is_control)) {
                Some(value) => {
                    warnings.push(format!("{file}:{}: ${{{name}}} is `{value}`, from the environment", number + 1));
                    out.push_str(&value);
                }
                None => out.push_str(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        out.push_str(rest);
    }
    (out, warnings)
}

/// The text before the first variable, its name, and the text behind it.
fn first(text: &str) -> Option<(&str, &str, &str)> {
    let (before, from_name) = text.split_once("${")?;
    let (name, after) = from_name.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_for_their_variables() {
        let value_of = |name: &str| match name {
            "BS" => Some("8k".to_string()),
            "LINES" => Some("4k\nrw=write".to_string()),
            _ => None,
        };
        let (text, warnings) =
            expanded("# ${BS}\n[a]\nbs=${BS},${BS}\nrw=${RW}x\nsize=${LINES}\nbad=${", "j", value_of);
        assert_eq!(text, "# ${BS}\n[a]\nbs=8k,8k\nrw=${RW}x\nsize=${LINES}\nbad=${");
        assert_eq!(warnings, ["j:3: ${BS} is `8k`, from the environment"; 2]);
    }
}
