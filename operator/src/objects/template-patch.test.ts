/** `spec.pods.template`: what users change of the pods with it, and what they may not. */
import { describe, expect, it } from 'vitest';
import { gatewayProjects } from '../api/resources.ts';
import { DEFAULT_POD_POLICY } from './pod-policy.ts';
import { podRefusal, podTemplate } from './pod-template.ts';

const SETTINGS = { image: 'gw:test', trustedKeys: [] };
/** Containers beside the gateway, and an image for them. */
const FURTHER = { ...DEFAULT_POD_POLICY, images: ['shipper'], fields: new Set(['containers'] as const) };
const REVISION = {
  revision: 1,
  artifactHash: `sha256:${'a'.repeat(64)}`,
  archive: 'a'.repeat(64),
  createdAt: '',
  parts: 1,
};

function project(template: object) {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, pods: { template } },
  });
}

describe('a patch of the pod template', () => {
  it('adds to the container, and containers beside it', () => {
    const of = project({
      spec: {
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['legacy'] }],
        containers: [
          { name: 'gateway', env: [{ name: 'TZ', value: 'UTC' }] },
          { name: 'log-shipper', image: 'shipper:1' },
        ],
      },
    });
    const settings = { ...SETTINGS, policy: FURTHER };
    expect(podRefusal(of, REVISION, settings)).toBeUndefined();
    expect(podTemplate(of, REVISION, settings)).toMatchObject({
      spec: {
        hostAliases: [{ ip: '10.0.0.1' }],
        containers: [
          { name: 'gateway', image: 'gw:test', env: [{ name: 'TZ', value: 'UTC' }] },
          { name: 'log-shipper' },
        ],
      },
    });
  });

  it.each([
    [
      'the image of the gateway, which has a field of its own',
      { spec: { containers: [{ name: 'gateway', image: 'gw:other' }] } },
      'set the image of the container "gateway" in spec.pods.image',
    ],
    ['a label that pods are selected by', { metadata: { labels: { 'gw.dev/project': 'x' } } }, '"gw.dev/project"'],
    ['the same, deleted', { metadata: { labels: { 'app.kubernetes.io/name': null } } }, '"app.kubernetes.io/name"'],
    ['all labels', { metadata: { labels: { $patch: 'replace', a: 'b' } } }, 'metadata.labels may not change'],
    ['what pods say that they serve', { metadata: { annotations: { 'gw.dev/revision': '9' } } }, '"gw.dev/revision"'],
    ['the whole template', { $patch: 'delete' }, 'metadata.labels'],
    ['the container that serves', { spec: { containers: [{ name: 'gateway', $patch: 'delete' }] } }, '"gateway"'],
    ['a patch that is none', { spec: { volumes: [{ emptyDir: {} }] } }, 'spec.volumes: an element has no "name"'],
  ])('is refused where it changes %s, and says so', (_, template, message) => {
    const of = project(template);
    const refusal = podRefusal(of, REVISION, SETTINGS);
    expect(refusal).toContain('spec.pods.template: ');
    expect(refusal).toContain(message);
    // What is refused changes nothing.
    expect(podTemplate(of, REVISION, SETTINGS)).toEqual(podTemplate(project({}), REVISION, SETTINGS));
  });
});
