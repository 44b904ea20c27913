//! From tokens to statements.

use super::lexer::{Kind, Token, place, tokens};
use super::script::{Assigned, Attribute, Block, Quit, Run, Script, attribute_fault};
use super::words::{self, Attributes};
use flashwatt_base::error::Fault;
use flashwatt_base::settings::unknown_name;

pub(super) type Parsed<T> = Result<T, Box<Fault>>;

/// Parses a program. Adds a fault for each statement that is not understood.
pub(super) fn parse<'a>(text: &'a str, file: &'a str, faults: &mut Vec<Fault>) -> Script<'a> {
    let tokens = tokens(text, file, faults);
    if !faults.is_empty() {
        return Script::default(); // without all words the rest would only seem wrong
    }
    let mut parser = Parser { tokens, at: 0, file, faults, script: Script::default() };
    while parser.peek().kind != Kind::End {
        if let Err(fault) = parser.statement() {
            parser.faults.push(*fault);
            parser.recover(&[]);
        }
    }
    parser.script
}

pub(super) struct Parser<'a, 'f> {
    tokens: Vec<Token<'a>>,
    at: usize,
    file: &'a str,
    pub faults: &'f mut Vec<Fault>,
    pub script: Script<'a>,
}

/// Whether a statement begins with this word.
fn begins_statement(word: &str) -> bool {
    let unsupported = words::UNSUPPORTED.iter().any(|(name, _)| *name == word);
    words::STATEMENTS.contains(&word) || words::WITHOUT_EFFECT.contains(&word) || unsupported
}

impl<'a> Parser<'a, '_> {
    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    pub fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn fault(&self, token: Token<'_>, what: impl Into<String>) -> Fault {
        Fault::at(place(self.file, token.line), what)
    }

    pub fn expect(&mut self, sign: &str, what: &str) -> Parsed<Token<'a>> {
        let found = self.peek();
        if found.is_sign(sign) {
            return Ok(self.take());
        }
        Err(Box::new(self.fault(found, what).found(found.shown()).expected(format!("`{sign}`"))))
    }

    /// A word, a text or a variable.
    pub fn value(&mut self, of: &str) -> Parsed<Token<'a>> {
        let found = self.peek();
        if matches!(found.kind, Kind::Sign | Kind::End) {
            let fault = self.fault(found, format!("{of} has no value")).found(found.shown());
            return Err(Box::new(fault.expected("a number, a name, a text in quotation marks or a `$variable`")));
        }
        Ok(self.take())
    }

    /// Goes on to the next line that begins with a statement, or with one of these words.
    pub fn recover(&mut self, words: &[&str]) {
        loop {
            let token = self.peek();
            let stops = token.kind == Kind::Word
                && (begins_statement(token.text) && token.text != "flowop" && token.text != "thread");
            if token.kind == Kind::End || (token.first && (stops || words.contains(&token.text))) {
                return;
            }
            self.take();
        }
    }

    fn statement(&mut self) -> Parsed<()> {
        let word = self.take();
        if self.script.run.is_some() && !words::WITHOUT_EFFECT.contains(&word.text) {
            let fault = self.fault(word, "a statement behind `run`, which ends a program").found(word.shown());
            return Err(Box::new(fault.help("write it above `run`")));
        }
        match (word.kind, word.text) {
            (Kind::Word, "set") => self.set(),
            (Kind::Word, "define") => self.define(),
            (Kind::Word, "eventgen") => {
                let block = self.block("eventgen", word, &words::EVENTGEN)?;
                self.script.events = Some(block);
                Ok(())
            }
            (Kind::Word, "run") => self.run(false),
            (Kind::Word, "psrun") => self.run(true),
            (Kind::Word, "system") => self.system(),
            (Kind::Word, "echo" | "usage") => self.message(word),
            (Kind::Word, "debug") => self.value("debug").map(drop),
            (Kind::Word, "version") => Ok(()),
            (Kind::Word, "create") => {
                self.one_of("create", &["files", "file", "fileset", "filesets", "processes", "process"]).map(drop)
            }
            (Kind::Word, "enable") => self.one_of("enable", &["lathist"]).map(drop),
            _ => Err(Box::new(self.unknown_statement(word))),
        }
    }

    fn unknown_statement(&self, word: Token<'a>) -> Fault {
        if let Some((_, help)) = words::UNSUPPORTED.iter().find(|(name, _)| *name == word.text) {
            return self.fault(word, "a statement that is not supported here").found(word.shown()).help(*help);
        }
        let valid: Vec<_> = words::STATEMENTS.iter().chain(words::WITHOUT_EFFECT).copied().collect();
        let fault = self.fault(word, "unknown statement");
        match word.kind {
            Kind::Word => unknown_name(fault, word.text, &valid),
            _ => fault.found(word.shown()).expected(format!("a statement: {}", valid.join(", "))),
        }
    }

    /// One of these words.
    fn one_of(&mut self, of: &str, valid: &[&str]) -> Parsed<Token<'a>> {
        let word = self.value(of)?;
        if valid.contains(&word.text) {
            return Ok(word);
        }
        Err(Box::new(unknown_name(self.fault(word, format!("unknown word behind `{of}`")), word.text, valid)))
    }

    fn message(&mut self, of: Token<'a>) -> Parsed<()> {
        let text = self.take();
        if text.kind == Kind::Text {
            return Ok(());
        }
        let fault = self.fault(of, format!("`{}` without a text", of.text)).found(text.shown());
        Err(Box::new(fault.expected("a text in quotation marks")))
    }

    /// A command of the system. Files are clean and memory is empty when a run begins, so that `sync` and the dropping of
    /// caches change nothing.
    fn system(&mut self) -> Parsed<()> {
        let text = self.value("system")?;
        let parts = text.text.split([';', '&']).map(str::trim).filter(|part| !part.is_empty());
        let in_vain = |part: &str| part == "sync" || part.contains("drop_caches");
        if text.kind == Kind::Text && parts.clone().all(in_vain) {
            return Ok(());
        }
        let fault = self.fault(text, "a command that a simulation cannot carry out").found(text.shown());
        Err(Box::new(fault.expected("`sync` or the dropping of caches, which change nothing here")))
    }

    fn set(&mut self) -> Parsed<()> {
        let name = self.take();
        match (name.kind, name.text) {
            (Kind::Word, "mode") => self.mode(),
            (Kind::Variable, variable) => {
                self.expect("=", "the variable has no value")?;
                let assigned = self.assigned()?;
                self.script.variables.insert(variable, assigned);
                Ok(())
            }
            _ => {
                let fault = self.fault(name, "`set` without a variable").found(name.shown());
                Err(Box::new(fault.expected("`$name = value` or `mode quit timeout`")))
            }
        }
    }

    fn assigned(&mut self) -> Parsed<Assigned<'a>> {
        let word = self.value("the variable")?;
        if word.kind != Kind::Word || !self.peek().is_sign("(") {
            return Ok(Assigned::Value(word));
        }
        self.take();
        let assigned = match word.text {
            "randvar" => Assigned::Randvar(self.block("randvar", word, &words::RANDVAR)?),
            "cvar" => Assigned::Cvar(self.block("cvar", word, &words::CVAR)?),
            name => {
                let fault = self.fault(word, "unknown kind of variable");
                return Err(Box::new(unknown_name(fault, name, &["randvar", "cvar"])));
            }
        };
        self.expect(")", "the parenthesis is not closed")?;
        Ok(assigned)
    }

    fn mode(&mut self) -> Parsed<()> {
        self.one_of("set mode", &["quit"])?;
        let word = self.one_of("set mode quit", &["timeout", "firstdone", "alldone"])?;
        self.script.quit = match word.text {
            "firstdone" => Quit::FirstDone,
            "alldone" => Quit::AllDone,
            _ => Quit::Timeout,
        };
        Ok(())
    }

    /// `run [seconds]`, `psrun [period [seconds]]`: the period of filebench's printing has no meaning here.
    fn run(&mut self, periodic: bool) -> Parsed<()> {
        let mut number = || {
            let token = self.peek();
            let is_number = token.kind == Kind::Variable || (token.kind == Kind::Word && !begins_statement(token.text));
            (!token.first && is_number).then(|| self.take())
        };
        let (first, second) = (number(), if periodic { number() } else { None });
        self.script.run = Some(Run { seconds: if periodic { second } else { first } });
        Ok(())
    }

    /// The attributes behind a word, separated by commas.
    pub fn block(&mut self, of: &'a str, word: Token<'a>, table: &Attributes) -> Parsed<Block<'a>> {
        let mut attributes: Vec<Attribute<'a>> = Vec::new();
        loop {
            let attribute = self.attribute(table)?;
            if attributes.iter().any(|before| before.name == attribute.name) {
                let fault = self.fault(word, format!("an attribute of {of} that is given twice"));
                return Err(Box::new(fault.found(format!("`{}`", attribute.name))));
            }
            attributes.push(attribute);
            let next = self.peek();
            if next.is_sign(",") {
                self.take();
            } else if next.kind == Kind::Word && !begins_statement(next.text) {
                let fault = self.fault(next, "no comma between two attributes").found(next.shown());
                return Err(Box::new(fault.expected("`,`")));
            } else {
                return Ok(Block { of, line: word.line, attributes });
            }
        }
    }

    fn attribute(&mut self, table: &Attributes) -> Parsed<Attribute<'a>> {
        let name = self.take();
        if name.kind != Kind::Word || begins_statement(name.text) {
            let fault = self.fault(name, format!("an attribute of {} is missing", table.of)).found(name.shown());
            return Err(Box::new(fault.expected("`name=value`")));
        }
        let fault = self.fault(name, String::new()).found(name.shown());
        if let Some(fault) = attribute_fault(table, name.text, fault) {
            return Err(Box::new(fault));
        }
        if !self.peek().is_sign("=") {
            return Ok(Attribute { name: name.text, line: name.line, value: None });
        }
        self.take();
        let value = self.value(&format!("`{}`", name.text))?;
        Ok(Attribute { name: name.text, line: name.line, value: Some(value) })
    }
}
