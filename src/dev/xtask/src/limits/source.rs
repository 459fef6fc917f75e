// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts in Rust source text: unsafe sites, words of comments, lengths of functions, members of traits.

/// One line of source text, with comments apart from code.
#[derive(Debug, Default, PartialEq)]
pub struct Line {
    /// Code without comments and without the contents of string and character literals.
    pub code: String,
    /// Text of the comments, with their delimiters.
    pub comment: String,
}

#[derive(Debug, PartialEq)]
pub struct Function {
    pub name: String,
    /// Lines from the signature to the closing brace.
    pub lines: u64,
}

/// Separates the comments of Rust source text from its code.
pub fn split(text: &str) -> Vec<Line> {
    let chars: Vec<char> = text.chars().collect();
    let mut scanner = Scanner { chars: &chars, next: 0, lines: vec![Line::default()] };
    while scanner.next < chars.len() {
        scanner.item();
    }
    scanner.lines
}

/// Position in source text and the lines before it.
struct Scanner<'a> {
    chars: &'a [char],
    next: usize,
    lines: Vec<Line>,
}

/// Destination of a character.
#[derive(Clone, Copy)]
enum Part {
    Code,
    Comment,
    /// The contents of a literal, which are dropped.
    Literal,
}

impl Scanner<'_> {
    /// Returns the character at `offset` from the position, or NUL past the end.
    fn peek(&self, offset: usize) -> char {
        self.chars.get(self.next + offset).copied().unwrap_or('\0')
    }

    fn take(&mut self, count: usize, part: Part) {
        for _ in 0..count {
            let Some(&char) = self.chars.get(self.next) else { return };
            self.next += 1;
            let Some(line) = self.lines.last_mut() else { return };
            match part {
                _ if char == '\n' => self.lines.push(Line::default()),
                Part::Code => line.code.push(char),
                Part::Comment => line.comment.push(char),
                Part::Literal => {}
            }
        }
    }

    /// Consumes a comment, a literal or one character of code.
    fn item(&mut self) {
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => {
                while !matches!(self.peek(0), '\n' | '\0') {
                    self.take(1, Part::Comment);
                }
            }
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('r', '"' | '#') if self.begins_literal() => self.raw_string(),
            ('\'', '\\') => {
                self.take(1, Part::Code);
                self.take(2, Part::Literal);
                while !matches!(self.peek(0), '\'' | '\0') {
                    self.take(1, Part::Literal);
                }
                self.take(1, Part::Code);
            }
            ('\'', _) if self.peek(2) == '\'' => {
                self.take(1, Part::Code);
                self.take(1, Part::Literal);
                self.take(1, Part::Code);
            }
            _ => self.take(1, Part::Code),
        }
    }

    /// Consumes a block comment and the comments nested in it.
    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => {
                    depth += 1;
                    self.take(2, Part::Comment);
                }
                ('*', '/') => {
                    depth -= 1;
                    self.take(2, Part::Comment);
                }
                ('\0', _) => return,
                _ => self.take(1, Part::Comment),
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Consumes a string literal, but keeps its quotation marks.
    fn string(&mut self) {
        self.take(1, Part::Code);
        loop {
            match self.peek(0) {
                '\\' => self.take(2, Part::Literal),
                '"' => return self.take(1, Part::Code),
                '\0' => return,
                _ => self.take(1, Part::Literal),
            }
        }
    }

    /// Returns whether the `r` at the position can begin a literal: no identifier ends with it.
    fn begins_literal(&self) -> bool {
        let before = |offset: usize| self.next.checked_sub(offset).map_or(' ', |index| self.chars[index]);
        let in_name = |char: char| char.is_alphanumeric() || char == '_';
        !in_name(before(1)) || (matches!(before(1), 'b' | 'c') && !in_name(before(2)))
    }

    /// Consumes a raw string, or only the `r` of a raw identifier.
    fn raw_string(&mut self) {
        let mut hashes = 0;
        while self.peek(1 + hashes) == '#' {
            hashes += 1;
        }
        if self.peek(1 + hashes) != '"' {
            return self.take(1, Part::Code);
        }
        self.take(1, Part::Code);
        self.take(hashes, Part::Literal);
        self.take(1, Part::Code);
        while self.peek(0) != '\0' {
            if self.peek(0) == '"' && (1..=hashes).all(|offset| self.peek(offset) == '#') {
                self.take(1, Part::Code);
                return self.take(hashes, Part::Literal);
            }
            self.take(1, Part::Literal);
        }
    }
}

/// Returns the number of unsafe blocks, functions, implementations and extern items.
pub fn unsafe_sites(lines: &[Line]) -> u64 {
    let count = |line: &Line| {
        let words: Vec<&str> = line
            .code
            .split(|char: char| !char.is_alphanumeric() && !"_{".contains(char))
            .filter(|word| !word.is_empty())
            .collect();
        let is_site = |pair: &[&str]| pair[0] == "unsafe" && matches!(pair[1], "{" | "fn" | "impl" | "extern");
        words.windows(2).filter(|pair| is_site(pair)).count() as u64
            + words.iter().filter(|word| **word == "unsafe{").count() as u64
    };
    lines.iter().map(count).sum()
}

pub fn comment_words(lines: &[Line]) -> u64 {
    let is_word = |word: &&str| word.chars().any(|char| !"/!*".contains(char));
    lines.iter().map(|line| line.comment.split_whitespace().filter(is_word).count() as u64).sum()
}

/// Returns the outermost functions in formatted source text.
pub fn functions(lines: &[Line]) -> Vec<Function> {
    let mut found = Vec::new();
    let mut current: Option<(Function, &str)> = None;
    let mut has_body = false;
    for line in lines {
        let code = line.code.trim_end();
        if current.is_none() {
            let Some(name) = function_name(code.trim_start()) else { continue };
            let indent = &code[..code.len() - code.trim_start().len()];
            current = Some((Function { name, lines: 0 }, indent));
            has_body = false;
        }
        let Some((function, indent)) = &mut current else { continue };
        function.lines += 1;
        let is_end =
            if has_body { code.strip_prefix(*indent) == Some("}") } else { code.ends_with(';') || code.ends_with('}') };
        has_body |= code.ends_with('{');
        if is_end {
            found.extend(current.take().map(|(function, _)| function));
        }
    }
    found
}

/// Returns the name of the function whose signature begins with `code`; `None` if `code` begins no signature.
fn function_name(mut code: &str) -> Option<String> {
    loop {
        if let Some(rest) = code.strip_prefix("fn ") {
            let end = rest.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(rest.len());
            return Some(rest[..end].to_owned());
        }
        let (word, rest) = code.split_once(' ')?;
        let is_keyword = matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "\"\"");
        let is_visibility = word.starts_with("pub(") && word.ends_with(')');
        if !is_keyword && !is_visibility {
            return None;
        }
        code = rest;
    }
}

/// Returns the numbers of methods and of constants of a trait; `None` without such a trait.
pub fn trait_members(lines: &[Line], name: &str) -> Option<(u64, u64)> {
    let head = format!("pub trait {name}");
    let is_head = |line: &Line| {
        line.code.strip_prefix(&head).is_some_and(|rest| !rest.starts_with(|char: char| char.is_alphanumeric()))
    };
    let start = lines.iter().position(is_head)?;
    let (mut methods, mut constants) = (0, 0);
    for line in lines[start..].iter().take_while(|line| line.code != "}") {
        let Some(code) = line.code.strip_prefix("    ") else { continue };
        if function_name(code).is_some() {
            methods += 1;
        } else if code.starts_with("const ") {
            constants += 1;
        }
    }
    Some((methods, constants))
}
