/** `gw-control` as people and scripts run it: exit codes, contexts, JSON, what it says when something is wrong. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderControlCli } from '../../control/src/cli/cli-doc.ts';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { type CommandRun, type GwControl, gwControl } from './gw-control.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from './server.ts';

const root = join(import.meta.dirname, '..', '..');

let folder: string;
let server: ControlServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-commands-'));
  server = await startControl();
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run: GwControl = (args, input, env) => gwControl({ XDG_CONFIG_HOME: folder })(args, input, env);

describe('gw-control', () => {
  it('keeps server and token in a context that only its owner may read', async () => {
    const set = ['context', 'set', 'tests', '--server', server.url, '--token-stdin'];
    expect(await run(set, `${ADMIN_TOKEN}\n`)).toMatchObject({ code: 0 });
    expect(statSync(join(folder, 'gw', 'control.yaml')).mode & 0o777).toBe(0o600);
    const listed = await run(['context', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual([
      { name: 'tests', current: true, server: server.url, project: null, has_token: true },
    ]);
    expect(listed.stdout).not.toContain(ADMIN_TOKEN);
    expect((await run(['whoami'])).stdout).toContain('admin');
  });

  it('sends the token of a context to no other server', async () => {
    const other = new URL(server.url);
    other.hostname = 'localhost';
    const { code, stderr } = await run(['whoami', '--server', other.href]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('GW_CONTROL_TOKEN')]);
  });

  it('compiles and deploys, and exits with 3 where what it waited for failed', async () => {
    expect(await run(['init', 'shop'])).toMatchObject({ code: 0 });
    const compiled = await run(['compile', '--project', 'shop', '--wait', '--json']);
    expect([compiled.code, JSON.parse(compiled.stdout).status]).toEqual([0, 'succeeded']);
    const deployed = await run(['deploy', '--project', 'shop', '--wait', '--json']);
    expect([deployed.code, JSON.parse(deployed.stdout).status]).toEqual([0, 'succeeded']);

    const file = join(folder, 'broken.yaml');
    writeFileSync(
      file,
      'openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths:\n  /a: { get: { x-gw-dispatch: { name: nope } } }\n',
    );
    expect(await run(['specs', 'push', file, '--project', 'shop'])).toMatchObject({ code: 0 });
    const failed = await run(['compile', '--project', 'shop', '--wait']);
    expect([failed.code, failed.stderr]).toEqual([3, expect.stringMatching(/broken\.yaml:4:\d+: error E1040/)]);
  });

  it('deploys what was before where the latest compilation failed, and says so', async () => {
    const [before] = JSON.parse((await run(['artifacts', 'list', '--project', 'shop', '--json'])).stdout);
    const { code, stdout, stderr } = await run(['deploy', '--project', 'shop', '--json']);
    expect([code, JSON.parse(stdout).artifact_id]).toEqual([0, before.id]);
    expect(stderr).toMatch(/^the latest compilation has failed \(.*\): this deploys what was before, /);
    expect(stderr).toContain(before.artifact_hash.slice('sha256:'.length, 19));
  });

  it('takes names and the beginnings of hashes where it takes ids', async () => {
    const json = async (...args: string[]) => JSON.parse((await run([...args, '--project', 'shop', '--json'])).stdout);
    const [artifact] = await json('artifacts', 'list');
    const hash = artifact.artifact_hash.slice('sha256:'.length, 19);
    expect(await json('artifacts', 'list', '--hash', hash)).toMatchObject([{ id: artifact.id }]);
    expect(await json('artifacts', 'get', hash)).toMatchObject({ id: artifact.id });
    expect(await json('compilations', 'get', `sha256:${hash}`)).toMatchObject({ artifact_id: artifact.id });
    const [deployment] = await json('deployments', 'list');
    const id = deployment.deployment_id;
    expect(await json('deployments', 'get', hash)).toMatchObject({ deployment_id: id });
    expect(await json('deployments', 'get', id.slice(-10))).toMatchObject({ deployment_id: id });
    for (const what of [
      ['api-keys', 'create', 'edge'],
      ['api-keys', 'create', 'edge'],
    ])
      await json(...what);
    const two = await run(['api-keys', 'revoke', 'edge', '--project', 'shop']);
    expect([two.code, two.stderr]).toEqual([
      1,
      expect.stringContaining('2 match "edge" as active key: choose one by its id'),
    ]);
    const [{ id: key }] = await json('api-keys', 'list');
    expect(await run(['api-keys', 'revoke', key, '--project', 'shop'])).toMatchObject({ code: 0 });
    expect(await run(['api-keys', 'revoke', 'edge', '--project', 'shop'])).toMatchObject({ code: 0 });
    await run(['tokens', 'create', 'ci', '--role', 'viewer']);
    expect(await run(['tokens', 'revoke', 'ci'])).toMatchObject({ code: 0 });
    const none = await run(['data-planes', 'disconnect', 'edge-1', '--project', 'shop']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('see gw-control data-planes list')]);
  });

  it('adds the newest version of a plugin where none is given', async () => {
    const added = await run(['project-plugins', 'add', 'rate-limit', '--project', 'shop', '--json']);
    const [newest] = JSON.parse((await run(['plugins', 'versions', 'rate-limit', '--json'])).stdout);
    expect(JSON.parse(added.stdout)).toMatchObject({ plugin_name: 'rate-limit', plugin_version: newest.version });
    const unknown = await run(['project-plugins', 'add', 'nope', '--project', 'shop']);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('nope')]);
  });

  it('takes upstream MCP servers from a file, and keeps them where none is given', async () => {
    const file = join(folder, 'mcp.yaml');
    writeFileSync(
      file,
      'upstreams: { wiki: { url: "https://wiki.example/mcp", headers: { authorization: env://WIKI } } }\n',
    );
    const created = await run(['projects', 'create', 'agents', '--mcp', file, '--json']);
    expect(JSON.parse(created.stdout).mcp).toMatchObject({ upstreams: { wiki: { url: 'https://wiki.example/mcp' } } });
    const renamed = await run(['projects', 'update', 'agents', '--description', 'x']);
    expect(renamed.stdout).toMatch(/MCP upstreams:\s+wiki/);
    writeFileSync(
      file,
      'upstreams: { wiki: { url: "https://wiki.example/mcp", headers: { authorization: Bearer x } } }\n',
    );
    const refused = await run(['projects', 'update', 'agents', '--mcp', file]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is a credential in plain text')]);
    writeFileSync(file, '');
    const none = await run(['projects', 'update', 'agents', '--mcp', file, '--json']);
    expect(JSON.parse(none.stdout).mcp).toEqual({});
  });

  it('exits with 1 and what to do where a request is refused, or is not understood', async () => {
    const refused = await run(['projects', 'get', 'nowhere']);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('gw-control projects list') });
    const away = await run(['health', '--server', 'http://127.0.0.1:9']);
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('is gw-control running')]);
    expect((await run(['projects', 'create'])).code).toBe(1);
    expect((await run(['nothing-of-the-kind'])).code).toBe(1);
    expect((await run(['--help'])).code).toBe(0);
  });

  it('binds operations that others bind at the same time: none has to do it again', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const paths = names.map((name) => `  /${name}: { get: { operationId: ${name} } }\n`).join('');
    const spec = join(folder, 'bound.yaml');
    writeFileSync(spec, `openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths:\n${paths}`);
    expect(await run(['specs', 'push', spec])).toMatchObject({ code: 0 });
    const bound = await Promise.all(
      names.map((name) => {
        const patch = join(folder, `${name}.yaml`);
        writeFileSync(patch, `${name}: { dispatch: { name: mock } }\n`);
        return run(['specs', 'bind', 'bound', '--patch', patch]);
      }),
    );
    expect(bound.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, '']));
    const { stdout } = await run(['specs', 'operations', 'bound', '--json']);
    expect(stdout.match(/"name":\s*"mock"/g)).toHaveLength(names.length);
  });

  it('downloads files whole or not at all', async () => {
    const [artifact] = JSON.parse((await run(['artifacts', 'list', '--project', 'shop', '--json'])).stdout);
    const file = join(folder, 'shop.gwa');
    expect(await run(['artifacts', 'download', artifact.id, '--output', file])).toMatchObject({ code: 0 });
    expect(statSync(file).size).toBe(artifact.size);
    const missing = join(folder, 'missing.gwa');
    const nowhere = '00000000-0000-4000-8000-000000000000';
    expect((await run(['artifacts', 'download', nowhere, '--output', missing])).code).toBe(1);
    expect(() => statSync(missing)).toThrow();
  });

  it('is not disturbed by a reader that has had enough', async () => {
    const { code, stderr } = await new Promise<CommandRun>((resolve) => {
      const command = `"${process.execPath}" "${GW_CONTROL}" completion bash | head -1; exit \${PIPESTATUS[0]}`;
      execFile('bash', ['-c', command], (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });
    expect([code, stderr]).toEqual([0, '']);
  });
});

it('docs/control-cli.md is what the commands say', () => {
  expect(readFileSync(join(root, 'docs', 'control-cli.md'), 'utf8')).toBe(renderControlCli());
});
