//! From the text of a program to its words.

use flashwatt_base::error::{Fault, Place};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name, a number or a path.
    Word,
    /// A text in quotation marks, without them.
    Text,
    /// A name behind a `$`, without it.
    Variable,
    /// One of `= , { } ( )`.
    Sign,
    /// Behind the last token.
    End,
}

/// A word of a program, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub line: u32,
    /// Whether it is the first of its line.
    pub first: bool,
}

impl Token<'_> {
    /// Whether this is that sign.
    pub fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// What an error message says was found.
    pub fn shown(&self) -> String {
        match self.kind {
            Kind::Word | Kind::Sign => format!("`{}`", self.text),
            Kind::Text => format!("\"{}\"", self.text),
            Kind::Variable => format!("`${}`", self.text),
            Kind::End => "the end of the file".to_string(),
        }
    }
}

/// The place of a line.
pub(super) fn place(file: &str, line: u32) -> Place {
    Place { file: Some(file.to_string()), line: Some(u64::from(line)), ..Place::default() }
}

/// The tokens of a text; the last one is [`Kind::End`]. Adds a fault for each character and each text that cannot be read.
pub(super) fn tokens<'a>(text: &'a str, file: &str, faults: &mut Vec<Fault>) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut last = 1;
    for (line, text) in (1..).zip(text.lines()) {
        line_tokens(text, line, &mut tokens).unwrap_or_else(|unread| faults.push(unread.at(place(file, line))));
        last = line;
    }
    tokens.push(Token { kind: Kind::End, text: "", line: last, first: true });
    tokens
}

/// What of a line cannot be read.
enum Unread<'a> {
    Character(char),
    Text(&'a str),
    Variable(&'a str),
}

impl Unread<'_> {
    fn at(self, place: Place) -> Fault {
        match self {
            Unread::Character(found) => Fault::at(place, "a character that is not of the language")
                .found(format!("`{found}`"))
                .expected("a name, a number, a text in quotation marks, or one of `=` `,` `{` `}` `(` `)` `#`"),
            Unread::Text(found) => {
                Fault::at(place, "the text is not closed").found(format!("\"{found}")).expected("a closing `\"`")
            }
            Unread::Variable(found) => {
                Fault::at(place, "not a variable").found(format!("`{found}`")).expected("`$name` or `${name}`")
            }
        }
    }
}

fn line_tokens<'a>(line_text: &'a str, line: u32, tokens: &mut Vec<Token<'a>>) -> Result<(), Unread<'a>> {
    let before = tokens.len();
    let mut rest = line_text.trim_start();
    while let Some(next) = rest.chars().next() {
        let (kind, text, after) = match next {
            '#' => return Ok(()),
            '"' => quoted(rest)?,
            '$' => variable(rest)?,
            '=' | ',' | '{' | '}' | '(' | ')' => (Kind::Sign, &rest[..1], &rest[1..]),
            _ if is_word(next) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                (Kind::Word, &rest[..end], &rest[end..])
            }
            _ => return Err(Unread::Character(next)),
        };
        tokens.push(Token { kind, text, line, first: tokens.len() == before });
        rest = after.trim_start();
    }
    Ok(())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./:;-+".contains(c)
}

/// A token and the text behind it.
type Cut<'a> = (Kind, &'a str, &'a str);

/// A text in quotation marks. `\"` does not end it.
fn quoted(text: &str) -> Result<Cut<'_>, Unread<'_>> {
    let body = &text[1..];
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            '"' if !escaped => return Ok((Kind::Text, &body[..at], &body[at + 1..])),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    Err(Unread::Text(body))
}

/// `$name`, `${name}` or `$(name)`.
fn variable(text: &str) -> Result<Cut<'_>, Unread<'_>> {
    let (body, close) = match text[1..].chars().next() {
        Some('{') => (&text[2..], Some('}')),
        Some('(') => (&text[2..], Some(')')),
        _ => (&text[1..], None),
    };
    let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
    let (name, after) = body.split_at(end);
    match close.map_or(Some(after), |close| after.strip_prefix(close)) {
        Some(after) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => Ok((Kind::Variable, name, after)),
        _ => Err(Unread::Variable(text.split_whitespace().next().unwrap_or(text))),
    }
}
