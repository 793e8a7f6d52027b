/**
 * What keeps the Secret of a control plane from being sent to the address that a project names
 * (docs/decisions.md#secret-names-hosts, docs/decisions.md#tenant-addresses).
 */
import { EgressGuard } from '@gw/gateway/egress';
import { expect, it } from 'vitest';
import { gatewayProjects, secrets } from '../../../api/resources.ts';
import { Connections } from '../../../control-plane/connection.ts';
import { ControlPlanes } from '../../../control-plane/control-planes.ts';
import { MemoryObjects } from '../../../local/memory-objects.ts';
import { addressFault, observeControlPlane } from './observe.ts';

const guard = (...allow: string[]) => new EgressGuard({ allowInternal: false, allow });

it.each<[string, boolean, readonly string[], string | undefined]>([
  ['https://control.example', false, [], undefined],
  ['https://control.example:9090/gw/', false, [], undefined],
  ['http://control.example', false, ['control.example'], 'needs spec.allowPlaintext'],
  ['http://control.example', true, [], 'must be allowed by the operator too: --egress-allow control.example'],
  ['http://control.example', true, ['control.example'], undefined],
  ['http://control.gw.svc:9090', true, ['*.svc'], undefined],
  ['http://10.1.2.3:9090', true, ['10.0.0.0/8'], undefined],
  ['http://10.1.2.3:9090', true, ['192.168.0.0/16'], '--egress-allow 10.1.2.3'],
  // What follows a `?` would be the path that is asked for, whatever the operator puts behind it.
  ['https://control.example/admin/delete?', false, [], 'a query or a fragment'],
  ['https://control.example/?a=b', false, [], 'a query or a fragment'],
  ['https://control.example/x#', false, [], 'a query or a fragment'],
  ['https://user:xyzzy@control.example', false, [], 'it holds credentials'],
  ['ftp://control.example', false, [], 'it is not a URL'],
  ['https://', false, [], 'it is not a URL'],
])('%s, plaintext %s, allowed %j', (url, plaintext, allow, fault) => {
  const found = addressFault(url, plaintext, guard(...allow));
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
  expect(found ?? '').not.toContain('xyzzy');
});

it('a Secret is used for the hosts that it names, and for no other', async () => {
  const objects = new MemoryObjects();
  const controlPlanes = new ControlPlanes(new Connections(guard()));
  const look = async (url: string, labels: object, hosts: string) => {
    const metadata = { name: 'control', namespace: 'shop', labels, annotations: { 'gw.dev/hosts': hosts } };
    const data = { token: Buffer.from('gwt_x').toString('base64') };
    await objects.apply(secrets, secrets.parse({ metadata, data }));
    const project = gatewayProjects.parse({
      metadata: { name: 'books', namespace: 'shop' },
      spec: { specs: { names: ['a'] }, controlPlane: { url, secret: 'control' } },
    });
    return (await observeControlPlane({ objects, controlPlanes }, project)).controlPlane?.secret;
  };
  const credential = { 'gw.dev/credential': 'true' };
  expect(await look('https://control.example', credential, 'control.example')).toMatchObject({ ok: true });
  const refused = { ok: false, reason: 'CredentialNotGranted' };
  expect(await look('https://evil.example', credential, 'control.example')).toMatchObject(refused);
  expect(await look('https://control.example', {}, 'control.example')).toMatchObject(refused);
  await controlPlanes.close();
});
