/** The table of docs/common-mistakes.md: each mistake is made with the `gw` command, and what is printed compared. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'common-mistakes.md'), 'utf8');
const root = mkdtempSync(join(tmpdir(), 'gw-mistakes-'));
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(root, { recursive: true });
});

const MANIFEST = 'specs: specs\nplugins:\n  mock: {}\n  http-upstream: {}\n';
const DOCUMENT = `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books/{id}:
    get:
      operationId: getBook
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
      responses:
        "200": { description: A book }
      x-gw-dispatch: { name: mock }
`;
const SCHEME = 'components: { securitySchemes: { api-key: { type: apiKey, in: header, name: X-API-Key } } }\n';

interface Files {
  readonly document: string;
  readonly manifest?: string;
}

/** A project with these files; returns its folder. */
function project({ document, manifest = MANIFEST }: Files): string {
  const folder = mkdtempSync(join(root, 'project-'));
  mkdirSync(join(folder, 'specs'));
  writeFileSync(join(folder, 'specs', 'api.yaml'), document);
  writeFileSync(join(folder, 'gw.yaml'), manifest);
  return folder;
}

interface Started {
  readonly output: () => string;
  readonly ended: Promise<void>;
  readonly stop: () => Promise<void>;
}

function gw(cwd: string, ...args: string[]): Started {
  const child = spawn(process.execPath, [GW, ...args], { cwd, env: programEnv(), stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    running.delete(child);
  };
  return { output: () => text, ended, stop };
}

/** What `gw compile` prints. */
async function compiled(files: Files, ...flags: string[]): Promise<string> {
  const { output, ended } = gw(project(files), 'compile', '-o', 'out.gwa', ...flags);
  await ended;
  return output();
}

const edited = (from: string | RegExp, to: string) => {
  expect(DOCUMENT).toMatch(from);
  return DOCUMENT.replace(from, to);
};

/** What a client gets, and what the gateway logs. */
async function asked(gateway: Started, serving: RegExp): Promise<string> {
  const url = await eventually(() => {
    const found = serving.exec(gateway.output())?.[1];
    if (found === undefined) throw new Error(gateway.output());
    return found;
  });
  const body = await (await fetch(`http://${url}/books/1`)).text();
  await eventually(() => expect(gateway.output()).toContain('upstream failed'));
  await gateway.stop();
  return `${body}\n${gateway.output()}`;
}

const upstream = (port: number) =>
  edited('name: mock }', `name: http-upstream, config: { url: "http://127.0.0.1:${port}" } }`);

const mistakes: Readonly<Record<string, () => Promise<string>>> = {
  'a key that is indented by one space too few': () => compiled({ document: edited(' operationId', 'operationId') }),
  'a misspelt plugin name': () => compiled({ document: edited('mock', 'moc') }),
  'a misspelt config key': () =>
    compiled({ document: edited('name: mock }', 'name: http-upstream, config: { urll: "https://a.example" } }') }),
  'a security scheme that is not declared': () =>
    compiled({ document: edited('operationId: getBook', 'security: [{ apiKey: [] }]') + SCHEME }),
  'a `$ref` to a name that does not exist': () =>
    compiled({
      document: `${edited('description: A book }', '$ref: "#/components/responses/Bok" }')}components: { responses: { Book: { description: A book } } }\n`,
    }),
  'an upstream that is not reachable': async () => {
    const folder = project({ document: upstream(await freePort()) });
    return asked(gw(folder, 'dev', '--listen', '127.0.0.1:0', '--admin-bind', 'off'), /compiled in .*http:\/\/(\S+)\n/);
  },
  'an upstream with `http://`': () =>
    compiled({ document: edited('name: mock }', 'name: http-upstream, config: { url: "http://10.0.0.1" } }') }),
  'an upstream at a private address': async () => {
    const folder = project({ document: upstream(await freePort()) });
    await gw(folder, 'compile', '-o', 'out.gwa', '--allow-plaintext').ended;
    const flags = ['--artifact', 'out.gwa', '--listen', '127.0.0.1:0', '--admin-bind', 'off'];
    return asked(gw(folder, 'serve', ...flags, '--allow-plaintext-upstream'), /"listen":"([^"]+)"/);
  },
  'a port that is in use': async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        if (typeof address === 'object' && address) resolve(address.port);
      });
    });
    const dev = gw(project({ document: DOCUMENT }), 'dev', '--listen', `127.0.0.1:${port}`, '--admin-bind', 'off');
    await dev.ended;
    server.close();
    return dev.output();
  },
  'a secret in plain text': () =>
    compiled({
      document:
        edited('operationId: getBook', 'security: [{ api-key: [] }]\n      x-gw-middlewares: [{ name: apikey-auth }]') +
        SCHEME,
      manifest: MANIFEST.replace(
        'mock: {}\n',
        'mock: {}\n  apikey-auth: { config: { keys: [{ key: hunter2, id: a }] } }\n',
      ),
    }),
  'an `operationId` that is used twice': () =>
    compiled({ document: `${DOCUMENT}  /other:\n    get: { operationId: getBook, x-gw-dispatch: { name: mock } }\n` }),
  'a path parameter that is not declared': () => compiled({ document: edited(/ {6}parameters:\n.*\n/, '') }),
  'a misspelt keyword of a schema': () => compiled({ document: edited('type: string', 'type: string, minLenght: 3') }),
  'a version that gw does not read': () => compiled({ document: edited('3.1.0', '4.0.0') }),
};

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| mistake'))
  .map((line) => line.slice(2, -2).split(' | '));

describe('docs/common-mistakes.md', () => {
  it('has a row for each mistake that is made here', () => {
    expect(rows.map(([mistake]) => mistake)).toEqual(Object.keys(mistakes));
  });

  it.each(rows)('%s: gw says what the page shows, and each once', async (mistake = '', says = '', next = '') => {
    const printed = await mistakes[mistake]?.();
    const lines = (printed ?? '').split('\n').map((line) => line.trim());
    const shown = says.split('<br>').map((each) => each.replace(/^`|`$/g, ''));
    for (const each of shown) {
      const pattern = new RegExp(`^${each.split('…').map(RegExp.escape).join('.*')}$`);
      expect(
        lines.filter((line) => pattern.test(line)),
        `${each}\nin\n${printed}`,
      ).toHaveLength(1);
    }
    expect(next).toMatch(/^[A-Z].*\.$/);
  });
});
