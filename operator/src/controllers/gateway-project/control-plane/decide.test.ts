/** What a GatewayProject makes of its control plane: who deployed last, how pods reach it, what its conditions say. */
import { describe, expect, it } from 'vitest';
import type { ControlPlaneStatus } from '../../../api/control-plane.ts';
import type { Revision } from '../../../api/gateway-project.ts';
import { gatewayProjects } from '../../../api/resources.ts';
import type { LatestDeployment } from '../../../control-plane/answers.ts';
import type { Seen } from '../../../control-plane/mirror.ts';
import { linkParts } from '../../../objects/link.ts';
import {
  controlPlaneStatus,
  describeDesired,
  externalDeployment,
  linkAt,
  type ObservedControlPlane,
  projectName,
  syncedVerdict,
} from './decide.ts';

const hash = (digit: string) => `sha256:${digit.repeat(64)}`;
const PROJECT = '01a20078-65e3-7880-a083-4c690f7bbe16';
const revision = (number: number): Revision => ({
  revision: number,
  artifactHash: hash(String(number)),
  archive: String(number).repeat(64),
  createdAt: '2026-01-01T00:00:00Z',
});

function project(more: object = {}, status: ControlPlaneStatus = {}, observedGeneration = 1) {
  return gatewayProjects.parse({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GatewayProject',
    metadata: { name: 'books', namespace: 'shop', uid: 'u', generation: 1 },
    spec: { specs: { names: ['a'] }, controlPlane: { url: 'https://control.example/gw', secret: 'control', ...more } },
    status: { controlPlane: status, observedGeneration },
  });
}

const access = { url: 'https://control.example/gw', token: 'gwt_secret' };
const observed = (seen?: Partial<Seen>, secret: object = {}): ObservedControlPlane => ({
  secret: { ok: true, name: 'control', access, hasKey: true, ...secret },
  ...(seen ? { seen: { projectId: PROJECT, drift: [], ...seen } } : {}),
});
const deployment = (more: Partial<LatestDeployment>): LatestDeployment => ({
  deployment_id: 'ours',
  artifact_id: 'its',
  artifact_hash: hash('2'),
  kind: 'deploy',
  created_by: 'token:cluster',
  ...more,
});

const desired = describeDesired(revision(2), undefined);
const asked = { by: desired, deploymentId: 'ours' };
const where = (seen?: Partial<Seen>, before?: ControlPlaneStatus) =>
  externalDeployment(desired, observed(seen), before, hash('2'))?.message;

describe('whoever deployed last', () => {
  it.each<[string, Partial<Seen> | undefined, ControlPlaneStatus | undefined, string | undefined]>([
    ['the cluster', { asked, latest: deployment({}) }, undefined, undefined],
    ['nobody', { asked, latest: null }, undefined, undefined],
    [
      'somebody else',
      { asked, latest: deployment({ deployment_id: 'x', artifact_hash: hash('1'), created_by: 'oidc:ann' }) },
      undefined,
      `oidc:ann deployed ${hash('1')} at the control plane`,
    ],
    [
      'somebody who went back',
      {
        asked,
        latest: deployment({ deployment_id: 'x', artifact_hash: hash('1'), kind: 'rollback', created_by: 'admin' }),
      },
      undefined,
      `admin rolled back to ${hash('1')} at the control plane`,
    ],
    [
      'the control plane itself',
      {
        asked,
        latest: deployment({
          deployment_id: 'x',
          artifact_hash: hash('1'),
          kind: 'automatic_rollback',
        }),
      },
      undefined,
      `the control plane rolled back to ${hash('1')}: too many data planes rejected what was deployed`,
    ],
    [
      'somebody else, the same as the cluster',
      { asked, latest: deployment({ deployment_id: 'x', created_by: 'admin' }) },
      undefined,
      undefined,
    ],
    [
      'the cluster, which wants something else by now',
      {
        asked: { by: describeDesired(revision(1), undefined), deploymentId: 'old' },
        latest: deployment({ deployment_id: 'x' }),
      },
      undefined,
      undefined,
    ],
    [
      'somebody else, as the status remembers while nothing answers',
      undefined,
      { asked, deployed: hash('1'), deployedBy: 'admin' },
      `admin deployed ${hash('1')} at the control plane`,
    ],
    [
      'the cluster, as the status remembers',
      undefined,
      { asked, deployed: hash('1'), deployedBy: 'operator' },
      undefined,
    ],
  ])('%s', (_, seen, before, message) => {
    expect(where(seen, before)).toBe(message);
  });

  it('a Deployment asks again for what was asked for before', () => {
    const asking = {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'Deployment',
      metadata: { name: 'back', uid: 'd', generation: 2 },
      spec: { project: 'books', artifact: { revision: 2 } },
    };
    expect(describeDesired(revision(2), asking)).toBe(`${desired} by Deployment back d/2`);
  });
});

describe('the link of pods', () => {
  it('goes to the channel of the control plane, with the key of the Secret', () => {
    const link = linkAt(project(), observed({}, { access: { ...access, ca: 'PEM' } }));
    expect(link).toEqual({
      url: 'wss://control.example/gw/ws/data-plane',
      projectId: PROJECT,
      credential: { kind: 'secret', name: 'control', key: 'data-plane-key', ca: 'ca.crt' },
    });
    const { env, volumes } = linkParts(
      link ?? { url: '', projectId: '', credential: { kind: 'secret', name: '', key: '' } },
    );
    expect(env).toContainEqual({ name: 'GW_CONTROL_PLANE_CA', value: '/var/run/gw-link/ca.crt' });
    expect(JSON.stringify(volumes)).toContain('{"key":"data-plane-key","path":"key"},{"key":"ca.crt","path":"ca.crt"}');
  });

  it('is none without the project or a key, and stays while the Secret is gone', () => {
    const gone = { ok: false, reason: 'SourceNotFound', message: 'gone' } as const;
    expect(linkAt(project(), { secret: { ok: true, name: 'control', access, hasKey: true } })).toBeUndefined();
    expect(linkAt(project(), observed({}, { hasKey: false }))).toBeUndefined();
    const linked = { projectId: PROJECT, linked: { privateCa: false } };
    expect(linkAt(project({}, linked), { secret: gone })).toMatchObject({ projectId: PROJECT });
    const whole = { ...linked, linked: { privateCa: false, url: 'https://control.example/gw', secret: 'control' } };
    expect(controlPlaneStatus(project({}, linked), { secret: gone })).toEqual(whole);
  });

  it('leads nowhere else while the Secret may not be sent there', () => {
    const refused = { ok: false, reason: 'CredentialNotGranted', message: 'no' } as const;
    const before = controlPlaneStatus(project(), observed({}));
    const moved = project({ url: 'https://evil.example', secret: 'other' }, before);
    expect(linkAt(moved, { secret: refused })).toEqual(linkAt(project(), observed({})));
    expect(controlPlaneStatus(moved, { secret: refused }).linked).toEqual(before.linked);
    // A status of before it said where, and a spec that has changed meanwhile: to no address at all.
    const old = { projectId: PROJECT, linked: { privateCa: false } };
    expect(linkAt(project({}, old), { secret: refused })).toEqual(linkAt(project(), observed({})));
    expect(
      linkAt(project({ url: 'https://evil.example', secret: 'other' }, old, 0), { secret: refused }),
    ).toBeUndefined();
    const never = project({ url: 'https://evil.example' }, { projectId: PROJECT });
    expect(linkAt(never, { secret: refused })).toBeUndefined();
  });
});

it('its status says what is deployed there, by whom, and nothing of secrets', () => {
  const seen = { asked, synced: hash('2'), latest: deployment({}), drift: ['spec "a" was changed there'] };
  const status = controlPlaneStatus(project(), observed(seen));
  expect(status).toEqual({
    projectId: PROJECT,
    synced: hash('2'),
    asked,
    linked: { privateCa: false, url: 'https://control.example/gw', secret: 'control' },
    deployed: hash('2'),
    deployedBy: 'operator',
    drift: ['spec "a" was changed there'],
  });
  expect(JSON.stringify(status)).not.toContain('gwt_');
  const found = { ...seen, asked: { ...asked, found: true } };
  expect(controlPlaneStatus(project(), observed(found))).toMatchObject({ deployedBy: 'token:cluster' });
});

it.each<[string, ObservedControlPlane, string, string]>([
  ['all is there', observed({ synced: hash('2') }), 'True', 'Synced'],
  ['the newest is not sent yet', observed({ synced: hash('1') }), 'Unknown', 'Syncing'],
  ['nothing answers', observed({ problem: { kind: 'away', message: 'no' } }), 'Unknown', 'ControlPlaneAway'],
  ['the token is refused', observed({ problem: { kind: 'refused', message: 'no' } }), 'False', 'ControlPlaneRefused'],
  ['another GatewayProject has it', observed({ problem: { kind: 'taken', message: 'no' } }), 'False', 'Conflict'],
  ['there is no key', observed({ synced: hash('2') }, { hasKey: false }), 'False', 'DataPlaneKeyMissing'],
  ['something differs', observed({ synced: hash('2'), drift: ['x'] }), 'False', 'Drifted'],
])('Synced, where %s', (_, at, status, reason) => {
  expect(syncedVerdict(project(), at, hash('2'))).toMatchObject({ type: 'Synced', status, reason });
});

it('the name there is NAMESPACE.NAME, or what the project says', () => {
  expect(projectName(project())).toBe('shop.books');
  expect(projectName(project({ project: 'Books' }))).toBe('Books');
});
