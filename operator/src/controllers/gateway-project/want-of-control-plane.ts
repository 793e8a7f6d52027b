/** Tells the mirror of a project what the cluster wants of its control plane. */
import type { Project } from '@gw/gateway/compiler';
import type { Revision } from '../../api/gateway-project.ts';
import type { GatewayProject } from '../../api/resources.ts';
import type { ControlPlanes } from '../../control-plane/control-planes.ts';
import type { Publishable } from '../../control-plane/publish.ts';
import { keyOf, keyText } from '../../runtime/kube-object.ts';
import type { Compilation } from './compilation.ts';
import { projectName, remembered } from './control-plane.ts';
import type { Decision } from './decide.ts';
import type { Observed } from './observe.ts';

export interface WantWith {
  /** Absent in local mode, which has a control plane of its own. */
  readonly controlPlanes?: ControlPlanes;
  /** The .gwa of a revision that is kept. */
  readonly readArchive?: (project: GatewayProject, revision: Revision) => Promise<Uint8Array>;
}

/** `inputs`: of the compilation, where there is one. */
export function wantOfControlPlane(
  { controlPlanes, readArchive }: WantWith,
  { project, controlPlane, signedBy }: Observed,
  compiled: { readonly compilation: Compilation | undefined; readonly inputs: Project | undefined },
  { wish }: Pick<Decision, 'wish'>,
): void {
  const key = keyOf(project);
  if (!controlPlane?.secret.ok) return controlPlanes?.forget(key);
  const production = !project.spec.allowPlaintext;
  const { compilation, inputs } = compiled;
  const newest: Publishable | undefined = compilation?.ok
    ? { ...of(compilation.artifactHash, signedBy), production, archive: async () => compilation.archive }
    : undefined;
  const archiveOf = async (revision: Revision) => {
    const isNewest = newest?.artifactHash === revision.artifactHash && newest.signedBy === revision.signedBy;
    if (isNewest) return newest.archive();
    if (!readArchive) throw new Error(`the artifact of revision ${revision.revision} cannot be read`);
    return readArchive(project, revision);
  };
  controlPlanes?.want(
    key,
    {
      name: projectName(project),
      owner: keyText(key),
      access: controlPlane.secret.access,
      ...(newest && inputs ? { compiled: { ...newest, inputs } } : {}),
      ...(wish
        ? {
            wish: {
              ...of(wish.revision.artifactHash, wish.revision.signedBy),
              production,
              by: wish.by,
              archive: () => archiveOf(wish.revision),
            },
          }
        : {}),
    },
    remembered(project.status?.controlPlane),
  );
}

const of = (artifactHash: string, signedBy: string | undefined) => ({
  artifactHash,
  ...(signedBy ? { signedBy } : {}),
});
