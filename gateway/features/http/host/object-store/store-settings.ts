/** Address of a store, and the form of its bucket URLs, from the config of `object-store`. */
import type { JsonObject } from '../../../kit.ts';

export interface StoreSettings {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Session token of temporary credentials. */
  readonly sessionToken: string | undefined;
  /** Base URL; undefined for AWS. */
  readonly endpoint: string | undefined;
  /** Buckets stand in the path, not in the host. */
  readonly pathStyle: boolean;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** A key that is not encoded. */
  readonly fallbackKey: string | undefined;
}

/** The schema of the plugin has checked types and patterns. */
export function storeSettings(config: JsonObject): StoreSettings {
  const endpoint = text(config, 'endpoint');
  return {
    region: text(config, 'region') ?? '',
    accessKeyId: text(config, 'access_key_id') ?? '',
    secretAccessKey: text(config, 'secret_access_key') ?? '',
    sessionToken: text(config, 'session_token'),
    endpoint,
    pathStyle: endpoint !== undefined || config['force_path_style'] === true,
    timeoutMs: Math.max(1, Number(config['timeout']) * 1000),
    fallbackKey: text(config, 'fallback_key'),
  };
}

function text(config: JsonObject, name: string): string | undefined {
  const value = config[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Domains of partitions other than the first, by the beginning of their regions' names. */
const PARTITIONS: readonly (readonly [prefix: string, domain: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['eusc-', 'amazonaws.eu'],
];

/** AWS's store in a region; regions of GovCloud are in the first partition's domain. */
export function awsStore(region: string): string {
  const domain = PARTITIONS.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
  return `https://s3.${region}.${domain}`;
}

/** Names that a host can have in front of the store's, and its certificate covers: no dots, no capitals, at most 63. */
const LABEL = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

/** Reports whether the bucket's name can be part of the host; others stand in the path, as in AWS's own clients. */
export function isHostLabel(bucket: string): boolean {
  return LABEL.test(bucket);
}
