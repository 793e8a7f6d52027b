/**
 * The state that the cluster wants at the control plane of a project. Pure, except that archives are read on demand.
 */
import type { Project } from '@gw/gateway/compiler';
import type { Revision } from '../../../api/gateway-project.ts';
import type { GatewayProject } from '../../../api/resources.ts';
import type { DesiredProject } from '../../../control-plane/mirror.ts';
import type { Publishable } from '../../../control-plane/publish.ts';
import { keyOf, keyText } from '../../../kube/kube-object.ts';
import type { Compilation } from '../sources/compilation.ts';
import { type DesiredDeployment, type ObservedControlPlane, projectName } from './decide.ts';

/** Reads the .gwa of a revision that is kept. */
export type ArchiveReader = (project: GatewayProject, revision: Revision) => Promise<Uint8Array>;

interface Observed {
  readonly project: GatewayProject;
  readonly controlPlane?: ObservedControlPlane;
  readonly signedBy?: string;
}

/**
 * `inputs`: of the compilation, if there is one. Returns undefined if the project names no control plane, or it cannot
 * be opened.
 */
export function desiredAtControlPlane(
  { project, controlPlane, signedBy }: Observed,
  compiled: { readonly compilation: Compilation | undefined; readonly inputs: Project | undefined },
  desiredDeployment: DesiredDeployment | undefined,
  readArchive: ArchiveReader | undefined,
): DesiredProject | undefined {
  if (!controlPlane?.secret.ok) return undefined;
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
  return {
    name: projectName(project),
    owner: keyText(keyOf(project)),
    access: controlPlane.secret.access,
    ...(newest && inputs ? { compiled: { ...newest, inputs } } : {}),
    ...(desiredDeployment
      ? {
          request: {
            ...of(desiredDeployment.revision.artifactHash, desiredDeployment.revision.signedBy),
            production,
            by: desiredDeployment.by,
            archive: () => archiveOf(desiredDeployment.revision),
          },
        }
      : {}),
  };
}

const of = (artifactHash: string, signedBy: string | undefined) => ({
  artifactHash,
  ...(signedBy ? { signedBy } : {}),
});
