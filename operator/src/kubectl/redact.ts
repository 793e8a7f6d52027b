/** Removes possible secrets from objects before they leave the cluster in a support bundle. */
import { isRecord } from '../kube/kube-object.ts';

const HIDDEN = '(redacted)';
/** References to secrets, which are not secret themselves. */
const REFERENCE = /^(env|file|upstream):\/\//;
/** Members that hold config of plugins, in which users may have written secrets. */
const CONFIG = new Set(['config', 'defaultConfig']);
/** Members that hold documents, which hold such config too. */
const DOCUMENTS = new Set(['inline']);
/** kubectl's copy of an object holds everything again. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns a copy without values of config, documents, environment variables and URLs' credentials. */
export function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value === 'string') return withoutCredentials(value);
  if (!isRecord(value)) return value;
  const copy: { [name: string]: unknown } = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === LAST_APPLIED || name === 'managedFields') continue;
    if (CONFIG.has(name)) copy[name] = hidden(member);
    else if (DOCUMENTS.has(name) && typeof member === 'string') copy[name] = `${HIDDEN}: ${member.length} characters`;
    else if (name === 'env' && Array.isArray(member)) copy[name] = member.map(variable);
    else if (name === 'binaryData' || (name === 'data' && isRecord(member))) copy[name] = sizes(member);
    else copy[name] = redacted(member);
  }
  return copy;
}

/** Hides every text in it, except references. */
function hidden(value: unknown): unknown {
  if (typeof value === 'string') return REFERENCE.test(value) ? value : HIDDEN;
  if (Array.isArray(value)) return value.map(hidden);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hidden(member)]));
}

/** Redacts a container's variable, except its name; a project's list of Secrets contains only names. */
function variable(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  return typeof entry['value'] === 'string' ? { ...entry, value: HIDDEN } : redacted(entry);
}

function sizes(data: unknown): unknown {
  if (!isRecord(data)) return HIDDEN;
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, `${HIDDEN}: ${String(text).length} characters`]),
  );
}

function withoutCredentials(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/gi, `$1${HIDDEN}@`);
}
