//! One request and its response: variables, and the rules that run over them.

use crate::body::{self, Sink};
use crate::clock::Moment;
use crate::matching::{integer, is_url_encoded};
use crate::meter::Meter;
use crate::proofs::Proofs;
use crate::rules::*;
use crate::targets::{Entry, Item};
use crate::values::{EMPTY, ValueId, Values};
use std::collections::BTreeMap;

/// Values of a group, transformed, and the bits that any of them has.
pub struct Gathered {
    pub items: Vec<Item>,
    pub bits: Vec<u64>,
}

#[derive(Default)]
pub struct Request<'a> {
    pub client: &'a [u8],
    pub method: &'a [u8],
    pub target: &'a [u8],
    pub version: &'a [u8],
    pub headers: Vec<(&'a [u8], &'a [u8])>,
    pub body: &'a [u8],
    /// The body goes on.
    pub is_cut: bool,
    /// Unique among requests; rules draw their samples by it.
    pub id: &'a [u8],
    /// Seconds since 1970.
    pub time: u32,
}

pub struct Response<'a> {
    pub status: u16,
    pub headers: Vec<(&'a [u8], &'a [u8])>,
    pub body: &'a [u8],
}

/// A rule that matched.
pub struct Match {
    /// Index of the rule.
    pub rule: u32,
    pub id: u32,
    pub log: bool,
    pub audit: bool,
    pub message: Vec<u8>,
    /// The first values that matched.
    pub items: Vec<Item>,
}

pub enum DenialKind {
    Deny,
    /// Without an answer.
    Drop,
    /// To a location.
    Redirect(Vec<u8>),
}

pub struct Denial {
    pub status: u16,
    /// 0: no rule, but a limit of the settings.
    pub rule: u32,
    pub kind: DenialKind,
}

/// What became of a rule, in the order of `host/verdict.ts`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Fate {
    /// Its phase was not reached, or ended before it.
    NotReached,
    Ran,
    Matched,
    /// No value has what it looks for.
    NothingToFind,
    /// Another rule jumped over it, as those of lower paranoia levels do.
    JumpedOver,
    /// The settings of the call exclude it.
    Excluded,
    /// Another rule removed it.
    Removed,
}

/// Why an inspection did not come to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The budget was spent while the rule with this id ran; 0 where none did.
    Budget(u32),
    /// There are more arguments than the settings allow.
    Arguments,
}

/// Settings of one call.
pub struct Options<'a> {
    /// False: nothing is denied, whatever rules say.
    pub blocks: bool,
    /// Values that matched are in the verdict.
    pub tells_values: bool,
    /// Matches that are not logged are in the verdict.
    pub tells_all: bool,
    /// What became of each rule is in the verdict, and which values are proved.
    pub tells_rules: bool,
    /// Units that an inspection may take.
    pub budget: u64,
    /// Most arguments of a query or body.
    pub arguments: usize,
    /// Deepest nesting of JSON.
    pub depth: usize,
    /// Variables of TX that are set before the first rule.
    pub presets: Vec<(&'a [u8], &'a [u8])>,
    /// Indexes of rules that do not run.
    pub removed_rules: RuleRanges,
    pub removed_targets: Vec<RemovedTarget>,
    /// What the description of the operation proves of values.
    pub proofs: Proofs<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            blocks: true,
            tells_values: false,
            tells_all: true,
            tells_rules: false,
            budget: u64::MAX,
            arguments: 1000,
            depth: 1024,
            presets: Vec::new(),
            removed_rules: Vec::new(),
            removed_targets: Vec::new(),
            proofs: Proofs::default(),
        }
    }
}

/// Content types of responses whose bodies are inspected, unless the settings name others.
const RESPONSE_TYPES: [&[u8]; 3] = [b"text/plain", b"text/html", b"text/xml"];
/// Units of a byte of a body that is read.
const READ: usize = 4;

pub struct Transaction<'a> {
    pub(crate) rules: &'a RuleSet,
    pub(crate) options: &'a Options<'a>,
    pub(crate) values: Values,
    pub(crate) collections: [Vec<Entry>; VARIABLES],
    pub(crate) singles: [ValueId; VARIABLES],
    /// The path without the literals of its template; None if it does not follow the template.
    pub(crate) unproved_path: Option<ValueId>,
    pub(crate) tx: Vec<Option<ValueId>>,
    /// Variables of TX that no rule names.
    pub(crate) other_tx: BTreeMap<Vec<u8>, ValueId>,
    pub(crate) gathered: Vec<Option<Gathered>>,
    pub(crate) removed: Vec<bool>,
    pub(crate) removed_targets: Vec<&'a RemovedTarget>,
    pub(crate) current: Option<(&'a Rule, &'a Link)>,
    pub(crate) runs: bool,
    pub(crate) blocks: bool,
    pub(crate) reads_request_body: bool,
    pub(crate) force_request_body: bool,
    pub(crate) request_limit: usize,
    pub(crate) reads_response_body: bool,
    pub(crate) force_response_body: bool,
    pub(crate) response_limit: usize,
    pub(crate) allowance: Option<Allowance>,
    pub(crate) capturing: bool,
    /// False: matches do not count for the audit log.
    pub audits: bool,
    pub matches: Vec<Match>,
    /// By index of the rule; empty unless the call asks for it.
    pub fates: Vec<u8>,
    /// Values that have matched in the rule that runs.
    pub(crate) found: Vec<Item>,
    pub denied: Option<Denial>,
    /// The first denial that the mode did not allow.
    pub undenied: Option<Denial>,
    pub limit: Option<Limit>,
}

impl<'a> Transaction<'a> {
    pub fn new(rules: &'a RuleSet, options: &'a Options) -> Transaction<'a> {
        let settings = &rules.settings;
        let mut transaction = Transaction {
            rules,
            options,
            values: Values::new(rules.words(), Meter::new(options.budget)),
            collections: [const { Vec::new() }; VARIABLES],
            singles: [EMPTY; VARIABLES],
            unproved_path: None,
            tx: vec![None; rules.slot_count()],
            other_tx: BTreeMap::new(),
            gathered: (0..rules.groups).map(|_| None).collect(),
            removed: vec![false; rules.rules.len()],
            removed_targets: options.removed_targets.iter().collect(),
            current: None,
            runs: settings.runs.unwrap_or(true),
            blocks: options.blocks,
            reads_request_body: settings.request_body.unwrap_or(true),
            force_request_body: false,
            request_limit: settings.request_limit.unwrap_or(usize::MAX),
            reads_response_body: settings.response_body.unwrap_or(true),
            force_response_body: false,
            response_limit: settings.response_limit.unwrap_or(usize::MAX),
            allowance: None,
            capturing: false,
            audits: true,
            matches: Vec::new(),
            fates: if options.tells_rules { vec![Fate::NotReached as u8; rules.rules.len()] } else { Vec::new() },
            found: Vec::new(),
            denied: None,
            undenied: None,
            limit: None,
        };
        transaction.remove_rules(&options.removed_rules);
        for (name, value) in &options.presets {
            let id = transaction.values.add(value);
            transaction.store_tx(&name.to_ascii_lowercase(), Some(id));
        }
        transaction
    }

    /// Leaves out indexes past the last rule.
    pub(crate) fn remove_rules(&mut self, ranges: &RuleRanges) {
        for range in ranges {
            let end = self.removed.len().min(range.end().saturating_add(1));
            let start = end.min(*range.start());
            self.values.meter.charge(1 + end - start);
            self.removed[start..end].fill(true);
        }
    }

    pub(crate) fn set(&mut self, variable: Variable, value: &[u8]) {
        self.singles[variable as usize] = self.values.add(value);
    }

    pub(crate) fn single(&self, variable: Variable) -> &[u8] {
        self.values.get(self.singles[variable as usize])
    }

    fn add(&mut self, collection: Variable, key: &[u8], value: &[u8]) {
        self.values.meter.charge(1 + key.len() / 8);
        let proved = self.options.proofs.prove(collection, key, value, &self.values.meter);
        // Values of one name often follow each other.
        let known = match self.collections[collection as usize].last() {
            Some(entry) if self.values.get(entry.key) == key => Some(entry.key),
            _ => None,
        };
        let key = known.unwrap_or_else(|| self.values.add(key));
        let entry = Entry { key, value: self.values.add(value), proved };
        self.collections[collection as usize].push(entry);
    }

    /// Adds an argument. One too many ends the inspection: those behind it would not be inspected.
    fn add_argument(&mut self, collection: Variable, name: &[u8], value: &[u8]) {
        if self.collections[collection as usize].len() < self.options.arguments {
            self.add(collection, name, value);
        } else {
            self.limit.get_or_insert(Limit::Arguments);
        }
    }

    /// Takes the request without its body and runs the rules of phase 1.
    pub fn request_head(&mut self, request: &Request) {
        self.take_head(request);
        self.phase(1);
    }

    /// Takes the body, after the head, and runs the rules of phase 2.
    pub fn request_body(&mut self, request: &Request) {
        if self.is_over() {
            return;
        }
        self.take_body(request.body, request.is_cut);
        self.phase(2);
    }

    pub fn response(&mut self, response: &Response) {
        if self.is_over() {
            return;
        }
        let mut content_type: &[u8] = b"";
        for (name, value) in &response.headers {
            self.add(Variable::ResponseHeaders, name, value);
            if name.eq_ignore_ascii_case(b"content-type") {
                content_type = value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
            }
        }
        let protocol = self.singles[Variable::RequestProtocol as usize];
        self.singles[Variable::ResponseProtocol as usize] = protocol;
        let line = [self.values.get(protocol), b" ", response.status.to_string().as_bytes()].concat();
        self.set(Variable::StatusLine, &line);
        self.set(Variable::ResponseContentType, content_type);
        self.set(Variable::ResponseStatus, response.status.to_string().as_bytes());
        self.phase(3);
        if self.is_over() {
            return;
        }
        self.take_response_body(content_type, response.body);
        self.phase(4);
    }

    /// Runs the rules that come last.
    pub fn end(&mut self) {
        self.phase(5);
    }

    fn is_over(&self) -> bool {
        self.denied.is_some() || self.limit.is_some()
    }

    fn take_head(&mut self, request: &Request) {
        use Variable::*;
        self.take_clock(request.time);
        self.set(UniqueId, request.id);
        self.set(Duration, b"0");
        let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
        let line = request.method.len() + request.target.len() + request.version.len() + 6;
        self.set(FullRequestLength, (line + headers + request.body.len()).to_string().as_bytes());
        self.set(RemoteAddr, request.client);
        self.set(RequestMethod, request.method);
        self.set(RequestProtocol, request.version);
        self.set(RequestUriRaw, request.target);
        self.set(RequestLine, &[request.method, b" ", request.target, b" ", request.version].concat());
        let target = request.target.split(|&byte| byte == b'#').next().unwrap_or_default();
        let target = origin_form(target);
        self.set(RequestUri, target);
        let question = target.iter().position(|&byte| byte == b'?');
        let (path, query) = question.map_or((target, &b""[..]), |at| (&target[..at], &target[at + 1..]));
        self.set(QueryString, query);
        if !is_url_encoded(query) {
            self.set(UrlencodedError, b"1");
        }
        body::read_form(query, |name, value| self.add_argument(ArgsGet, name, value));
        let mut decoded = Vec::new();
        decode_path(path, &mut decoded);
        let slash = decoded.iter().rposition(|&byte| byte == b'/' || byte == b'\\');
        let base = slash.map_or(&decoded[..], |at| &decoded[at + 1..]);
        self.set(RequestBasename, if base.is_empty() { &decoded[..] } else { base });
        self.set(RequestFilename, &decoded);
        self.values.meter.charge(decoded.len());
        self.unproved_path = self.options.proofs.without_literals(&decoded).map(|path| if path.is_empty() { EMPTY } else { self.values.add(&path) });
        let mut is_typed = false;
        for (name, value) in &request.headers {
            self.add(RequestHeaders, name, value);
            if name.eq_ignore_ascii_case(b"content-type") && !is_typed {
                // The first one counts, as for most servers.
                is_typed = true;
                let lower = value.trim_ascii().to_ascii_lowercase();
                if lower.starts_with(b"application/x-www-form-urlencoded") {
                    self.set(ReqbodyProcessor, b"URLENCODED");
                } else if lower.starts_with(b"multipart/form-data") {
                    self.set(ReqbodyProcessor, b"MULTIPART");
                } else if is_json(&lower) {
                    self.set(ReqbodyProcessor, b"JSON");
                }
            } else if name.eq_ignore_ascii_case(b"host") {
                self.set(ServerName, without_port(value));
            } else if name.eq_ignore_ascii_case(b"cookie") {
                body::read_cookies(value, |name, value| self.add(RequestCookies, name, value));
            }
        }
    }

    fn take_clock(&mut self, time: u32) {
        use Variable::*;
        let Moment { year, month, day, weekday, hour, minute, second } = Moment::at(u64::from(time));
        self.set(Time, format!("{hour:02}:{minute:02}:{second:02}").as_bytes());
        let numbers = [
            (TimeEpoch, u64::from(time)), (TimeYear, year), (TimeMon, month), (TimeDay, day), (TimeWday, weekday),
            (TimeHour, hour), (TimeMin, minute), (TimeSec, second),
        ];
        for (variable, number) in numbers {
            self.set(variable, number.to_string().as_bytes());
        }
    }

    /// The part of a body that is inspected.
    fn within_limit<'b>(&mut self, body: &'b [u8], limit: usize, error: Variable) -> &'b [u8] {
        if body.len() <= limit {
            return body;
        }
        self.set(error, b"1");
        let (rejects, status) = match error {
            Variable::InboundDataError => (self.rules.settings.request_limit_rejects, 413),
            _ => (self.rules.settings.response_limit_rejects, 500),
        };
        if rejects.unwrap_or(true) {
            self.deny(Denial { status, rule: 0, kind: DenialKind::Deny });
        }
        &body[..limit]
    }

    fn take_body(&mut self, body: &[u8], is_cut: bool) {
        if body.is_empty() || !self.reads_request_body {
            return;
        }
        let body = self.within_limit(body, self.request_limit, Variable::InboundDataError);
        if self.is_over() || !self.values.meter.charge(READ * body.len()) {
            return;
        }
        let mut processor = self.single(Variable::ReqbodyProcessor).to_ascii_uppercase();
        if processor.is_empty() && self.force_request_body {
            processor = b"URLENCODED".to_vec();
            self.set(Variable::ReqbodyProcessor, b"URLENCODED");
        }
        let result = match processor.as_slice() {
            b"URLENCODED" => {
                if !is_url_encoded(body) {
                    self.set(Variable::UrlencodedError, b"1");
                }
                body::read_form(body, |name, value| self.add_argument(Variable::ArgsPost, name, value));
                self.set(Variable::RequestBody, body);
                self.set(Variable::RequestBodyLength, body.len().to_string().as_bytes());
                Ok(())
            }
            b"RAW" => {
                self.set(Variable::RequestBody, body);
                Ok(())
            }
            b"JSON" => body::read_json(body, self.options.depth, self),
            b"XML" => body::read_xml(body, self),
            b"MULTIPART" => {
                let content_type = self.header(b"content-type").to_vec();
                let result = body::read_multipart(&content_type, body, self);
                if result.is_err() && !is_cut {
                    self.set(Variable::MultipartStrictError, b"1");
                }
                result
            }
            b"" => Ok(()),
            _ => Err("unknown body processor"),
        };
        if is_cut {
            // It does not end as it should, which says nothing against it.
            self.set(Variable::InboundDataError, b"1");
            return;
        }
        if let Err(error) = result {
            for (flag, message) in [
                (Variable::ReqbodyError, Variable::ReqbodyErrorMsg),
                (Variable::ReqbodyProcessorError, Variable::ReqbodyProcessorErrorMsg),
            ] {
                self.set(flag, b"1");
                self.set(message, error.as_bytes());
            }
        }
    }

    fn take_response_body(&mut self, content_type: &[u8], body: &[u8]) {
        let is_among = |known: &[u8]| known.eq_ignore_ascii_case(content_type);
        let is_inspected = match &self.rules.settings.response_types {
            Some(types) => types.iter().any(|known| is_among(known)),
            None => RESPONSE_TYPES.iter().any(|known| is_among(known)),
        };
        if !self.reads_response_body || !(is_inspected || self.force_response_body) {
            return;
        }
        let body = self.within_limit(body, self.response_limit, Variable::OutboundDataError);
        self.set(Variable::ResponseBody, body);
        self.set(Variable::ResponseContentLength, body.len().to_string().as_bytes());
    }

    fn header(&self, name: &[u8]) -> &[u8] {
        let entries = &self.collections[Variable::RequestHeaders as usize];
        let found = entries.iter().find(|entry| self.values.get(entry.key).eq_ignore_ascii_case(name));
        found.map_or(&b""[..], |entry| self.values.get(entry.value))
    }

    fn phase(&mut self, phase: usize) {
        if !self.runs || self.limit.is_some() || self.denied.is_some() && phase != 5 {
            return;
        }
        self.gathered.iter_mut().for_each(|group| *group = None);
        let mut running = 0;
        let mut from = 0;
        let rules = self.rules;
        for &index in &rules.phases[phase] {
            if self.values.meter.is_spent() || self.denied.is_some() && phase != 5 || self.is_allowed(phase) {
                break;
            }
            if index < from || self.removed[index] {
                self.note(index, if index < from { Fate::JumpedOver } else { self.fate_of_removed(index) });
                continue;
            }
            let rule = &rules.rules[index];
            running = rule.id;
            self.values.meter.charge(1);
            if self.is_shut(&rule.links[0]) {
                self.note(index, Fate::Ran);
                continue;
            }
            if self.is_surely_unmatched(&rule.links[0], index) {
                self.note(index, Fate::NothingToFind);
                continue;
            }
            self.collections[Variable::MatchedVars as usize].clear();
            let matched = self.run(rule, index);
            self.note(index, if matched { Fate::Matched } else { Fate::Ran });
            if matched {
                from = rule.jump.unwrap_or(from);
            }
        }
        if self.allowance == Some(Allowance::Phase) {
            self.allowance = None;
        }
        if self.values.meter.is_spent() {
            self.limit = Some(Limit::Budget(running));
        }
    }

    fn note(&mut self, index: usize, fate: Fate) {
        if let Some(place) = self.fates.get_mut(index) {
            *place = fate as u8;
        }
    }

    fn fate_of_removed(&self, index: usize) -> Fate {
        let excluded = self.options.removed_rules.iter().any(|range| range.contains(&index));
        if excluded { Fate::Excluded } else { Fate::Removed }
    }

    /// Variable and name of each value that the document proves.
    pub fn proved(&self) -> Vec<(Variable, &[u8])> {
        let mut found = Vec::new();
        for (&variable, entries) in Variable::ALL.iter().zip(&self.collections) {
            found.extend(entries.iter().filter(|entry| entry.proved.value).map(|entry| (variable, self.values.get(entry.key))));
        }
        found
    }

    fn is_allowed(&self, phase: usize) -> bool {
        match self.allowance {
            Some(Allowance::All | Allowance::Phase) => true,
            Some(Allowance::Request) => phase <= 2,
            None => false,
        }
    }

    /// Number in a variable of TX.
    pub fn tx_number(&self, name: &str) -> i64 {
        self.load_tx(name.as_bytes()).map_or(0, |id| integer(self.values.get(id)))
    }

    pub fn value(&self, id: ValueId) -> &[u8] {
        self.values.get(id)
    }

    /// Bytes and number of values, for measurements.
    pub fn size(&self) -> (usize, usize) {
        self.values.size()
    }

    /// Units that the inspection took.
    pub fn units(&self) -> u64 {
        self.values.meter.used()
    }
}

impl Sink for Transaction<'_> {
    fn argument(&mut self, name: &[u8], value: &[u8]) {
        self.add_argument(Variable::ArgsPost, name, value);
    }

    fn part_header(&mut self, part: &[u8], line: &[u8]) {
        self.add(Variable::MultipartPartHeaders, part, line);
    }

    fn file(&mut self, field: &[u8], name: &[u8], size: usize) {
        self.add(Variable::Files, field, name);
        self.add(Variable::FilesNames, field, field);
        self.add(Variable::FilesSizes, name, size.to_string().as_bytes());
        self.add(Variable::MultipartName, field, field);
        self.add(Variable::MultipartFilename, field, name);
        let all = integer(self.single(Variable::FilesCombinedSize)) + size as i64;
        self.set(Variable::FilesCombinedSize, all.to_string().as_bytes());
    }

    fn xml_attribute(&mut self, value: &[u8]) {
        self.add(Variable::Xml, b"//@*", value);
    }

    fn xml_text(&mut self, value: &[u8]) {
        self.add(Variable::Xml, b"/*", value);
    }
}

/// Reports whether the gateway reads bodies of a content type as JSON; rules name some of these types only.
fn is_json(content_type: &[u8]) -> bool {
    let media = content_type.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii_end();
    media.ends_with(b"/json") || media.ends_with(b"+json")
}

/// Path and query of a target in absolute form.
fn origin_form(target: &[u8]) -> &[u8] {
    if target.first() == Some(&b'/') {
        return target;
    }
    let Some(scheme) = target.windows(3).position(|window| window == b"://") else { return target };
    let rest = &target[scheme + 3..];
    rest.iter().position(|&byte| byte == b'/').map_or(b"/", |slash| &rest[slash..])
}

fn decode_path(path: &[u8], out: &mut Vec<u8>) {
    let hex = |byte: Option<&u8>| byte.and_then(|&byte| (byte as char).to_digit(16));
    let mut at = 0;
    while at < path.len() {
        match (path[at], hex(path.get(at + 1)), hex(path.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
}

fn without_port(host: &[u8]) -> &[u8] {
    let colon = host.iter().rposition(|&byte| byte == b':');
    colon.filter(|&at| host[at + 1..].iter().all(u8::is_ascii_digit)).map_or(host, |at| &host[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: u32, phase: u8, variable: Variable, operator: Operator, disruptive: Disruptive) -> Rule {
        let target = Target { variable, key: None, count: false, except: Vec::new() };
        let link = Link {
            targets: vec![target],
            operator: Some(operator),
            negated: false,
            transforms: vec![Transform::Lowercase],
            multi_match: false,
            capture: false,
            message: None,
            data: None,
            effects: Vec::new(),
            group: None,
            omitting_group: None,
            omits: false,
            gate: None,
        };
        Rule {
            id,
            is_core: true,
            phase,
            links: vec![link],
            disruptive,
            status: 403,
            log: true,
            audit: true,
            severity: None,
            version: None,
            revision: None,
            jump: None,
        }
    }

    /// A pattern for arguments of the body, then a denial.
    fn rules() -> RuleSet {
        let mut set = RuleSet::default();
        let pattern = set.pattern("q.*w.*e.*r[^a]*$", false).expect("a pattern");
        set.rules.push(rule(1, 2, Variable::ArgsPost, Operator::Rx(pattern), Disruptive::Pass));
        set.rules.push(rule(2, 2, Variable::ArgsPost, Operator::Always, Disruptive::Deny));
        set.rules.push(rule(3, 5, Variable::ArgsPost, Operator::Always, Disruptive::Pass));
        set.finish().expect("a set of rules");
        set
    }

    fn run(rules: &RuleSet, options: Options, body: &[u8]) -> (Option<u32>, Vec<u32>, Option<Limit>) {
        let headers = vec![(b"content-type".as_slice(), b"application/x-www-form-urlencoded".as_slice())];
        let request =
            Request { client: b"127.0.0.1", method: b"POST", target: b"/", version: b"HTTP/1.1", headers, body, ..Request::default() };
        let mut transaction = Transaction::new(rules, &options);
        transaction.request_head(&request);
        transaction.request_body(&request);
        transaction.end();
        let matches = transaction.matches.iter().map(|found| found.id).collect();
        (transaction.denied.as_ref().map(|denial| denial.rule), matches, transaction.limit)
    }

    #[test]
    fn denies_only_where_the_call_blocks() {
        let set = rules();
        let blocks = |blocks| run(&set, Options { blocks, budget: 1 << 20, ..Options::default() }, b"a=b");
        assert_eq!(blocks(true), (Some(2), vec![2, 3], None));
        assert_eq!(blocks(false), (None, vec![2, 3], None));
    }

    #[test]
    fn ends_past_its_budget_with_the_rule_that_ran() {
        let set = rules();
        let body = [b"a=".as_slice(), &b"qwer".repeat(5_000)].concat();
        let spend = |budget| run(&set, Options { budget, ..Options::default() }, &body);
        assert_eq!(spend(10_000_000).2, None);
        assert_eq!(spend(20_000), (None, vec![], Some(Limit::Budget(0))));
        // The body costs 123,000 units, its scan 40,000, and the pattern 20,000.
        assert_eq!(spend(150_000), (None, vec![], Some(Limit::Budget(1))));
        assert_eq!(spend(170_000), (None, vec![], Some(Limit::Budget(1))));
    }
}
