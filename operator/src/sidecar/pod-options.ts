/** A pod's annotations about its sidecar. */
import { serveSchema } from '../api/gateway-pods.ts';
import {
  ANNOTATION_ADMIN,
  ANNOTATION_LOG_LEVEL,
  ANNOTATION_RESOURCES,
  ANNOTATION_SECRETS_DIRECTORY,
  ANNOTATION_SECRETS_ENV,
} from './labels.ts';

type Quantities = { readonly [name: string]: string };

export interface SidecarPodOptions {
  readonly resources: { readonly requests: Quantities; readonly limits: Quantities };
  readonly logLevel?: LogLevel;
  readonly admin: boolean;
  /** Secrets of the pod's namespace; absent: the project's. */
  readonly secretsDirectory?: string;
  readonly secretsEnv?: readonly string[];
}

const LOG_LEVELS = serveSchema.properties.logLevel.enum;
type LogLevel = (typeof LOG_LEVELS)[number];

/** A Kubernetes quantity, without exponents. */
const QUANTITY = /^\d{1,18}(\.\d{1,9})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$/;
const SECRET = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** `problems`: annotations that are not understood, and are left out. */
export function readPodOptions(annotations: { readonly [name: string]: string } = {}): {
  readonly podOptions: SidecarPodOptions;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const read = (name: string, valid: (text: string) => boolean, expected: string): string | undefined => {
    const text = annotations[name]?.trim();
    if (text === undefined || valid(text)) return text;
    problems.push(`annotation ${name} is ignored: expected ${expected}`);
    return undefined;
  };
  const quantity = (key: keyof typeof ANNOTATION_RESOURCES) =>
    read(ANNOTATION_RESOURCES[key], (text) => QUANTITY.test(text), 'a quantity such as 100m or 128Mi');
  const pick = (cpu: string | undefined, memory: string | undefined): Quantities => ({
    ...(cpu ? { cpu } : {}),
    ...(memory ? { memory } : {}),
  });
  const level = read(ANNOTATION_LOG_LEVEL, (text) => isLogLevel(text), `one of ${LOG_LEVELS.join(', ')}`);
  const admin = read(ANNOTATION_ADMIN, (text) => ['true', 'false'].includes(text), '"true" or "false"');
  const directory = read(ANNOTATION_SECRETS_DIRECTORY, (text) => SECRET.test(text), 'the name of a Secret');
  const env = read(
    ANNOTATION_SECRETS_ENV,
    (text) => text.split(',').every((name) => SECRET.test(name.trim())),
    'names of Secrets, comma-separated',
  );
  const podOptions = {
    resources: {
      requests: pick(quantity('requests.cpu'), quantity('requests.memory')),
      limits: pick(quantity('limits.cpu'), quantity('limits.memory')),
    },
    ...(level !== undefined && isLogLevel(level) ? { logLevel: level } : {}),
    admin: admin === 'true',
    ...(directory ? { secretsDirectory: directory } : {}),
    ...(env ? { secretsEnv: env.split(',').map((name) => name.trim()) } : {}),
  };
  return { podOptions, problems };
}

function isLogLevel(text: string): text is LogLevel {
  return LOG_LEVELS.some((level) => level === text);
}
