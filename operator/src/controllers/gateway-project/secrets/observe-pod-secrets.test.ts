/** What is said of the Secrets that pods are given. */
import { beforeEach, describe, expect, it } from 'vitest';
import { gatewayProjects, secrets } from '../../../api/resources.ts';
import { issueAuthority } from '../../../certificates/issue.ts';
import { MemoryObjects } from '../../../local/memory-objects.ts';
import { usedSecrets } from '../../../objects/used-secrets.ts';
import { ungranted } from '../../../secrets/grants.ts';
import { readPodSecrets } from './observe-pod-secrets.ts';

const times = { from: new Date('2026-01-01T00:00:00Z'), until: new Date('2026-04-01T00:00:00Z') };
const { certificate } = issueAuthority('gw test', times);

function project(spec: object) {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, ...spec },
  });
}

describe('the Secrets of pods', () => {
  let objects: MemoryObjects;
  const secret = async (name: string, data: Readonly<Record<string, string>>, labels = {}) => {
    const base64 = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    const object = { metadata: { name, namespace: 'default', labels }, data: Object.fromEntries(base64) };
    await objects.apply(secrets, secrets.parse(object));
  };
  const problems = async (spec: object) =>
    (await readPodSecrets(objects, project(spec))).problems.map(({ reason, message }) => `${reason}: ${message}`);
  beforeEach(() => {
    objects = new MemoryObjects();
  });

  it('are none where a project names none', async () => {
    expect(await readPodSecrets(objects, project({}))).toEqual({ named: false, problems: [] });
  });

  it('that are missing are named, each once', async () => {
    await secret('there', { KEY: 'x' });
    expect(
      await problems({
        secrets: { env: ['there', 'gone'], directory: 'gone' },
        serve: { state: { url: { secret: 'there', key: 'url' } } },
        tls: { secret: 'tls' },
      }),
    ).toEqual([
      'SourceNotFound: Secret "gone" is not in namespace "default"; the pods stay unchanged until then',
      'SourceNotFound: Secret "there" has no key "url"; the pods stay unchanged until then',
      'SourceNotFound: Secret "tls" is not in namespace "default"; the pods stay unchanged until then',
    ]);
  });

  it('give pods another version when one of their variables’ changes, and only then', async () => {
    await secret('a', { KEY: 'x' });
    await secret('files', { KEY: 'x' });
    await secret('redis', { url: 'redis://x' });
    const spec = {
      secrets: { env: ['a'], directory: 'files' },
      serve: { state: { url: { secret: 'redis', key: 'url' } } },
    };
    const version = async () => (await readPodSecrets(objects, project(spec))).version;
    const first = await version();
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    await secret('files', { KEY: 'y' });
    expect(await version()).toBe(first);
    await secret('a', { KEY: 'y' });
    const second = await version();
    expect(second).not.toBe(first);
    await secret('redis', { url: 'redis://y' });
    expect(await version()).not.toBe(second);
  });

  it('tell until when the certificate is good, and what is wrong with it', async () => {
    await secret('tls', { 'tls.crt': certificate.toString(), 'tls.key': 'k' });
    const { certificate: found, problems: none } = await readPodSecrets(objects, project({ tls: { secret: 'tls' } }));
    expect([found, none]).toEqual([{ secret: 'tls', ...times }, []]);
    await secret('tls', { 'tls.crt': 'no certificate', 'tls.key': 'k' });
    expect(await problems({ tls: { secret: 'tls' } })).toEqual([
      expect.stringContaining('SourceInvalid: key "tls.crt" of Secret "tls" is not a certificate in PEM'),
    ]);
    await secret('tls', { 'tls.crt': certificate.toString() });
    expect(await problems({ tls: { secret: 'tls' } })).toEqual([expect.stringContaining('has no key "tls.key"')]);
  });

  it('must have the CAs of clients where those are asked for a certificate', async () => {
    await secret('tls', { 'tls.crt': certificate.toString(), 'tls.key': 'k' });
    expect(await problems({ tls: { secret: 'tls', clientAuth: 'required' } })).toEqual([
      expect.stringContaining('Secret "tls" has no key "ca.crt"'),
    ]);
    await secret('clients', { 'ca.crt': certificate.toString() });
    expect(await problems({ tls: { secret: 'tls', clientAuth: 'required', clientCaSecret: 'clients' } })).toEqual([]);
    expect(await problems({ tls: { secret: 'tls', clientCaSecret: 'unused' } })).toEqual([]);
  });

  it('hold pods back whose keys would be variables that run something else', async () => {
    for (const key of ['NODE_OPTIONS', 'LD_PRELOAD', 'GW_EGRESS_ALLOW', 'OPENSSL_CONF']) {
      await secret('env', { KEY: 'x', [key]: '--import=data:text/javascript,xyzzy' });
      const [problem = '', ...more] = await problems({ secrets: { env: ['env'] } });
      expect(problem).toContain(`would set the variable ${key}, which must be allowed with --allow-pod-fields env`);
      expect(problem).not.toContain('xyzzy');
      expect(more).toEqual([]);
      // As files they are no variables.
      expect(await problems({ secrets: { directory: 'env' } })).toEqual([]);
      const allowed = { fields: new Set(['env'] as const) };
      const spec = project({ secrets: { env: ['env'] } });
      expect((await readPodSecrets(objects, spec, allowed)).problems).toEqual([]);
    }
  });

  it('hold pods back if they must name the project and do not, wherever the project names them', async () => {
    const spec = {
      signing: { keySecret: { name: 'a' }, trustedKeySecrets: [{ name: 'b', key: 'k' }] },
      storage: { type: 'OCI', oci: { repository: 'r.example.org/a', pushSecret: 'c', pullSecret: 'd' } },
      pods: { imagePullSecrets: ['e'] },
      secrets: { env: ['f'], directory: 'g', template: ['h'] },
      tls: { secret: 'i', clientCaSecret: 'j', clientAuth: 'required' },
      serve: { state: { url: { secret: 'k', key: 'url' } } },
      controlPlane: { url: 'https://control.example', secret: 'l' },
    };
    const names = [...'abcdefghijkl'];
    for (const name of names) await secret(name, { KEY: 'x' });
    const of = project(spec);
    expect((await ungranted(objects, of, usedSecrets(of))).map(({ name }) => name)).toEqual(names);
    const refused = await ungranted(objects, of, usedSecrets(of));
    expect(refused[5]?.message).toBe(
      'Secret "f" (spec.secrets.env) does not allow this project to use it: if it should, add "shop" to the annotation gw.dev/projects',
    );
    const held = (await readPodSecrets(objects, of, undefined, refused)).problems.map(({ message }) => message);
    for (const name of [...'efghijk']) expect(held.join('\n')).toContain(`Secret "${name}" (spec.`);
    for (const [granted, open] of [
      ['shop', true],
      ['other, shop', true],
      ['*', true],
      ['shops', false],
      ['', false],
    ] as const) {
      const metadata = { name: 'f', namespace: 'default', annotations: { 'gw.dev/projects': granted } };
      await objects.apply(secrets, secrets.parse({ metadata, data: {} }));
      expect(await ungranted(objects, of, [{ name: 'f', field: 'x' }])).toHaveLength(open ? 0 : 1);
    }
  });
});
