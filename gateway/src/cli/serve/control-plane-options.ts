/**
 * Options of connected mode (docs/reference/gateway.md#connected-mode,
 * docs/decisions.md#artifact-optional-when-connected): which of them go together.
 */
import { hostname } from 'node:os';
import { isApiKey } from '../../link/api-key.ts';
import type { ControlPlaneFlag, ControlPlaneOptions, ServeFlags } from '../../options/serve-options.ts';

export type ControlPlaneFlags = Pick<ServeFlags, 'artifact' | ControlPlaneFlag>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const LABEL = /^([A-Za-z0-9._/-]{1,63})=([^\p{Cc}]{1,253})$/u;
const MOST_LABELS = 32;

/** Returns undefined without a control plane. Throws an Error that names the option to change, and never the key. */
export function controlPlaneOptions(flags: ControlPlaneFlags): ControlPlaneOptions | undefined {
  const { controlPlane: url, projectId, apiKeyFile, controlPlaneCa: ca, cacheDir } = flags;
  const apiKey = flags.apiKey || undefined;
  if (url === undefined) {
    if (flags.artifact === undefined) throw new Error('give --artifact, or --control-plane to get artifacts from');
    if (cacheDir !== undefined) throw new Error('--cache-dir keeps artifacts of a control plane: give --control-plane');
    return undefined;
  }
  if (projectId === undefined) throw new Error('--control-plane needs --project-id');
  if (!UUID.test(projectId)) throw new Error('--project-id is not a UUID');
  if (apiKey === undefined && apiKeyFile === undefined)
    throw new Error(
      '--control-plane needs an API key of the project in GW_API_KEY, or a file of it in GW_API_KEY_FILE',
    );
  if (apiKey !== undefined && apiKeyFile !== undefined)
    throw new Error('the API key is given twice: give GW_API_KEY or GW_API_KEY_FILE');
  if (apiKey !== undefined && !isApiKey(apiKey))
    throw new Error('the API key is not valid: it has characters that no key has');
  return {
    url,
    projectId: projectId.toLowerCase(),
    credentials: { apiKey, apiKeyFile, ca },
    name: nameOf(flags),
    labels: labelsOf(flags),
    cacheDir,
    waitSeconds: flags.controlPlaneWait,
  };
}

function nameOf({ dataPlaneName = hostname() || 'gw' }: ControlPlaneFlags): string {
  if (/^[^\p{Cc}]{1,253}$/u.test(dataPlaneName)) return dataPlaneName;
  throw new Error('--data-plane-name must have 1 to 253 characters, and no control characters');
}

function labelsOf({ dataPlaneLabel }: ControlPlaneFlags): Readonly<Record<string, string>> {
  if (dataPlaneLabel.length > MOST_LABELS)
    throw new Error(`--data-plane-label may be given at most ${MOST_LABELS} times`);
  return Object.fromEntries(
    dataPlaneLabel.map((text) => {
      const [, name, value] = LABEL.exec(text) ?? [];
      if (name === undefined || value === undefined) {
        throw new Error(`--data-plane-label must be name=value, such as zone=eu-1: "${text}" is not`);
      }
      return [name, value];
    }),
  );
}
