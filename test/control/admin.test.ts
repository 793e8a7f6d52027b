/** What surrounds the REST API: the start, the admin listener, draining, origins, traces. */
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { programEnv } from '../programs/program.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from './server.ts';

/** Runs to its end. */
function start(args: readonly string[], env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [GW_CONTROL, 'serve', '--database-url', 'pglite://', ...args], {
    env: { ...programEnv(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}

describe('gw-control serve', () => {
  it('refuses to start without GW_CONTROL_ADMIN_TOKEN, and says what to do', async () => {
    for (const env of [{}, { GW_CONTROL_ADMIN_TOKEN: '' }]) {
      const { code, stderr } = await start([], env);
      expect(code).toBe(1);
      expect(stderr).toContain('GW_CONTROL_ADMIN_TOKEN is not set: set it to a long random text');
    }
  });

  it.each([
    [['--oidc-issuer', 'https://login.example'], '--oidc-issuer needs --oidc-audience'],
    [['--oidc-issuer', 'https://login.example', '--oidc-audience', 'a'], '--oidc-issuer needs --oidc-roles'],
    [['--oidc-audience', 'a'], 'are for --oidc-issuer, which is not given'],
    [['--oidc-issuer', 'login.example'], 'Give the URL of the issuer'],
    [['--oidc-roles', 'admins=root'], '"admins=root" specifies no role'],
    [['--oidc-roles', 'admins=admin@shop'], '"admins=admin@shop" names no project'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await start(args, { GW_CONTROL_ADMIN_TOKEN: ADMIN_TOKEN });
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });
});

describe('a server', () => {
  let control: ControlServer;
  const origin = 'https://console.example';
  beforeAll(async () => {
    control = await startControl({
      args: ['--drain-delay', '5'],
      env: { GW_CONTROL_ALLOWED_ORIGINS: `${origin}, https://other.example`, GW_CONTROL_ADMIN_TOKEN: 'short' },
    });
  });
  afterAll(() => control?.stop());

  it('warns of a short admin token, without showing it', () => {
    const warning = control.log.find(({ level }) => level === 'warn')?.msg;
    expect(warning).toContain('GW_CONTROL_ADMIN_TOKEN has fewer than 16 characters');
    expect(warning).not.toContain('short');
  });

  it('says on its admin listener that it lives and is ready', async () => {
    const [live, ready, other] = await Promise.all(
      ['/healthz', '/readyz', '/else'].map((path) => fetch(control.adminUrl + path)),
    );
    expect([live?.status, await live?.json()]).toEqual([200, { status: 'healthy' }]);
    expect([ready?.status, await ready?.json()]).toEqual([200, { status: 'ready' }]);
    expect([other?.status, other?.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });

  it('counts requests, by operations and classes, with no word of a client', async () => {
    await control.ask('/whoami', { token: 'short' });
    await control.ask('/whoami', { token: 'bad' });
    await control.ask('/not-there-at-all?x=1', { token: 'short' });
    const text = await (await fetch(`${control.adminUrl}/metrics`)).text();
    expect(text).toContain('gw_control_http_requests_total{operation="tokens.whoami",status="2xx"} 1');
    expect(text).toContain('gw_control_http_requests_total{operation="tokens.whoami",status="4xx"} 1');
    expect(text).toMatch(/gw_control_http_requests_total\{operation="other",status="4xx"\} [1-9]/);
    expect(text).toContain('gw_control_authentication_failures_total{reason="refused"} 1');
    expect(text).toMatch(/gw_control_database_connections\{state="idle"\} \d/);
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).not.toContain('not-there');
  });

  it('logs a request in one line, without query and credentials', async () => {
    const answer = await control.ask('/projects?name=hidden-word', { token: 'short' });
    const id = answer.headers.get('x-request-id');
    const line = await control.logged(({ request_id, msg }) => request_id === id && msg === 'request');
    expect(line).toMatchObject({
      method: 'GET',
      path: '/projects',
      operation: 'projects.list',
      status: 200,
      actor: 'admin',
    });
    expect(JSON.stringify(control.log)).not.toMatch(/hidden-word|Bearer/);
  });

  it('lets browsers of the origins that are named in, and of no others', async () => {
    const preflight = (from: string) =>
      fetch(`${control.url}/projects`, {
        method: 'OPTIONS',
        headers: {
          origin: from,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,idempotency-key',
        },
      });
    const [allowed, denied] = await Promise.all([preflight(origin), preflight('https://evil.example')]);
    expect(allowed?.headers.get('access-control-allow-origin')).toBe(origin);
    expect(allowed?.headers.get('access-control-allow-methods')).toContain('PUT');
    expect(allowed?.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(allowed?.headers.get('access-control-allow-credentials')).toBeNull();
    expect(denied?.headers.get('access-control-allow-origin')).toBeNull();
    const answer = await control.ask('/whoami', { token: 'short', headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toContain('etag');
  });

  it('is not ready first when it stops, and still answers, then ends with 0', async () => {
    control.signal('SIGTERM');
    await eventually(async () => {
      const ready = await fetch(`${control.adminUrl}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining' }]);
    });
    const answer = await control.ask('/whoami', { token: 'short' });
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await control.exited).toBe(0);
  });
});

describe('without GW_CONTROL_ALLOWED_ORIGINS', () => {
  it('there is no cross-origin access, and --admin-bind off has no admin listener', async () => {
    const control = await startControl({ args: ['--admin-bind', 'off'] });
    const answer = await control.ask('/whoami', { headers: { origin: 'https://console.example' } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    expect(control.log.map(({ msg }) => msg)).not.toContain('admin listening');
    await control.stop();
  });
});
