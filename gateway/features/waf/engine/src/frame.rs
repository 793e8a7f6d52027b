//! Requests and verdicts as bytes: numbers of 32 bits (little-endian), texts with their length before them.

use crate::proofs::Proofs;
use crate::rules::{Key, RemovedTarget, RuleRanges, RuleSet, Variable};
use crate::transaction::{DenialKind, Limit, Match, Options, Request, Response, Transaction};

pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn headers(&mut self) -> Option<Vec<(&'a [u8], &'a [u8])>> {
        (0..self.number()?).map(|_| Some((self.text()?, self.text()?))).collect()
    }
}

/// How an inspection ended, in the verdict.
const NOT_DENIED: u32 = 0;
const DENIED: u32 = 1;
/// The mode does not deny, but a rule would have.
const WOULD_DENY: u32 = 2;

/// Flags of a call.
const BLOCKS: u32 = 1;
const TELLS_VALUES: u32 = 2;
/// Matches that are not logged are in the verdict, too.
const TELLS_ALL: u32 = 4;

/// Bits of the parts of a transaction that run.
const REQUEST_BODY: u32 = 1 << 2;
const RESPONSE: u32 = 1 << 3;
const END: u32 = 1 << 5;
/// Bit beside them: the verdict tells what became of each rule.
const TELLS_RULES: u32 = 1 << 6;

/// What of a body follows: nothing, (1) the whole, or its beginning.
const NO_BODY: u32 = 0;
const CUT_BODY: u32 = 2;

/// Bytes of a value in a verdict, and of a key or message.
const MOST_VALUE: usize = 200;
const MOST_TEXT: usize = 500;

impl<'a> Reader<'a> {
    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| each(self)).collect()
    }

    fn ranges(&mut self) -> Option<RuleRanges> {
        self.list(|reader| Some(reader.number()? as usize..=reader.number()? as usize))
    }

    fn removed_target(&mut self) -> Option<RemovedTarget> {
        Some(RemovedTarget {
            rules: self.ranges()?,
            variable: *Variable::ALL.get(self.number()? as usize)?,
            key: match self.number()? {
                0 => None,
                1 => Some(Key::Name(self.text()?.to_ascii_lowercase())),
                _ => Some(Key::Path(self.text()?.to_vec())),
            },
            of_collection: true,
        })
    }

    fn options(&mut self) -> Option<Options<'a>> {
        let flags = self.number()?;
        Some(Options {
            blocks: flags & BLOCKS != 0,
            tells_values: flags & TELLS_VALUES != 0,
            tells_all: flags & TELLS_ALL != 0,
            tells_rules: false,
            budget: u64::from(self.number()?),
            arguments: self.number()? as usize,
            depth: self.number()? as usize,
            presets: self.list(|reader| Some((reader.text()?, reader.text()?)))?,
            removed_rules: self.ranges()?,
            removed_targets: self.list(Self::removed_target)?,
            proofs: Proofs::read(self)?,
        })
    }
}

/// Runs one request, with its response where there is one; writes the verdict. A frame has the settings of the call, the
/// phases, the request and the response (`host/call-settings.ts` and `host/request-frame.ts`).
pub fn inspect(rules: &RuleSet, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut reader = Reader(bytes);
    let mut options = reader.options()?;
    let phases = reader.number()?;
    options.tells_rules = phases & TELLS_RULES != 0;
    let mut request = Request {
        client: reader.text()?,
        method: reader.text()?,
        target: reader.text()?,
        version: reader.text()?,
        headers: reader.headers()?,
        id: reader.text()?,
        time: reader.number()?,
        ..Request::default()
    };
    let body = reader.number()?;
    if body != NO_BODY {
        request.body = reader.text()?;
        request.is_cut = body == CUT_BODY;
    }

    let response = match reader.number()? {
        0 => None,
        _ => Some(Response { status: reader.number()? as u16, headers: reader.headers()?, body: reader.text()? }),
    };
    let mut transaction = Transaction::new(rules, &options);
    transaction.request_head(&request);
    if phases & REQUEST_BODY != 0 {
        transaction.request_body(&request);
    }
    if let (Some(response), true) = (&response, phases & RESPONSE != 0) {
        transaction.response(response);
    }
    if phases & END != 0 {
        transaction.end();
    }
    write_verdict(&transaction, out);
    Some(())
}

fn write_number(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn write_text(out: &mut Vec<u8>, text: &[u8], most: usize) {
    let text = &text[..text.len().min(most)];
    write_number(out, text.len() as u32);
    out.extend_from_slice(text);
}

fn write_verdict(transaction: &Transaction, out: &mut Vec<u8>) {
    let (outcome, denial) = match (&transaction.denied, &transaction.undenied) {
        (Some(denial), _) => (DENIED, Some(denial)),
        (None, Some(denial)) => (WOULD_DENY, Some(denial)),
        (None, None) => (NOT_DENIED, None),
    };
    let (kind, location) = match denial.map(|denial| &denial.kind) {
        None | Some(DenialKind::Deny) => (0, &b""[..]),
        Some(DenialKind::Drop) => (1, &b""[..]),
        Some(DenialKind::Redirect(location)) => (2, location.as_slice()),
    };
    let (limit, rule) = match transaction.limit {
        None => (0, 0),
        Some(Limit::Budget(rule)) => (1, rule),
        Some(Limit::Arguments) => (2, 0),
    };
    let numbers = [
        outcome,
        kind,
        denial.map_or(0, |denial| u32::from(denial.status)),
        denial.map_or(0, |denial| denial.rule),
        limit,
        rule,
        u32::try_from(transaction.units()).unwrap_or(u32::MAX),
        transaction.tx_number("blocking_inbound_anomaly_score") as u32,
        transaction.tx_number("blocking_outbound_anomaly_score") as u32,
    ];
    numbers.into_iter().for_each(|number| write_number(out, number));
    write_text(out, location, usize::MAX);
    let Options { tells_values, tells_all, .. } = *transaction.options;
    let told: Vec<&Match> = transaction.matches.iter().filter(|found| tells_all || found.log && transaction.audits).collect();
    write_number(out, told.len() as u32);
    for Match { rule, id, log, audit, message, items } in told {
        write_number(out, *rule);
        write_number(out, *id);
        write_number(out, u32::from(*audit && transaction.audits) << 1 | u32::from(*log));
        write_text(out, message, MOST_TEXT);
        write_number(out, items.len() as u32);
        for item in items {
            write_number(out, item.variable as u32);
            write_text(out, transaction.value(item.key), MOST_TEXT);
            write_text(out, if tells_values { transaction.value(item.value) } else { b"" }, MOST_VALUE);
        }
    }
    write_text(out, &transaction.fates, usize::MAX);
    let proved: Vec<(Variable, &[u8])> = if transaction.fates.is_empty() { Vec::new() } else { transaction.proved() };
    write_number(out, proved.len() as u32);
    for (variable, name) in proved {
        write_number(out, variable as u32);
        write_text(out, name, MOST_TEXT);
    }
}

/// Units in a verdict.
pub fn units(verdict: &[u8]) -> Option<u32> {
    Reader(verdict.get(4 * UNITS..)?).number()
}

/// Place of the units among the numbers of a verdict.
const UNITS: usize = 6;
