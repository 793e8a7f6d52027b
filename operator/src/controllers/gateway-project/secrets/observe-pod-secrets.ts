/**
 * The Secrets that pods are given: which are missing, their versions, and when the certificate expires. The operator
 * may read a Secret by its name but not watch it, so it reads them again at intervals.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { type Read, type Refusal, refuse } from '../../../api/refusal.ts';
import { type GatewayProject, secrets } from '../../../api/resources.ts';
import { isReservedVariable } from '../../../objects/pod-faults.ts';
import { DEFAULT_POD_POLICY, type PodPolicy } from '../../../objects/pod-policy.ts';
import type { UsedSecret } from '../../../objects/used-secrets.ts';
import type { Objects } from '../../../runtime/objects.ts';
import { type Entries, readSecret } from '../../../sources/read-source.ts';

/** Validity of a certificate. */
export interface CertificateTimes {
  readonly secret: string;
  readonly from: Date;
  readonly until: Date;
}

export interface PodSecrets {
  /** Whether any is named. */
  readonly named: boolean;
  /** Problems that keep new pods from starting. */
  readonly problems: readonly Refusal[];
  /** Changes with the Secrets whose keys are variables of the pods; absent without such Secrets. */
  readonly version?: string;
  /** Changes with any of the Secrets, also when one comes or goes; absent if the project names no Secret. */
  readonly seen?: string;
  /** Certificate of the traffic port; absent without TLS, and if it cannot be read. */
  readonly certificate?: CertificateTimes;
}

/** `ungranted`: Secrets that the project may not use; that of its control plane has a condition of its own. */
export async function readPodSecrets(
  objects: Objects,
  project: GatewayProject,
  { fields }: Pick<PodPolicy, 'fields'> = DEFAULT_POD_POLICY,
  ungranted: readonly (Refusal & UsedSecret)[] = [],
): Promise<PodSecrets> {
  const { secrets: given, serve, tls } = project.spec;
  const namespace = project.metadata.namespace ?? 'default';
  const state = serve.state?.url;
  // Secrets used as files and as whole sets of variables: only their versions are read.
  const names = [...new Set([...(given?.env ?? []), ...(given?.directory ? [given.directory] : [])])];
  const found = await Promise.all(names.map((name) => readVersion(objects, namespace, name)));
  const url = state && (await readKeys(objects, namespace, state.secret, [state.key]));
  const certificate = tls && (await readCertificate(objects, namespace, tls.secret));
  const clientCa = await readClientCa(objects, project);
  const stateVersion = url?.ok ? await readVersion(objects, namespace, state?.secret ?? '') : undefined;
  const tlsVersions = await Promise.all(
    [tls?.secret, tls?.clientCaSecret].flatMap((name) => (name ? [readVersion(objects, namespace, name)] : [])),
  );
  const seen = [...found, ...(stateVersion ? [stateVersion] : []), ...tlsVersions].map(
    ({ name, version }) => `${name}=${version ?? ''}`,
  );
  const versions = [
    ...found.filter(({ name }) => given?.env?.includes(name)),
    ...(stateVersion ? [stateVersion] : []),
  ].flatMap(({ name, version }) => (version === undefined ? [] : [`${name}=${version}`]));
  return {
    named: names.length > 0 || state !== undefined || tls !== undefined,
    problems: [
      ...found.filter(({ version }) => version === undefined).map(({ name }) => missing(name, namespace)),
      ...[url, certificate, clientCa].flatMap((read) => (read && !read.ok ? [problem(read)] : [])),
      ...(fields.has('env') ? [] : (await reservedVariables(objects, namespace, given?.env ?? [])).map(reserved)),
      ...ungranted.filter(({ field }) => field !== 'spec.controlPlane.secret').map(problem),
    ],
    ...(versions.length > 0 ? { version: digest(versions) } : {}),
    ...(seen.length > 0 ? { seen: digest(seen) } : {}),
    ...(certificate?.ok ? { certificate: certificate.times } : {}),
  };
}

/**
 * A Secret's variable that would make something else run than the image, or with other options
 * (docs/decisions.md#resulting-pod).
 */
export interface ReservedVariable {
  readonly secret: string;
  readonly variable: string;
}

/** Returns the first reserved variable of each of these Secrets. */
export async function reservedVariables(
  objects: Objects,
  namespace: string,
  names: readonly string[],
): Promise<readonly ReservedVariable[]> {
  const found = await Promise.all(names.map((name) => objects.get(secrets, { namespace, name })));
  return found.flatMap((secret) => {
    const variable = Object.keys(secret?.data ?? {}).find(isReservedVariable);
    return secret && variable !== undefined ? [{ secret: secret.metadata.name, variable }] : [];
  });
}

function reserved({ secret, variable }: ReservedVariable): Refusal {
  const what = `Secret "${secret}" of spec.secrets.env would set the variable ${variable}`;
  const message = `${what}, which must be allowed with --allow-pod-fields env of the operator`;
  return problem({ reason: 'InvalidSpec', message });
}

interface SecretVersion {
  readonly name: string;
  /** Undefined: the Secret does not exist. */
  readonly version: string | undefined;
}

/** Returns a version that changes with each write, also of labels: the price of not revealing the Secret's content. */
async function readVersion(objects: Objects, namespace: string, name: string): Promise<SecretVersion> {
  const found = await objects.getMetadata(secrets, { namespace, name });
  return { name, version: found && `${found.metadata.uid}/${found.metadata.resourceVersion}` };
}

async function readKeys(
  objects: Objects,
  namespace: string,
  name: string,
  keys: readonly string[],
): Promise<Read<{ entries: Entries }>> {
  const read = await readSecret(objects, namespace, name);
  if (!read.ok) return read;
  const absent = keys.find((key) => !read.entries.get(key)?.length);
  return absent === undefined ? read : refuse('SourceNotFound', `Secret "${name}" has no key "${absent}"`);
}

async function readCertificate(
  objects: Objects,
  namespace: string,
  secret: string,
): Promise<Read<{ times: CertificateTimes }>> {
  const read = await readKeys(objects, namespace, secret, ['tls.crt', 'tls.key']);
  if (!read.ok) return read;
  try {
    const { validFromDate, validToDate } = new X509Certificate(read.entries.get('tls.crt') ?? '');
    return { ok: true, times: { secret, from: validFromDate, until: validToDate } };
  } catch {
    return refuse('SourceInvalid', `key "tls.crt" of Secret "${secret}" is not a certificate in PEM`);
  }
}

/** Reads the CA of clients; undefined if clients are not asked for a certificate. */
async function readClientCa(
  objects: Objects,
  { metadata, spec: { tls } }: GatewayProject,
): Promise<Read<{ entries: Entries }> | undefined> {
  if (!tls || tls.clientAuth === 'off') return undefined;
  return readKeys(objects, metadata.namespace ?? 'default', tls.clientCaSecret ?? tls.secret, ['ca.crt']);
}

function missing(name: string, namespace: string): Refusal {
  return problem(refuse('SourceNotFound', `Secret "${name}" is not in namespace "${namespace}"`));
}

function problem({ reason, message }: Refusal): Refusal {
  return { reason, message: `${message}; the pods stay unchanged until then` };
}

function digest(versions: readonly string[]): string {
  return createHash('sha256').update(versions.toSorted().join('\n')).digest('hex').slice(0, 16);
}
