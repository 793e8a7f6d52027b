//! Readers of request bodies: forms, JSON, multipart and XML. Each fills what it finds before an error, too, and takes
//! time linear in the body.

use memchr::memmem;

/// Receives what a body has.
pub trait Sink {
    fn argument(&mut self, name: &[u8], value: &[u8]);
    fn part_header(&mut self, part: &[u8], line: &[u8]);
    fn file(&mut self, field: &[u8], name: &[u8], size: usize);
    fn xml_attribute(&mut self, value: &[u8]);
    fn xml_text(&mut self, value: &[u8]);
}

fn hex_value(byte: Option<&u8>) -> Option<u8> {
    (*byte? as char).to_digit(16).map(|digit| digit as u8)
}

/// Decodes a name or value of a form; what is no valid escape stays.
pub fn decode_form(text: &[u8]) -> Vec<u8> {
    decode(text, b' ')
}

/// `plus`: what a plus sign stands for.
fn decode(text: &[u8], plus: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match (text[at], hex_value(text.get(at + 1)), hex_value(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(high << 4 | low);
                at += 2;
            }
            (b'+', ..) => out.push(plus),
            (byte, ..) => out.push(byte),
        }
        at += 1;
    }
    out
}

/// Calls back with each name and value.
pub fn read_form(text: &[u8], mut add: impl FnMut(&[u8], &[u8])) {
    for pair in text.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty()) {
        let equals = pair.iter().position(|&byte| byte == b'=');
        let (name, value) = equals.map_or((pair, &b""[..]), |at| (&pair[..at], &pair[at + 1..]));
        add(&decode_form(name), &decode_form(value));
    }
}

/// Cookies are not decoded. One without a name counts: some servers hand its value out.
pub fn read_cookies(text: &[u8], mut add: impl FnMut(&[u8], &[u8])) {
    for pair in text.split(|&byte| byte == b';') {
        let equals = pair.iter().position(|&byte| byte == b'=');
        let (name, value) = equals.map_or((pair, &b""[..]), |at| (&pair[..at], &pair[at + 1..]));
        let (name, value) = (trim_controls(name), trim_controls(value));
        if !(name.is_empty() && value.is_empty()) {
            add(name, value);
        }
    }
}

fn trim_controls(text: &[u8]) -> &[u8] {
    let is_kept = |byte: &u8| *byte > b' ' && *byte != 0x7f;
    let start = text.iter().position(is_kept).unwrap_or(text.len());
    let end = text.iter().rposition(is_kept).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Names of values are paths, such as `json.items.0.name`; an array's own name has its length. `deepest`: objects and
/// arrays inside each other.
pub fn read_json(text: &[u8], deepest: usize, sink: &mut impl Sink) -> Result<(), &'static str> {
    let mut reader = Json { text, at: 0, path: b"json".to_vec(), levels: Vec::new(), sink };
    reader.skip_space();
    let is_container = matches!(text.get(reader.at), Some(b'{' | b'['));
    if !is_container {
        reader.path.extend_from_slice(b".0");
    }
    let result = reader.value(deepest);
    while let Some(level) = reader.levels.pop() {
        reader.close(level);
    }
    result?;
    if !is_container {
        reader.sink.argument(b"json", b"1");
    }
    reader.skip_space();
    if reader.at < text.len() { Err("text behind the JSON value") } else { Ok(()) }
}

/// An object or array that is open.
struct Level {
    /// Length of its path.
    path: usize,
    /// Number of members of an array that are complete.
    count: Option<usize>,
    is_empty: bool,
}

/// Reads without recursion: the stack of the module is small.
struct Json<'a, S> {
    text: &'a [u8],
    at: usize,
    path: Vec<u8>,
    levels: Vec<Level>,
    sink: &'a mut S,
}

const INVALID: &str = "invalid JSON";

impl<S: Sink> Json<'_, S> {
    fn skip_space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, deepest: usize) -> Result<(), &'static str> {
        loop {
            self.skip_space();
            match self.text.get(self.at) {
                Some(b'{' | b'[') if self.levels.len() >= deepest => return Err("JSON is nested too deeply"),
                Some(b'{') => self.open(None),
                Some(b'[') => self.open(Some(0)),
                Some(b'"') => {
                    let mut text = Vec::new();
                    let result = self.string_into(&mut text);
                    // One that is not closed counts, too: of a long body the rest may not be there.
                    self.sink.argument(&self.path, &text);
                    result?;
                    self.end_value();
                }
                Some(_) => {
                    self.scalar()?;
                    self.end_value();
                }
                None => return Err(INVALID),
            }
            if !self.next_member()? {
                return Ok(());
            }
        }
    }

    fn open(&mut self, count: Option<usize>) {
        self.at += 1;
        self.levels.push(Level { path: self.path.len(), count, is_empty: true });
    }

    fn close(&mut self, level: Level) {
        self.path.truncate(level.path);
        if let Some(count) = level.count {
            self.sink.argument(&self.path, count.to_string().as_bytes());
        }
    }

    fn end_value(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.path.truncate(level.path);
            level.count = level.count.map(|count| count + 1);
        }
    }

    /// Goes to where the next member's value begins, out of what ends here; false behind the whole value.
    fn next_member(&mut self) -> Result<bool, &'static str> {
        loop {
            self.skip_space();
            let Some(level) = self.levels.last_mut() else { return Ok(false) };
            let (is_array, is_first) = (level.count.is_some(), level.is_empty);
            level.is_empty = false;
            if self.take(if is_array { b']' } else { b'}' }) {
                if let Some(level) = self.levels.pop() {
                    self.close(level);
                }
                self.end_value();
                continue;
            }
            if !is_first && !self.take(b',') {
                return Err(INVALID);
            }
            self.enter_member()?;
            return Ok(true);
        }
    }

    fn enter_member(&mut self) -> Result<(), &'static str> {
        let name = match self.levels.last() {
            Some(Level { count: Some(count), .. }) => count.to_string().into_bytes(),
            _ => {
                self.skip_space();
                let name = self.string()?;
                self.skip_space();
                if !self.take(b':') {
                    return Err(INVALID);
                }
                name
            }
        };
        self.path.push(b'.');
        self.path.extend_from_slice(&name);
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), &'static str> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        match text {
            b"null" => self.sink.argument(&self.path, b""),
            b"true" | b"false" => self.sink.argument(&self.path, text),
            _ if is_number(text) => self.sink.argument(&self.path, text),
            _ => return Err(INVALID),
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Vec<u8>, &'static str> {
        let mut out = Vec::new();
        self.string_into(&mut out)?;
        Ok(out)
    }

    fn string_into(&mut self, out: &mut Vec<u8>) -> Result<(), &'static str> {
        if !self.take(b'"') {
            return Err(INVALID);
        }
        loop {
            let byte = *self.text.get(self.at).ok_or(INVALID)?;
            self.at += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => self.escape(out)?,
                0..=0x1f => return Err(INVALID),
                _ => out.push(byte),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let byte = *self.text.get(self.at).ok_or(INVALID)?;
        self.at += 1;
        out.push(match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'u' => {
                let mut code = self.unit()?;
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
                    let at = self.at;
                    self.at += 2;
                    let low = self.unit()?;
                    if (0xdc00..0xe000).contains(&low) {
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    } else {
                        self.at = at;
                    }
                }
                let char = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(INVALID),
        });
        Ok(())
    }

    fn unit(&mut self) -> Result<u32, &'static str> {
        let mut code = 0;
        for _ in 0..4 {
            code = code << 4 | u32::from(hex_value(self.text.get(self.at)).ok_or(INVALID)?);
            self.at += 1;
        }
        Ok(code)
    }
}

/// A number as JSON has it.
pub fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest[0] == b'0' {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

struct Parameter {
    /// In lower case.
    name: Vec<u8>,
    value: Vec<u8>,
    is_quoted: bool,
    /// It is one word or in quotes, and nothing but the next parameter follows.
    is_whole: bool,
}

/// Parameters of a header such as Content-Type.
fn parameters(header: &[u8]) -> Vec<Parameter> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(semicolon) = rest.iter().position(|&byte| byte == b';') {
        rest = rest[semicolon + 1..].trim_ascii_start();
        let Some(equals) = rest.iter().position(|&byte| byte == b'=' || byte == b';') else { break };
        if rest[equals] == b';' {
            rest = &rest[equals..];
            continue;
        }
        let name = rest[..equals].trim_ascii().to_ascii_lowercase();
        rest = rest[equals + 1..].trim_ascii_start();
        let is_quoted = rest.first() == Some(&b'"');
        let value = take_value(&mut rest);
        rest = rest.trim_ascii_start();
        let is_one = is_quoted || !value.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'"');
        let is_whole = is_one && matches!(rest.first(), None | Some(b';'));
        found.push(Parameter { name, value, is_quoted, is_whole });
    }
    found
}

/// The first parameter with a name; an error if there is another one.
fn only<'p>(parameters: &'p [Parameter], name: &str) -> Result<Option<&'p Parameter>, &'static str> {
    let mut of_name = parameters.iter().filter(|parameter| parameter.name == name.as_bytes());
    let first = of_name.next();
    if of_name.next().is_some() { Err("a parameter is there twice") } else { Ok(first) }
}

fn take_value(rest: &mut &[u8]) -> Vec<u8> {
    let text = *rest;
    if text.first() != Some(&b'"') {
        let end = text.iter().position(|&byte| byte == b';').unwrap_or(text.len());
        *rest = &text[end..];
        return text[..end].trim_ascii().to_vec();
    }
    let (mut out, mut at) = (Vec::new(), 1);
    while at < text.len() && text[at] != b'"' {
        // Browsers send a backslash of a file name as it is: only quotes and backslashes are escaped.
        if text[at] == b'\\' && matches!(text.get(at + 1), Some(b'"' | b'\\')) {
            at += 1;
        }
        out.push(text[at]);
        at += 1;
    }
    *rest = &text[(at + 1).min(text.len())..];
    out
}

fn find(text: &[u8], part: &[u8], from: usize) -> Option<usize> {
    if part.is_empty() {
        return None;
    }
    memmem::find(text.get(from..)?, part).map(|at| at + from)
}

/// Finds where a line begins with the boundary; returns the place of the line end before it.
fn next_boundary(text: &[u8], line_mark: &memmem::Finder, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += line_mark.find(text.get(at..)?)?;
        let behind = at + line_mark.needle().len();
        if text.get(behind).is_none_or(|byte| b" \t\r\n-".contains(byte)) {
            return Some(at);
        }
        at = behind;
    }
}

/// Reads all parts that there are; fails, then, if another reader may find other ones.
pub fn read_multipart(content_type: &[u8], text: &[u8], sink: &mut impl Sink) -> Result<(), &'static str> {
    let of_type = parameters(content_type);
    let boundary = only(&of_type, "boundary")?.filter(|boundary| !boundary.value.is_empty()).ok_or("no boundary")?;
    let line_mark = [b"\n--".as_slice(), &boundary.value].concat();
    let finder = memmem::Finder::new(&line_mark);
    let mark = &line_mark[1..];
    let mut at = if text.starts_with(mark) { mark.len() } else { next_boundary(text, &finder, 0).ok_or("no part")? + line_mark.len() };
    let mut fault = Ok(());
    // Whether lines end with LF alone, as the first boundary says.
    let mut is_bare = None;
    loop {
        if text[at..].starts_with(b"--") {
            return fault;
        }
        while matches!(text.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let bare = text.get(at) == Some(&b'\n');
        if !bare && !text[at..].starts_with(b"\r\n") {
            return Err("a boundary without its line end");
        }
        let is_bare = *is_bare.get_or_insert(bare);
        let (lines, start) = part_head(text, at + if bare { 1 } else { 2 })?;
        let end = next_boundary(text, &finder, start - 1);
        let content = &text[start..end.unwrap_or(text.len()).max(start)];
        let whole = content.strip_suffix(b"\r").filter(|_| !is_bare).unwrap_or(content);
        fault = fault.and(part(&lines, whole, sink));
        let Some(end) = end else { return Err("no last boundary") };
        if bare != is_bare || end >= start && is_bare == content.ends_with(b"\r") {
            fault = fault.and(Err("lines end in different ways"));
        }
        at = end + line_mark.len();
    }
}

/// Lines of a part's head, folded ones joined, and where its content begins.
fn part_head(text: &[u8], start: usize) -> Result<(Vec<Vec<u8>>, usize), &'static str> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut at = start;
    loop {
        let end = find(text, b"\n", at).ok_or("a part without content")?;
        let line = text[at..end].strip_suffix(b"\r").unwrap_or(&text[at..end]);
        at = end + 1;
        if line.is_empty() {
            return Ok((lines, at));
        }
        if matches!(line[0], b' ' | b'\t') {
            let last = lines.last_mut().ok_or("a folded line without a first")?;
            last.push(b' ');
            last.extend_from_slice(line.trim_ascii());
            continue;
        }
        let colon = line.iter().position(|&byte| byte == b':').ok_or("a line without a name")?;
        if colon == 0 || !line[..colon].iter().all(|&byte| is_token(byte)) {
            return Err("a name that is no token");
        }
        lines.push([&line[..colon], b": ", line[colon + 1..].trim_ascii()].concat());
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Fails if servers may take the part for something else, by its name or that of its file.
fn part(lines: &[Vec<u8>], content: &[u8], sink: &mut impl Sink) -> Result<(), &'static str> {
    let name_of = |line: &[u8]| line.split(|&byte| byte == b':').next().unwrap_or_default().to_ascii_lowercase();
    let mut names: Vec<Vec<u8>> = lines.iter().map(|line| name_of(line)).collect();
    let disposition = names.iter().position(|name| name == b"content-disposition").map_or(&b""[..], |at| &lines[at]);
    let parameters = parameters(disposition);
    let value = |name: &str| parameters.iter().find(|parameter| parameter.name == name.as_bytes());
    let field = value("name").map_or(&b""[..], |name| &name.value);
    for line in lines {
        sink.part_header(field, line);
    }
    let mut fault = Ok(());
    let extended = value("filename*").map(|parameter| {
        // Its form is `charset'language'name`, without quotes.
        let mut parts = parameter.value.splitn(3, |&byte| byte == b'\'');
        let name = parts.nth(2);
        if parameter.is_quoted || name.is_none() {
            fault = Err("a file name in a wrong form");
        }
        decode(name.unwrap_or(&parameter.value), b'+')
    });
    let plain = value("filename").map(|parameter| parameter.value.clone());
    let files: Vec<Vec<u8>> = [extended, plain].into_iter().flatten().filter(|name| !name.is_empty()).collect();
    match files.as_slice() {
        [] => sink.argument(field, content),
        [first, others @ ..] => {
            sink.file(field, first, content.len());
            // Servers differ in which one they take.
            others.iter().filter(|other| *other != first).for_each(|other| sink.file(field, other, 0));
        }
    }
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        fault = Err("a part has a header twice");
    }
    if ["name", "filename", "filename*"].iter().any(|name| only(&parameters, name).is_err()) {
        fault = Err("a part has a parameter twice");
    }
    if parameters.iter().any(|parameter| parameter.name.starts_with(b"filename*") && parameter.name != b"filename*") {
        fault = Err("a file name in pieces");
    }
    if !parameters.iter().all(|parameter| parameter.is_whole) {
        fault = Err("a text behind a parameter");
    }
    fault
}

/// Reads XML as leniently as a browser reads HTML, so that all attributes and texts count; fails, then, if it is not well
/// formed.
pub fn read_xml(text: &[u8], sink: &mut impl Sink) -> Result<(), &'static str> {
    let has_controls = text.iter().any(|byte| *byte < b' ' && !b"\t\n\r".contains(byte));
    let fault = if has_controls { Err(ILL_FORMED) } else { Ok(()) };
    let mut reader = Xml { text, at: 0, open: Vec::new(), fault, sink };
    reader.read();
    if reader.open.is_empty() { reader.fault } else { reader.fault.and(Err("XML with an element that is not closed")) }
}

fn begins_tag(text: &[u8]) -> bool {
    matches!(text, [b'<', next, ..] if next.is_ascii_alphanumeric() || *next >= 0x80 || b"!?/_:".contains(next))
}

const ILL_FORMED: &str = "ill-formed XML";

struct Xml<'a, S> {
    text: &'a [u8],
    at: usize,
    /// Names of the elements that are not closed.
    open: Vec<&'a [u8]>,
    fault: Result<(), &'static str>,
    sink: &'a mut S,
}

impl<'a, S: Sink> Xml<'a, S> {
    fn read(&mut self) {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let length = (0..rest.len()).find(|&at| begins_tag(&rest[at..])).unwrap_or(rest.len());
            if length > 0 {
                let text = &rest[..length];
                if text.contains(&b'<') || memmem::find(text, b"]]>").is_some() {
                    self.fault = Err(ILL_FORMED);
                }
                xml_text(text, true, self.sink);
                self.at += length;
            } else if rest.starts_with(b"<!--") {
                self.skip(4, b"-->");
            } else if rest.starts_with(b"<![CDATA[") {
                let start = self.at + 9;
                let end = self.skip(9, b"]]>");
                xml_text(&self.text[start..end], false, self.sink);
            } else if rest.starts_with(b"<?") {
                self.skip(2, b"?>");
            } else if rest.starts_with(b"<!") {
                self.at = declaration_end(self.text, self.at);
            } else if rest.starts_with(b"</") {
                let start = self.at + 2;
                let end = self.skip(2, b">");
                if self.open.pop() != Some(self.text[start..end].trim_ascii_end()) {
                    self.fault = Err(ILL_FORMED);
                }
            } else {
                self.at += 1;
                self.element();
            }
        }
    }

    /// Goes behind a mark; returns where it begins.
    fn skip(&mut self, from: usize, mark: &[u8]) -> usize {
        let found = find(self.text, mark, self.at + from);
        if found.is_none() {
            self.fault = Err(ILL_FORMED);
        }
        let end = found.unwrap_or(self.text.len());
        self.at = (end + mark.len()).min(self.text.len());
        end
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Takes all up to what ends a name, and notes whether it is one.
    fn name(&mut self) -> &'a [u8] {
        let start = self.at;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b">/=<".contains(byte);
        let rest = &self.text[start..];
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
        let name = &self.text[start..self.at];
        if name.is_empty() || !name.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_:-.".contains(&byte)) {
            self.fault = Err(ILL_FORMED);
        }
        name
    }

    /// Reads a tag behind its `<`.
    fn element(&mut self) {
        let name = self.name();
        let mut attributes = Vec::new();
        self.tag(name, &mut attributes);
        attributes.sort_unstable();
        if attributes.windows(2).any(|pair| pair[0] == pair[1]) {
            self.fault = Err(ILL_FORMED);
        }
    }

    fn tag(&mut self, name: &'a [u8], attributes: &mut Vec<&'a [u8]>) {
        loop {
            self.skip_space();
            match self.text.get(self.at) {
                None => {
                    self.fault = Err(ILL_FORMED);
                    return;
                }
                Some(b'>') => {
                    self.at += 1;
                    self.open.push(name);
                    return;
                }
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'>') => {
                    self.at += 2;
                    return;
                }
                Some(b'/' | b'<' | b'=') => {
                    self.fault = Err(ILL_FORMED);
                    self.at += 1;
                }
                Some(_) => attributes.push(self.attribute()),
            }
        }
    }

    /// Returns its name.
    fn attribute(&mut self) -> &'a [u8] {
        let name = self.name();
        self.skip_space();
        if self.text.get(self.at) != Some(&b'=') {
            self.fault = Err(ILL_FORMED);
            return name;
        }
        self.at += 1;
        self.skip_space();
        let start = self.at;
        let rest = &self.text[start..];
        let value = match rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                let end = self.skip(1, &[quote]);
                &self.text[(start + 1).min(end)..end]
            }
            _ => {
                self.fault = Err(ILL_FORMED);
                let length = rest.iter().position(|&byte| byte.is_ascii_whitespace() || byte == b'>').unwrap_or(rest.len());
                self.at += length;
                &rest[..length]
            }
        };
        if value.contains(&b'<') {
            self.fault = Err(ILL_FORMED);
        }
        let mut out = Vec::new();
        crate::transform::apply(crate::transform::Transform::HtmlEntityDecode, value, &mut out);
        self.sink.xml_attribute(&out);
        name
    }
}

/// Declarations nest, as an internal subset does.
fn declaration_end(text: &[u8], start: usize) -> usize {
    let mut depth = 0;
    for (offset, &byte) in text[start..].iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return start + offset + 1;
        }
    }
    text.len()
}

fn xml_text(text: &[u8], decodes: bool, sink: &mut impl Sink) {
    let mut out = Vec::new();
    if decodes {
        crate::transform::apply(crate::transform::Transform::HtmlEntityDecode, text, &mut out);
    } else {
        out.extend_from_slice(text);
    }
    let trimmed = out.trim_ascii();
    if !trimmed.is_empty() {
        sink.xml_text(trimmed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Arguments(Vec<String>);

    impl Sink for Arguments {
        fn argument(&mut self, name: &[u8], value: &[u8]) {
            self.0.push(format!("{}={}", String::from_utf8_lossy(name), String::from_utf8_lossy(value)));
        }
        fn part_header(&mut self, _: &[u8], _: &[u8]) {}
        fn file(&mut self, _: &[u8], _: &[u8], _: usize) {}
        fn xml_attribute(&mut self, _: &[u8]) {}
        fn xml_text(&mut self, _: &[u8]) {}
    }

    fn json(text: &str, deepest: usize) -> (Vec<String>, Result<(), &'static str>) {
        let mut arguments = Arguments::default();
        let result = read_json(text.as_bytes(), deepest, &mut arguments);
        (arguments.0, result)
    }

    #[test]
    fn names_values_of_json_by_their_paths() {
        let (found, result) = json(r#" {"a": [1, {"b": null}, []], "c": "x\u0041", "d": {}} "#, 8);
        assert_eq!(found, ["json.a.0=1", "json.a.1.b=", "json.a.2=0", "json.a=3", "json.c=xA"]);
        assert_eq!(result, Ok(()));
        assert_eq!(json("true", 8).0, ["json.0=true", "json=1"]);
    }

    #[test]
    fn keeps_what_stands_before_an_error() {
        let (found, result) = json(r#"{"a":[1,2"#, 8);
        assert_eq!(found, ["json.a.0=1", "json.a.1=2", "json.a=2"]);
        assert_eq!(result, Err(INVALID));
        for text in ["{", "[1,]", "[,1]", "{\"a\"}", "{\"a\":1,}", "[1}", "1 2", "\"", "nul", "[] []"] {
            assert!(json(text, 8).1.is_err(), "{text}");
        }
    }

    #[test]
    fn keeps_cookies_without_a_name() {
        let mut found = Vec::new();
        read_cookies(b"a=b; =c;\x01=d ;; = ;e;f\x0b=\tg=h", |name, value| found.push((name.to_vec(), value.to_vec())));
        let found: Vec<String> = found.into_iter().map(|(name, value)| [name, value].map(|text| String::from_utf8(text).unwrap()).join("=")).collect();
        assert_eq!(found, ["a=b", "=c", "=d", "e=", "f=g=h"]);
    }

    fn multipart(text: &str) -> (Vec<String>, Result<(), &'static str>) {
        let mut arguments = Arguments::default();
        let result = read_multipart(b"multipart/form-data; boundary=x", text.as_bytes(), &mut arguments);
        (arguments.0, result)
    }

    #[test]
    fn reads_parts_whose_lines_end_with_lf() {
        let text = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\n--xy\r\n--x\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\n\r\n--x--";
        let expected = ["a=b\n--xy", "c="];
        assert_eq!(multipart(text), (expected.map(str::to_owned).to_vec(), Ok(())));
        assert_eq!(multipart(&text.replace("\r\n", "\n")), (expected.map(str::to_owned).to_vec(), Ok(())));
    }

    #[test]
    fn refuses_parts_that_servers_read_differently() {
        let part = |head: &str| format!("--x\r\n{head}\r\n\r\nb\r\n--x--");
        let disposition = "Content-Disposition: form-data; name=a";
        assert_eq!(multipart(&part(disposition)).1, Ok(()));
        for head in ["\r\n folded", "; name=b", "; filename=\"a\" b", "; filename=a; filename=b", "\r\ncontent-disposition: a", "; filename*=a", "; filename*0=a"] {
            assert!(multipart(&part(&[disposition, head].concat())).1.is_err(), "{head}");
        }
        let whole = part(disposition);
        assert_eq!(multipart("--x--\r\n"), (Vec::new(), Ok(())));
        for text in ["--x", whole.trim_end_matches("--x--"), &whole.replace("\r\n--x--", "\n--x--"), &whole.replacen("\r\n", "\n", 1)] {
            assert!(multipart(text).1.is_err(), "{text:?}");
        }
    }

    #[test]
    fn refuses_xml_that_is_not_well_formed() {
        let read = |text: &str| read_xml(text.as_bytes(), &mut Arguments::default());
        for text in ["", "<?xml version='1.0'?><a b='c'><d/>e<![CDATA[<f>]]><!-- - --></a>", "<a:b c.d='e'></a:b >", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"] {
            assert_eq!(read(text), Ok(()), "{text}");
        }
        for text in ["<a>", "</a>", "<a></b>", "<a b=c/>", "<a b/>", "<a 'b'/>", "<a><!--</a>", "<a>1 < 2</a>", "<a@b/>", "<a", "<a b='c", "<a>\0</a>", "<a>]]></a>", "<a b='<'/>", "<a b='' c='' b=''/>"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn refuses_json_that_is_nested_too_deeply() {
        assert!(json(&"[".repeat(9), 8).1.is_err());
        assert_eq!(json(&["[".repeat(8), "]".repeat(8)].concat(), 8).1, Ok(()));
        assert!(json(&"[".repeat(2_000), usize::MAX).1.is_err());
    }
}
