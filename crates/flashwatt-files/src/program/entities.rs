//! From tokens to the entities that `define` defines.

use super::lexer::{Kind, Token};
use super::parser::{Parsed, Parser};
use super::script::{Assigned, Block, ProcessBlock, ThreadBlock};
use super::words;
use flashwatt_base::error::nearest;
use flashwatt_base::settings::unknown_name;

impl<'a> Parser<'a, '_> {
    /// What stands behind `define`.
    pub fn define(&mut self) -> Parsed<()> {
        let word = self.take();
        match word.text {
            "fileset" | "filesets" => {
                let block = self.block("define fileset", word, &words::FILESET)?;
                self.script.filesets.push(block);
            }
            "file" | "files" => {
                let block = self.block("define file", word, &words::FILE)?;
                self.script.filesets.push(block);
            }
            "randvar" => {
                let block = self.block("randvar", word, &words::RANDVAR)?;
                let name = block.get(&["name"]).and_then(|name| name.value).filter(|name| name.kind == Kind::Variable);
                let missing =
                    || Box::new(self.fault(word, "a random variable without a name").expected("`name=$variable`"));
                let name = name.ok_or_else(missing)?;
                self.script.variables.insert(name.text, Assigned::Randvar(block));
            }
            "process" | "processes" => {
                let process = self.process(word)?;
                self.script.processes.push(process);
            }
            "flowop" => {
                let fault = self.fault(word, "a composite flow operation is not supported").found("`define flowop`");
                return Err(Box::new(fault.help("write its flow operations into the thread")));
            }
            name => {
                let fault = self.fault(word, "unknown entity");
                return Err(Box::new(unknown_name(fault, name, &["fileset", "file", "process", "randvar"])));
            }
        }
        Ok(())
    }

    fn process(&mut self, word: Token<'a>) -> Parsed<ProcessBlock<'a>> {
        let block = self.block("define process", word, &words::PROCESS)?;
        let open = self.expect("{", "a process without threads")?;
        let mut threads = Vec::new();
        while self.peek().kind == Kind::Word && self.peek().text == "thread" {
            let word = self.take();
            match self.thread(word) {
                Ok(thread) => threads.push(thread),
                Err(fault) => {
                    self.faults.push(*fault);
                    self.recover(&["thread"]);
                }
            }
        }
        self.close(open, "thread")?;
        Ok(ProcessBlock { block, threads })
    }

    fn thread(&mut self, word: Token<'a>) -> Parsed<ThreadBlock<'a>> {
        let block = self.block("thread", word, &words::THREAD).unwrap_or_else(|fault| {
            self.faults.push(*fault);
            while !self.peek().is_sign("{") && self.peek().kind != Kind::End {
                self.take();
            }
            Block { of: "thread", line: word.line, attributes: Vec::new() }
        });
        let open = self.expect("{", "a thread without flow operations")?;
        let mut flowops = Vec::new();
        while self.peek().kind == Kind::Word && self.peek().text == "flowop" {
            self.take();
            match self.flowop() {
                Ok(flowop) => flowops.push(flowop),
                Err(fault) => {
                    self.faults.push(*fault);
                    self.recover(&["flowop", "thread", "}"]);
                }
            }
        }
        self.close(open, "flowop")?;
        Ok(ThreadBlock { block, flowops })
    }

    /// The end of a list of these, which began with a brace.
    fn close(&mut self, open: Token<'a>, of: &str) -> Parsed<()> {
        let found = self.peek();
        if found.is_sign("}") {
            self.take();
            return Ok(());
        }
        let near = nearest(found.text, [of]).filter(|_| found.kind == Kind::Word);
        let fault = self.fault(found, format!("the brace of line {} is not closed", open.line)).found(found.shown());
        Err(Box::new(fault.expected(format!("`{of}` or `}}`")).nearest(near)))
    }

    fn flowop(&mut self) -> Parsed<Block<'a>> {
        let kind = self.value("flowop")?;
        if let Some((_, help)) = words::UNSUPPORTED_FLOWOPS.iter().find(|(name, _)| *name == kind.text) {
            let fault = self.fault(kind, "a flow operation that is not supported").found(kind.shown());
            return Err(Box::new(fault.help(*help)));
        }
        if !words::FLOWOPS.contains(&kind.text) {
            return Err(Box::new(unknown_name(self.fault(kind, "unknown flow operation"), kind.text, words::FLOWOPS)));
        }
        self.block(kind.text, kind, &words::FLOWOP)
    }
}
