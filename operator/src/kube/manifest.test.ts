import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IService } from 'kubernetes-models/v1/Service';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import { describe, expect, it } from 'vitest';
import { manifest, type Part } from './manifest.ts';

const metadata = { name: 'shop', namespace: undefined };

describe('manifest', () => {
  it('leaves out what is undefined, in the order of the rest', () => {
    const object = manifest<IService>({
      kind: 'Service',
      apiVersion: 'v1',
      metadata,
      spec: { type: undefined, selector: { app: 'shop' }, ports: [{ port: 0, name: undefined }] },
    });
    expect(JSON.stringify(object)).toBe(
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"shop"},"spec":{"selector":{"app":"shop"},"ports":[{"port":0}]}}',
    );
    expect(Object.keys(object.metadata)).toEqual(['name']);
  });

  it('does not compile with a field that the kind does not have, or of another type', () => {
    const selector = {};
    const template = {};
    // @ts-expect-error: the field is `replicas`
    manifest<IDeployment>({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replica: 1 } });
    const spec = { selector, template, replicas: '1' };
    // @ts-expect-error: it is a number
    manifest<IDeployment>({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    // @ts-expect-error: a Deployment is of apps/v1
    manifest<IDeployment>({ apiVersion: 'v1', kind: 'Deployment', metadata, spec: { selector, template } });
    // @ts-expect-error: it needs `template`
    manifest<IDeployment>({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { selector } });
    // @ts-expect-error: the field is `sizeLimit`, also where there may be no volume
    const volumes: readonly Part<IVolume>[] = [...(metadata.name ? [{ name: 'tmp', emptyDir: { limit: '1Mi' } }] : [])];
    expect(volumes).toHaveLength(1);
  });
});
