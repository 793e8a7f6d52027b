/**
 * `node test/bench/hostile-gaps.ts [COUNT] [SECONDS] [SEED]`: how long a client waits at most for a small answer of
 * `gw serve` while another sends what is expensive: bodies of a megabyte for generated schemas (COUNT of them, default
 * 200), texts for generated patterns and calls of generated plugins (half as many each), on four connections for SECONDS
 * each (default 1). Beside each stands a quiet run of the same length just before it. What is above it by more than 100 ms
 * runs twice more: a wait that the machine made does not come again. Needs wrk.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Json, JsonObject } from '../../gateway/src/artifact/format.ts';
import type { ProjectPlugin } from '../../gateway/src/compiler/index.ts';
import { HostileSchemas } from '../../gateway/src/validation/schemas/hostile-schemas.test-support.ts';
import { randomModule } from '../../gateway/src/wasm/binary/random-module.test-support.ts';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';

const COUNT = Number(process.argv[2] ?? 200);
const SECONDS = Number(process.argv[3] ?? 1);
const SEED = Number(process.argv[4] ?? 1);
/** Bytes of a body that the default limits admit. */
const BODY_BYTES = 1_000_000;
/** Bytes of the schemas of one operation: all together have to fit into a document. */
const SCHEMA_BYTES = 100_000;

const made = new HostileSchemas(SEED);

/** What one client sends, to an operation of its own. */
interface Attack {
  readonly kind: 'schema' | 'pattern' | 'module';
  readonly operation: JsonObject;
  readonly schemas: JsonObject;
  readonly plugins: readonly ProjectPlugin[];
  readonly body: string;
  readonly shown: string;
}

const mock = { name: 'mock', config: { body: 'ok' } };
const posted = (schema: Json, middlewares: readonly JsonObject[] = []): JsonObject => ({
  requestBody: { required: true, content: { 'application/json': { schema } } },
  responses: { 200: { description: 'OK' } },
  'x-gw-dispatch': mock,
  'x-gw-middlewares': [...middlewares],
});

/** Different bodies that are sent to schemas: making one takes seconds. */
const BODIES = 20;
const bodies: string[] = [];

/** A value of nearly the largest body. */
function largeBody(): string {
  if (bodies.length < BODIES) bodies.push(madeBody());
  return made.oneOf(bodies);
}

function madeBody(): string {
  for (;;) {
    const text = JSON.stringify(made.value(BODY_BYTES));
    if (text.length > BODY_BYTES / 2 && text.length <= 1 << 20) return text;
  }
}

function schemaAttack(name: string): Attack {
  let written = '';
  do written = JSON.stringify(made.table());
  while (written.length > SCHEMA_BYTES);
  const table = written.replaceAll('"gw:', `"#/components/schemas/${name}-`);
  const read: JsonObject = JSON.parse(table);
  const schemas = Object.fromEntries(Object.entries(read).map(([id, schema]) => [`${name}-${id}`, schema]));
  const operation = posted({ $ref: `#/components/schemas/${name}-root` });
  return { kind: 'schema', operation, schemas, plugins: [], body: largeBody(), shown: table.slice(0, 120) };
}

function patternAttack(): Attack {
  const pattern = made.pattern();
  const text = made.oneOf(['a', 'ab', 'b,a', 'aab', '0a']);
  const body = JSON.stringify(text.repeat(BODY_BYTES / text.length));
  const operation = posted({ type: 'string', pattern });
  return { kind: 'pattern', operation, schemas: {}, plugins: [], body, shown: pattern.slice(0, 120) };
}

function moduleAttack(name: string, seed: number): Attack {
  const plugin: ProjectPlugin = { name, wasm: randomModule(seed) };
  const operation = posted({ type: 'string' }, [{ name }]);
  return { kind: 'module', operation, schemas: {}, plugins: [plugin], body: '"a"', shown: `seed ${seed}` };
}

const quietOperation = { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': mock } };

function compileAll(attacks: readonly Attack[]): Promise<Uint8Array> {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Hostile', version: '1' },
    components: { schemas: Object.assign({}, ...attacks.map(({ schemas }) => schemas)) },
    paths: {
      '/quiet': quietOperation,
      ...Object.fromEntries(attacks.map(({ operation }, i) => [`/attack-${i}`, { post: operation }])),
    },
  };
  return compileSpec(
    document,
    ['mock'],
    attacks.flatMap(({ plugins }) => plugins),
  );
}

/** Returns as many attacks as wanted, of those that `gw compile` accepts. */
async function accepted(count: number, make: (i: number) => Attack): Promise<Attack[]> {
  const attacks: Attack[] = [];
  let refused = 0;
  for (let i = 0; attacks.length < count; i++) {
    const attack = make(i);
    try {
      await compileAll([attack]);
      attacks.push(attack);
    } catch {
      refused++;
    }
  }
  process.stdout.write(`${count} of kind ${attacks[0]?.kind}; ${refused} others were refused by gw compile\n`);
  return attacks;
}

/** Milliseconds of the longest wait of a client that asks again and again until `ended` settles. */
async function longestWait(url: string, ended: Promise<unknown>): Promise<number> {
  let going = true;
  void ended.finally(() => {
    going = false;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let longest = 0;
  while (going) {
    const from = performance.now();
    await new Promise<void>((resolve, reject) => {
      const sent = request(url, { agent }, (response) => response.resume().once('end', resolve));
      sent.once('error', reject).end();
    });
    longest = Math.max(longest, performance.now() - from);
    await wait(1);
  }
  agent.destroy();
  return longest;
}

const dir = mkdtempSync(join(tmpdir(), 'gw-hostile-'));

async function attackWait(gw: Gateway, path: string, body: string): Promise<number> {
  const [bodyFile, script] = [join(dir, 'body.json'), join(dir, 'post.lua')];
  writeFileSync(bodyFile, body);
  const read = `local f = io.open("${bodyFile}", "rb")\nwrk.body = f:read("*a")\nf:close()\n`;
  writeFileSync(script, `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n${read}`);
  const args = ['-t1', '-c4', `-d${SECONDS}s`, '-s', script, `${gw.url}${path}`];
  const child = spawn('wrk', args, { stdio: 'ignore' });
  return longestWait(`${gw.url}/quiet`, new Promise((resolve) => child.once('exit', resolve)));
}

interface Result {
  readonly attack: Attack;
  readonly quiet: number;
  readonly beside: number;
}

function isAbove({ quiet, beside }: Result): boolean {
  return beside > quiet + 100;
}

function report(kind: Attack['kind'], results: readonly Result[]): void {
  const of = results.filter(({ attack }) => attack.kind === kind).sort((a, b) => a.beside - b.beside);
  const at = (share: number) => (of[Math.min(of.length - 1, Math.floor(of.length * share))]?.beside ?? 0).toFixed(1);
  const quiet = of.map((each) => each.quiet).sort((a, b) => a - b);
  const most = of.filter(isAbove);
  const figures = `median ${at(0.5)}, p90 ${at(0.9)}, largest ${at(1)} ms`;
  const calm = `quiet median ${quiet[quiet.length >> 1]?.toFixed(1)}, largest ${quiet.at(-1)?.toFixed(1)} ms`;
  process.stdout.write(`${kind}: ${figures}; ${calm}; ${most.length} of ${of.length} above quiet + 100 ms\n`);
  for (const { attack, quiet: before, beside } of of.slice(-3).reverse()) {
    process.stdout.write(`  ${before.toFixed(1)} → ${beside.toFixed(1)} ms: ${attack.shown}\n`);
  }
}

execFileSync('which', ['wrk']);
const attacks = [
  ...(await accepted(COUNT, (i) => schemaAttack(`t${i}`))),
  ...(await accepted(COUNT >> 1, patternAttack)),
  ...(await accepted(COUNT >> 1, (i) => moduleAttack(`m${i}`, SEED * 1000 + i))),
];
const gw = await startGateway(await compileAll(attacks));
const results: Result[] = [];
try {
  await longestWait(`${gw.url}/quiet`, wait(5_000));
  for (const [i, attack] of attacks.entries()) {
    const quiet = await longestWait(`${gw.url}/quiet`, wait(SECONDS * 1000));
    results.push({ attack, quiet, beside: await attackWait(gw, `/attack-${i}`, attack.body) });
  }
  for (const { attack, quiet, beside } of results.filter(isAbove)) {
    const again: string[] = [];
    for (let run = 0; run < 2; run++) {
      const wait = await attackWait(gw, `/attack-${attacks.indexOf(attack)}`, attack.body);
      again.push(wait.toFixed(1));
    }
    const first = `${quiet.toFixed(1)} → ${beside.toFixed(1)} ms`;
    process.stdout.write(`again: ${first}, then ${again.join(' and ')} ms: ${attack.kind} ${attack.shown}\n`);
  }
} finally {
  for (const kind of ['schema', 'pattern', 'module'] as const) report(kind, results);
  const held = gw.log.filter(({ msg }) => msg === 'the event loop was held up');
  process.stdout.write(`the gateway logged ${held.length} stretches above 100 ms\n`);
  for (const line of held.slice(0, 10)) process.stdout.write(`  ${JSON.stringify(line)}\n`);
  await gw.stop().catch((error: Error) => process.stdout.write(`${error.message}\n`));
  rmSync(dir, { recursive: true, force: true });
}
