import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../test/cli/captured-run.ts';
import { reportCommand } from './report.ts';

let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-report-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Rule = readonly [id: number, variable: string, ...tags: string[]];

interface Logged {
  readonly method?: string;
  readonly route?: string;
  readonly client?: string;
  readonly outcome?: string;
  readonly rules?: readonly Rule[];
}

/** A line as the gateway writes it. */
function line({ method = 'GET', route = '/books', client = '192.0.2.1', outcome = 'would-deny', rules = [] }: Logged) {
  const head = `{"level":"info","time":"2026-11-28T15:00:00.123Z","msg":"request","request_id":"5a2a2edb","trace_id":"701618f3","client_ip":"${client}","method":"${method}","path":"${route}","route":"${route}","api":"books","status":200,"duration_ms":1.998,"request_bytes":0,"response_bytes":97`;
  const matches = [...Map.groupBy(rules, ([id]) => id)].map(([id, same]) => ({
    id,
    msg: `Attack ${id}`,
    severity: 2,
    tags: same.flatMap(([, , ...tags]) => tags),
    matched: same.flatMap(([, variable]) => (variable === '' ? [] : [{ variable }])),
  }));
  return `${head},"waf":${JSON.stringify({ outcome, rule: 949110, inbound: 5, outbound: 0, rules: matches })}}\n`;
}

const report = (input: string, ...args: readonly string[]) => runCommand(reportCommand, args, {}, input);

async function json(input: string, ...args: readonly string[]) {
  return JSON.parse((await report(input, '--format', 'json', ...args)).stdout);
}

const SQLI: Rule = [942100, 'ARGS_GET:q', 'attack-sqli'];

describe('gw waf report', () => {
  it('lists by operation which rules matched where, how often and from how many networks, and what to write', async () => {
    const lines = [
      line({ rules: [SQLI, [949110, 'TX:BLOCKING_INBOUND_ANOMALY_SCORE', 'anomaly-evaluation']] }),
      line({ rules: [SQLI], client: '192.0.2.2' }),
      line({ rules: [SQLI], client: '2001:db8::1' }),
      line({ rules: [SQLI], client: '2001:db8::2' }),
      line({ route: '/notes', method: 'POST', outcome: 'matched', rules: [[920300, 'REQUEST_HEADERS']] }),
      '{"level":"info","msg":"request","method":"GET","path":"/books","route":"/books","status":200}\n',
    ];
    const { code, stdout, stderr } = await report(lines.join(''));
    expect([code, stderr]).toEqual([0, '']);
    expect(
      stdout,
    ).toBe(`5 requests with the member waf, from 2026-11-28T15:00:00.123Z to 2026-11-28T15:00:00.123Z; refused, or would be: 4

GET /books of books: 4 would-deny; from 3 networks
  RULE    VARIABLE    REQUESTS  REFUSED  NETWORKS  MESSAGE
  942100  ARGS_GET:q  4         4        3         Attack 942100
  such as 2026-11-28T15:00:00.123Z 5a2a2edb /books: scores 5 inbound, 0 outbound; rules 942100
  such as 2026-11-28T15:00:00.123Z 5a2a2edb /books: scores 5 inbound, 0 outbound; rules 942100
  such as 2026-11-28T15:00:00.123Z 5a2a2edb /books: scores 5 inbound, 0 outbound; rules 942100

POST /notes of books: 1 matched; from 1 network
  RULE    VARIABLE         REQUESTS  REFUSED  NETWORKS  MESSAGE
  920300  REQUEST_HEADERS  1         0        1         Attack 920300

For the config of waf, as far as these requests are harmless:

exclusions:
  # 4 requests from 3 networks
  - { rules: [942100], operations: ["GET /books"], parameters: ["query:q"] }
`);
  });

  it('says the same as JSON', async () => {
    const { operations, ...rest } = await json(line({ rules: [SQLI] }));
    expect(rest).toMatchObject({ lines: 1, unreadable: 0, requests: 1, refused: 1, left_out: 0 });
    const exclusion = { rules: [942100], operations: ['GET /books'], parameters: ['query:q'] };
    expect(rest.exclusions).toEqual([exclusion]);
    expect(operations).toMatchObject([
      {
        method: 'GET',
        route: '/books',
        outcomes: { 'would-deny': 1, denied: 0 },
        rules: [{ id: 942100, requests: 1, variables: [{ variable: 'ARGS_GET:q', networks: 1, exclusion }] }],
        examples: [{ request_id: '5a2a2edb', inbound: 5, rules: [942100] }],
      },
    ]);
  });

  it.each([
    ['GET', 'ARGS_GET:q', ['query:q']],
    ['GET', 'ARGS:q', ['query:q']],
    ['POST', 'ARGS:q', ['query:q', 'body:q']],
    ['POST', 'ARGS:json.a.b', ['body:a.b']],
    ['POST', 'ARGS_POST:note', ['body:note']],
    ['POST', 'ARGS_POST:json.items.17.note', ['body:items.*.note']],
    ['GET', 'REQUEST_HEADERS:User-Agent', ['header:user-agent']],
    ['GET', 'REQUEST_COOKIES:session', ['cookie:session']],
    ['GET', 'REQUEST_FILENAME', undefined],
    ['GET', 'ARGS_NAMES:q', undefined],
    ['POST', 'XML:/*', undefined],
    ['POST', '', undefined],
    ['GET', `ARGS_GET:${'x'.repeat(400)}`, undefined],
  ])('excludes for %s and %s', async (method, variable, parameters) => {
    const { exclusions } = await json(line({ method, rules: [[1, variable]] }));
    expect(exclusions).toEqual([
      { rules: [1], operations: [`${method} /books`], ...(parameters && { parameters: parameters.toSorted() }) },
    ]);
  });

  it('writes as few exclusions as there can be', async () => {
    const { exclusions } = await json(
      [
        line({ rules: [[942200, 'ARGS_GET:q'], SQLI, [942100, 'ARGS_GET:title'], [942200, 'ARGS_GET:title']] }),
        line({ route: '/authors', rules: [SQLI, [942200, 'ARGS_GET:q'], [942100, 'ARGS_GET:title']] }),
        line({ method: 'HEAD', rules: [SQLI] }),
        line({
          route: '/files',
          rules: [
            [930100, 'REQUEST_URI_RAW'],
            [930100, 'ARGS_GET:path'],
          ],
        }),
      ].join(''),
    );
    expect(exclusions).toEqual([
      { rules: [942100, 942200], operations: ['GET /authors', 'GET /books'], parameters: ['query:q'] },
      { rules: [942100, 942200], operations: ['GET /books'], parameters: ['query:title'] },
      { rules: [942100], operations: ['GET /authors'], parameters: ['query:title'] },
      { rules: [930100], operations: ['GET /files'] },
    ]);
  });

  it('names a chain of rules by the variable that it begins with', async () => {
    const { operations } = await json(
      line({
        rules: [
          [920440, 'REQUEST_BASENAME'],
          [920440, 'TX:extension'],
        ],
      }),
    );
    expect(operations[0].rules[0].variables.map(({ variable }: { variable: string }) => variable)).toEqual([
      'REQUEST_BASENAME',
    ]);
  });

  it('leaves rules without refusals to --all, and those of few networks to nobody', async () => {
    const lines = line({ rules: [SQLI] }) + line({ rules: [[920300, 'ARGS_GET:a']], outcome: 'matched' });
    expect((await json(lines)).exclusions).toHaveLength(1);
    expect((await json(lines, '--all')).exclusions).toHaveLength(2);
    expect((await json(lines, '--all', '--min-networks', '2')).exclusions).toEqual([]);
    expect((await report(lines)).stdout).toContain('# 1 request from 1 network: make sure that it is no attack\n');
  });

  it('reads files, standard input, and lines behind the text of a container runtime', async () => {
    await writeFile(at('a.log'), line({ rules: [SQLI] }).trimEnd());
    await writeFile(at('b.log'), `2026-11-28T15:00:00.123456789Z stdout F ${line({ rules: [SQLI] })}`);
    const { code, stdout } = await report(line({}), at('a.log'), '-', at('b.log'));
    expect(code).toBe(0);
    expect(stdout).toContain('3 requests with the member waf');
  });

  it('counts lines that it cannot read', async () => {
    const lines = [line({}), line({}).slice(0, -10), '\n"waf":{\n', `${'x'.repeat(3 << 20)}\n`, line({}).trimEnd()];
    const { code, stdout, stderr } = await report(lines.join(''));
    expect([code, stderr]).toEqual([0, 'gw waf report: lines that cannot be read: 3\n']);
    expect(stdout).toContain('2 requests');
  });

  it('says why it has nothing to report', async () => {
    const { code, stdout, stderr } = await report('{"msg":"request"}\n');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('no request has the member waf: no rule matched');
  });

  it('exits with 1 for refusals if it is to, and with 2 for a log that it cannot read', async () => {
    expect((await report(line({}), '--exit-code')).code).toBe(1);
    expect((await report(line({ outcome: 'matched' }), '--exit-code')).code).toBe(0);
    const { code, stderr } = await report('', at('gone.log'));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^gw waf report: cannot read .*gone\.log: ENOENT/);
    expect((await report('', folder)).stderr).toMatch(/: EISDIR/);
  });

  it('keeps a bounded number of rows, whatever clients name their parameters', async () => {
    const many = Array.from({ length: 300 }, (_, i) =>
      line({ rules: [[942100, `ARGS_GET:p${i}`]], client: `10.0.${i % 256}.1` }),
    );
    const { operations } = await json(many.join(''));
    expect(operations[0].rules[0]).toMatchObject({ requests: 300, networks: 100 });
    expect(operations[0].rules[0].variables).toHaveLength(100);
  });

  it('escapes what would change a terminal', async () => {
    const { stdout } = await report(line({ rules: [[942100, 'ARGS_GET:a\u009bb\u001b[2J']] }));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not reach a terminal
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u009b]/);
  });
});
