/**
 * Counts matches of the Core Rule Set on valid requests, made from OpenAPI documents, at each paranoia level, with and
 * without what the documents prove: `node test/waf/false-positives.ts --program PATH DOCUMENT|FOLDER…`, the path of the
 * native engine. `--operations N`: operations sampled of each document. `--requests N`: requests for each operation.
 * `--level N`: this level only. `--no-lookalikes`: no texts that look like attacks. `--save FILE`: the requests, one a
 * line, as the oracle reads them.
 */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { wafCompiler } from '../../gateway/features/waf/compile/compiler.ts';
import { callSettings } from '../../gateway/features/waf/host/call-settings.ts';
import { PHASES, requestFrame } from '../../gateway/features/waf/host/request-frame.ts';
import { RuleIndex } from '../../gateway/features/waf/host/rule-index.ts';
import { readWafSettings } from '../../gateway/features/waf/host/settings.ts';
import type { Verdict } from '../../gateway/features/waf/host/verdict.ts';
import { decodeProgram } from '../../gateway/features/waf/seclang/program-format.ts';
import { askFrames } from './native-engine.ts';
import { type ValidRequest, validRequests } from './valid-requests.ts';

/** Requests whose verdicts are asked for at once: bodies take up memory. */
const AT_ONCE = 1000;
/** Rules that compare scores: they tell nothing beside the rules that have made them. */
const BOOKKEEPING = /^(?:949|959|980)\d{3}$/;
/** Values that are shown for a rule: those that match most often. */
const EXAMPLES = 8;
/** Characters of each. */
const SHOWN = 120;

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    program: { type: 'string', default: '' },
    operations: { type: 'string', default: '400' },
    requests: { type: 'string', default: '3' },
    level: { type: 'string', multiple: true, default: ['1', '2', '3', '4'] },
    'no-lookalikes': { type: 'boolean', default: false },
    save: { type: 'string' },
  },
});

const { bytes: program } = wafCompiler.compile(
  { core_rules: true, rules: [] },
  { matching: () => [], read: () => undefined },
);
if (program === null) throw new Error('the Core Rule Set does not compile');
const index = new RuleIndex(decodeProgram(program));

const requests: ValidRequest[] = [];
const counts = { documents: 0, refused: 0, operations: 0, requests: 0, failed: 0 };
for (const path of positionals.flatMap(documentsIn)) {
  try {
    const limits = {
      operations: Number(options.operations),
      requests: Number(options.requests),
      hasLookalikes: !options['no-lookalikes'],
    };
    const made = await validRequests(path, limits);
    requests.push(...made.requests);
    counts.documents++;
    counts.operations += made.operations;
    counts.failed += made.failed;
  } catch (error) {
    counts.refused++;
    console.log(`${basename(path)}: ${error instanceof Error ? error.message : error}`);
  }
}
counts.requests = requests.length;
console.log(JSON.stringify(counts));
if (options.save !== undefined) {
  const saved = requests.map(({ request }) => ({ ...request, body: request.body.toString('base64') }));
  writeFileSync(options.save, saved.map((each) => JSON.stringify(each)).join('\n'));
}
for (const level of options.level.map(Number)) for (const useDocument of [true, false]) count(level, useDocument);

function documentsIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => /\.(?:json|ya?ml)$/.test(name));
  return names.sort().map((name) => join(path, name));
}

/** Requests that a rule matches, and the values that it matches. */
interface RuleCount {
  requests: number;
  /** Requests that no other rule matches beside it. */
  alone: number;
  readonly message: string;
  /** Number of matches by value; with one of the requests. */
  readonly values: Map<string, { count: number; readonly request: string }>;
}

function count(level: number, useDocument: boolean): void {
  const rules = new Map<number, RuleCount>();
  let refused = 0;
  let matched = 0;
  let limited = 0;
  for (let from = 0; from < requests.length; from += AT_ONCE) {
    const some = requests.slice(from, from + AT_ONCE);
    const frames = some.map((each) => frameOf(each, level, useDocument));
    for (const [i, verdict] of askFrames(options.program, program as Uint8Array, frames).entries()) {
      if (verdict.outcome !== 'passes') refused++;
      if (verdict.limit !== null) limited++;
      if (addMatches(rules, verdict, some[i]?.request.id ?? '') > 0) matched++;
    }
  }
  const name = `level ${level}, ${useDocument ? 'with' : 'without'} the document`;
  console.log(`${name}: ${requests.length} requests, ${refused} refused, ${matched} matched, ${limited} past a limit`);
  const byCount = [...rules].sort(([, a], [, b]) => b.requests - a.requests);
  for (const [id, { requests: hits, alone, message, values }] of byCount) {
    console.log(`  ${id}: ${hits} (${alone} alone), ${message}`);
    const often = [...values].sort(([, a], [, b]) => b.count - a.count).slice(0, EXAMPLES);
    for (const [value, { count: times, request }] of often) console.log(`    ${times}: ${value} in ${request}`);
  }
}

function settingsOf(level: number, useDocument: boolean) {
  return readWafSettings({
    ...{ rule_set: 'waf/0', mode: 'detect', paranoia_level: level, sampling: 100, use_document: useDocument },
    anomaly_thresholds: { inbound: 5, outbound: 4 },
    request_body: { max_bytes: 1 << 20, max_arguments: 1000, max_depth: 64 },
    response_body: { max_bytes: 1 << 20 },
    audit_log: { values: true },
  });
}

function frameOf({ operation, inputs, request }: ValidRequest, level: number, useDocument: boolean): Uint8Array {
  const { method, path, operation_id: operationId } = operation;
  const { target, version: protocol, headers, body } = request;
  return requestFrame(
    callSettings(settingsOf(level, useDocument), { operationId, method, path }, index, inputs),
    PHASES.requestHead | PHASES.requestBody | PHASES.end,
    { clientIp: '127.0.0.1', method, target, protocol, rawHeaders: headers.flat(), requestId: '' },
    body.length === 0 ? null : { bytes: body, isWhole: true },
  );
}

/** Returns the number of rules that match. */
function addMatches(rules: Map<number, RuleCount>, { matches }: Verdict, request: string): number {
  const found = new Map(matches.filter(({ id }) => !BOOKKEEPING.test(String(id))).map((match) => [match.id, match]));
  for (const [id, { values, message }] of found) {
    const known = rules.get(id) ?? { requests: 0, alone: 0, message, values: new Map() };
    for (const { variable, value } of values.slice(0, 1)) {
      const text = /^(?:ARGS|REQUEST_COOKIES|REQUEST_HEADERS)(?:_NAMES)?:/.test(variable) ? '' : variable;
      const key = `${text} ${JSON.stringify(value.slice(0, SHOWN))}`.trim();
      const times = known.values.get(key) ?? { count: 0, request: `${variable} of ${request}` };
      times.count++;
      known.values.set(key, times);
    }
    known.requests++;
    if (found.size === 1) known.alone++;
    rules.set(id, known);
  }
  return found.size;
}
