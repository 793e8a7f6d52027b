import { describe, expect, it } from 'vitest';
import type { Read } from '../../api/refusal.ts';
import { type ApiSpec, apiSpecs, type GatewayProject, gatewayProjects } from '../../api/resources.ts';
import { decideApiSpec } from './decide.ts';
import type { Document } from './document.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const TIME = '2026-01-01T00:00:00Z';
const HASH = `sha256:${'a'.repeat(64)}`;
const spec: ApiSpec = apiSpecs.parse({
  metadata: { name: 'books', namespace: 'default', generation: 4 },
  spec: { source: { inline: 'x' } },
});
const read: Read<{ document: Document }> = { ok: true, document: { file: 'books.yaml', files: [], sha256: 'new' } };

const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: `${type} ${reason}`,
  lastTransitionTime: TIME,
});

function project(more: object = {}, sha256 = 'new'): GatewayProject {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', generation: 1 },
    spec: { specs: { names: ['books'] } },
    status: {
      observedGeneration: 1,
      artifactHash: HASH,
      revision: 2,
      latestRevision: 2,
      specs: [{ name: 'books', generation: 4, sha256 }],
      pods: { wanted: 1, ready: 1, programmed: 1 },
      conditions: [
        condition('Accepted', 'True', 'Accepted'),
        condition('Compiled', 'True', 'Compiled'),
        condition('Programmed', 'True', 'Programmed'),
      ],
      ...more,
    },
  });
}

const broken = {
  conditions: [condition('Compiled', 'False', 'CompileFailed'), condition('Programmed', 'True', 'Programmed')],
};
const diagnostic = (apiSpec: string) => ({
  code: 'E1003',
  severity: 'error',
  message: 'unresolved',
  apiSpec,
  file: `${apiSpec}.yaml`,
});

describe('what an ApiSpec says of itself', () => {
  it.each([
    ['it is served', [project()], 'True Compiled', 'True Ready', HASH],
    ['no project takes it', [], 'False NotCompiled', 'False NotCompiled', undefined],
    [
      'the project has not seen this document yet',
      [project({}, 'old')],
      'Unknown NotCompiled',
      'Unknown NotCompiled',
      undefined,
    ],
    [
      'it does not compile',
      [project({ ...broken, diagnostics: [diagnostic('books')] })],
      'False CompileFailed',
      'False LastGoodServing',
      undefined,
    ],
    [
      'another document does not compile',
      [project({ ...broken, diagnostics: [diagnostic('other')] })],
      'False CompileFailed',
      'False LastGoodServing',
      undefined,
    ],
    [
      'pods are being replaced',
      [
        project({
          conditions: [condition('Compiled', 'True', 'Compiled'), condition('Programmed', 'False', 'RollingOut')],
        }),
      ],
      'True Compiled',
      'False NotReady',
      undefined,
    ],
    [
      'a Deployment holds the project to an older revision',
      [project({ revision: 1 })],
      'True Compiled',
      'False Pinned',
      undefined,
    ],
    [
      'its newest revision failed, and the project went back',
      [project({ revision: 1, failed: { revision: 2, artifactHash: 'sha256:b', message: 'it ended' } })],
      'True Compiled',
      'False RolledBack',
      undefined,
    ],
  ] satisfies [string, GatewayProject[], string, string, string | undefined][])(
    'when %s',
    (_, projects, compiled, ready, hash) => {
      const { status } = decideApiSpec({ apiSpec: spec, read, projects }, NOW);
      const of = (type: string) =>
        status.conditions?.filter((found) => found.type === type).map((found) => `${found.status} ${found.reason}`)[0];
      expect([of('Accepted'), of('Compiled'), of('Ready'), status.artifactHash]).toEqual([
        'True Accepted',
        compiled,
        ready,
        hash,
      ]);
    },
  );

  it('it shows its own diagnostics, and not those of others', () => {
    const projects = [project({ ...broken, diagnostics: [diagnostic('books'), diagnostic('other')] })];
    const { status, events } = decideApiSpec({ apiSpec: spec, read, projects }, NOW);
    expect(status.diagnostics).toEqual([diagnostic('books')]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'Warning', reason: 'CompileFailed' }));
  });

  it('without a document it is not accepted', () => {
    const missing = { ok: false, reason: 'SourceNotFound', message: 'no ConfigMap' } as const;
    const { status } = decideApiSpec({ apiSpec: spec, read: missing, projects: [project()] }, NOW);
    expect(status.conditions?.[0]).toMatchObject({
      type: 'Accepted',
      status: 'False',
      reason: 'SourceNotFound',
      observedGeneration: 4,
    });
  });
});
