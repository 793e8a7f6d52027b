import { describe, expect, it } from 'vitest';
import type { Revision } from '../api/gateway-project.ts';
import { type GatewayProject, gatewayProjects } from '../api/resources.ts';
import { artifactSource } from './artifact-volume.ts';
import { podTemplate } from './pod-template.ts';

const IMAGE = `r.example.org:5000/team/shop@sha256:${'a'.repeat(64)}`;
const SETTINGS = { image: 'gw:test', trustedKeys: [] };
const revision = (place: object): Revision => ({
  revision: 1,
  artifactHash: `sha256:${'b'.repeat(64)}`,
  archive: 'c'.repeat(64),
  createdAt: '',
  ...place,
});

function project(oci?: object, pods: object = {}): GatewayProject {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1' },
    spec: {
      specs: { selector: {} },
      pods,
      storage: oci ? { type: 'OCI', oci: { repository: 'r.example.org:5000/team/shop', ...oci } } : {},
    },
  });
}

describe('pods find their artifact', () => {
  it('in ConfigMaps, as one folder', () => {
    const { volumes, initContainers } = artifactSource(project(), revision({ parts: 2 }), SETTINGS);
    const sources = [0, 1].map((index) => ({ configMap: { name: `shop-${'c'.repeat(64)}-${index}` } }));
    expect(volumes).toEqual([{ name: 'artifact', projected: { defaultMode: 0o444, sources } }]);
    expect(initContainers).toEqual([]);
  });

  it('in an image volume where the cluster has those, pulled with the Secret for it', () => {
    const of = project({ pullSecret: 'pull' }, { imagePullSecrets: ['gateway', 'pull'] });
    const template = podTemplate(of, revision({ image: IMAGE }), { ...SETTINGS, imageVolumes: true });
    expect(template).toMatchObject({
      spec: {
        imagePullSecrets: [{ name: 'gateway' }, { name: 'pull' }],
        volumes: [{ name: 'artifact', image: { reference: IMAGE, pullPolicy: 'IfNotPresent' } }, {}],
      },
    });
    expect(template).not.toHaveProperty('spec.initContainers');
  });

  it('by an init container where it has not, or where that is wanted', () => {
    for (const [oci, imageVolumes] of [
      [{ plainHttp: true }, false],
      [{ plainHttp: true, mount: 'InitContainer' }, true],
    ] as const) {
      const of = project({ ...oci, pullSecret: 'pull' });
      const settings = { ...SETTINGS, imageVolumes, egressAllow: ['10.0.0.0/8'] };
      const { volumes, volumeMounts, initContainers } = artifactSource(of, revision({ image: IMAGE }), settings);
      expect(initContainers).toMatchObject([
        {
          image: 'gw:test',
          command: ['node', '/app/gw-operator.js'],
          args: [
            ...['fetch', IMAGE, '/artifact', '--docker-config', '/var/run/gw-registry/0.json'],
            ...['--plain-http-registry', 'r.example.org:5000', '--egress-allow', '10.0.0.0/8'],
          ],
          securityContext: { readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
        },
      ]);
      expect(volumeMounts).toEqual([{ name: 'artifact', mountPath: '/artifact', readOnly: true }]);
      expect(volumes).toMatchObject([
        { name: 'artifact', emptyDir: {} },
        { name: 'gw-registry', projected: { sources: [{ secret: { name: 'pull', optional: true } }] } },
      ]);
    }
  });

  it('with the Secrets of the pods where none is named', () => {
    const of = project({ mount: 'InitContainer' }, { imagePullSecrets: ['one', 'two'] });
    const { volumes, initContainers } = artifactSource(of, revision({ image: IMAGE }), SETTINGS);
    expect(JSON.stringify(initContainers)).toContain('/var/run/gw-registry/1.json');
    expect(volumes).toHaveLength(2);
    const without = artifactSource(project({ mount: 'InitContainer' }), revision({ image: IMAGE }), SETTINGS);
    expect(without.volumes).toHaveLength(1);
    expect(JSON.stringify(without.initContainers)).not.toContain('--docker-config');
  });

  it('in the repository that it was pushed to, as that was reached then', () => {
    const recorded = { pullSecret: 'old', plainHttp: true };
    const moved = revision({ image: IMAGE.replace('team', 'old'), registry: recorded });
    const text = JSON.stringify(
      artifactSource(project({ pullSecret: 'new', mount: 'InitContainer' }), moved, SETTINGS),
    );
    expect(text).toContain('"old"');
    expect(text).toContain('--plain-http-registry');
    expect(text).not.toContain('"new"');
  });
});
