import { describe, expect, it } from 'vitest';
import { requestInfo } from './request-info.ts';

describe('a request in the words of RBAC', () => {
  it.each([
    ['GET', '/api/v1/namespaces/shop/configmaps/a', false, 'get  configmaps shop a'],
    ['GET', '/api/v1/configmaps', true, 'watch  configmaps - -'],
    ['GET', '/api/v1/namespaces', false, 'list  namespaces - -'],
    ['GET', '/api/v1/namespaces/shop', false, 'get  namespaces - shop'],
    ['PATCH', '/apis/gw.dev/v1alpha1/namespaces/shop/apispecs/a/status', false, 'patch gw.dev apispecs/status shop a'],
    ['POST', '/apis/events.k8s.io/v1/namespaces/shop/events', false, 'create events.k8s.io events shop -'],
    ['PUT', '/apis/coordination.k8s.io/v1/namespaces/x/leases/l', false, 'update coordination.k8s.io leases x l'],
    ['DELETE', '/api/v1/namespaces/shop/configmaps/a', false, 'delete  configmaps shop a'],
    ['DELETE', '/api/v1/namespaces/shop/configmaps', false, 'deletecollection  configmaps shop -'],
  ])('%s %s', (method, path, watching, expected) => {
    const info = requestInfo(method, path, watching);
    expect(info && `${info.verb} ${info.group} ${info.resource} ${info.namespace ?? '-'} ${info.name ?? '-'}`).toBe(
      expected,
    );
  });

  it.each(['/readyz', '/apis/gw.dev/v1alpha1', '/apis', '/api/v1', '/'])('%s is no resource', (path) =>
    expect(requestInfo('GET', path, false)).toBeUndefined(),
  );
});
