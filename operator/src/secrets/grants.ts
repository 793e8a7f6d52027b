/**
 * The projects that a Secret is for (docs/decisions.md#resulting-pod, `--require-secret-grants`): anyone who may write
 * a GatewayProject can have any Secret of the namespace given to pods, whose plugins can publish it, unless the Secret
 * itself names the project.
 */

import type { Refusal } from '../api/refusal.ts';
import { type GatewayProject, secrets } from '../api/resources.ts';
import { GROUP } from '../api/schema.ts';
import type { UsedSecret } from '../objects/used-secrets.ts';
import type { Objects } from '../runtime/objects.ts';

/** Names of GatewayProjects of the Secret's namespace, separated by commas or spaces; `*`: all of them. */
const ANNOTATION_PROJECTS = `${GROUP}/projects`;

/** Returns a refusal for each existing Secret that does not name the project. Others report missing ones. */
export async function ungranted(
  objects: Pick<Objects, 'getMetadata'>,
  { metadata: { name: project, namespace = 'default' } }: GatewayProject,
  used: readonly UsedSecret[],
): Promise<readonly (Refusal & UsedSecret)[]> {
  const looked = await Promise.all(
    used.map(async ({ name, field }) => {
      const found = await objects.getMetadata(secrets, { namespace, name });
      if (!found) return [];
      const granted = (found.metadata.annotations?.[ANNOTATION_PROJECTS] ?? '').split(/[\s,]+/);
      if (granted.includes(project) || granted.includes('*')) return [];
      const where = `if it should, add "${project}" to the annotation ${ANNOTATION_PROJECTS}`;
      const message = `Secret "${name}" (${field}) does not allow this project to use it: ${where}`;
      return [{ reason: 'SecretNotGranted', message, name, field } as const];
    }),
  );
  return looked.flat();
}
