import { describe, expect, it } from 'vitest';
import { gatewayProjects, ingresses, services } from '../../api/resources.ts';
import type { KubeObject, Resource } from '../../kube/kube-object.ts';
import { MemoryObjects } from '../../local/memory-objects.ts';
import { ApiError } from '../../runtime/api-server.ts';
import { readOwned } from './owned-objects.ts';

class Narrowed extends MemoryObjects {
  readonly #forbidden: Resource<KubeObject>;
  constructor(forbidden: Resource<KubeObject>) {
    super();
    this.#forbidden = forbidden;
  }

  override async listMetadata(...[resource, options]: Parameters<MemoryObjects['listMetadata']>) {
    if (resource === this.#forbidden) throw new ApiError(403, 'Forbidden', `cannot list ${resource.plural}`);
    return super.listMetadata(resource, options);
  }
}

const project = (spec: object = {}) =>
  gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1' },
    spec: { specs: { selector: {} }, ...spec },
  });

describe('where the role of the operator is narrow', () => {
  it('a kind that the project does not ask for is no matter', async () => {
    expect(await readOwned(new Narrowed(ingresses), project())).toMatchObject({ owned: [], notAllowed: [] });
  });

  it('one that it asks for is told', async () => {
    const asking = project({ exposure: { ingress: { hosts: ['shop.example.com'] } } });
    expect(await readOwned(new Narrowed(ingresses), asking)).toMatchObject({ notAllowed: [ingresses] });
  });

  it('one without which there is no gateway is an error', async () => {
    await expect(readOwned(new Narrowed(services), project())).rejects.toThrow('cannot list services');
  });
});
