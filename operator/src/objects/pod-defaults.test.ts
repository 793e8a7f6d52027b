/** What a fleet gives the pods of all projects, and what a project says over it. */
import type { JsonObject } from '@gw/gateway/artifact';
import { describe, expect, it } from 'vitest';
import { gatewayProjects } from '../api/resources.ts';
import { DEFAULT_POD_POLICY } from './pod-policy.ts';
import { podRefusal, podTemplate } from './pod-template.ts';

const REVISION = { revision: 1, artifactHash: 'sha256:a', archive: 'a', createdAt: '', parts: 1 };
const DEFAULTS: JsonObject = {
  metadata: { labels: { team: 'fleet', cost: 'shared' }, annotations: { 'example.org/mesh': 'off' } },
  spec: {
    nodeSelector: { pool: 'gateways' },
    runtimeClassName: 'gvisor',
    priorityClassName: 'gateways',
    securityContext: { fsGroup: 2000 },
    containers: [
      {
        name: 'gateway',
        resources: { limits: { memory: '1Gi' } },
        env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/ca' }],
      },
    ],
  },
};

const settings = { image: 'gw:test', trustedKeys: [], policy: { ...DEFAULT_POD_POLICY, defaults: DEFAULTS } };
const project = (pods: object = {}) =>
  gatewayProjects.parse({ metadata: { name: 'shop', namespace: 'a' }, spec: { specs: { selector: {} }, pods } });
const made = (pods?: object) => podTemplate(project(pods), REVISION, settings);
const refusal = (pods?: object) => podRefusal(project(pods), REVISION, settings);

describe('the defaults of a fleet', () => {
  it('are in the pods of a project that says nothing, beyond what a project may ask for', () => {
    expect(made()).toMatchObject({
      metadata: { labels: { team: 'fleet', cost: 'shared', 'gw.dev/project': 'shop' } },
      spec: {
        nodeSelector: { pool: 'gateways' },
        runtimeClassName: 'gvisor',
        securityContext: { fsGroup: 2000, runAsNonRoot: true },
        containers: [
          { resources: { limits: { memory: '1Gi' } }, env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/ca' }] },
        ],
      },
    });
    expect(refusal()).toBeUndefined();
  });

  it('give way to what a project says itself, field by field', () => {
    const resources = { requests: { cpu: '1' }, limits: { memory: '2Gi' } };
    const own = { labels: { team: 'shop' }, nodeSelector: { pool: 'own' }, resources };
    expect(made(own)).toMatchObject({
      metadata: { labels: { team: 'shop', cost: 'shared' } },
      spec: {
        nodeSelector: { pool: 'own' },
        priorityClassName: 'gateways',
        runtimeClassName: 'gvisor',
        containers: [{ resources }],
      },
    });
  });

  it('may not be taken away by a project that may not ask for the field', () => {
    const template = { spec: { runtimeClassName: null } };
    expect(refusal({ template })).toContain('spec.runtimeClassName must be allowed with --allow-pod-fields');
    expect(made({ template })).toMatchObject({ spec: { runtimeClassName: 'gvisor' } });
  });

  it('that would lose the pods are refused', () => {
    const policy = { ...DEFAULT_POD_POLICY, defaults: { metadata: { labels: { 'gw.dev/project': 'x' } } } };
    const message = podRefusal(project(), REVISION, { ...settings, policy });
    expect(message).toContain('--pod-defaults of the operator: metadata.labels may not change "gw.dev/project"');
  });
});
