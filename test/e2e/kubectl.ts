/** kubectl and helm, as a user runs them. */
import { execFile, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { eventually } from '../eventually.ts';
import { WAIT_LIMIT_MS } from '../wait-limit.ts';

const run = promisify(execFile);

/** What it wrote to stdout; rejects with what it wrote to stderr. */
export async function execute(program: string, args: readonly string[], stdin?: string): Promise<string> {
  const running = run(program, [...args], { maxBuffer: 64 << 20 });
  // One that ends early says why on stderr.
  running.child.stdin?.on('error', () => undefined);
  if (stdin !== undefined) running.child.stdin?.end(stdin);
  try {
    return (await running).stdout;
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`${program} ${args.join(' ')}: ${stderr || error}`);
  }
}

export interface Kubectl {
  (...args: readonly string[]): Promise<string>;
  apply(yaml: string): Promise<string>;
  /** A field of an object, by JSONPath. */
  field(object: string, path: string): Promise<string>;
  /** Waits until a condition of an object has that status. */
  condition(object: string, type: string, status?: string, seconds?: number): Promise<string>;
  /** As `eventually`, told of each state of an object as the cluster has it: a look by `get` costs a process. */
  until<T>(object: string, look: (state: unknown) => T | Promise<T>): Promise<T>;
}

export function kubectl(namespace: string): Kubectl {
  const base = (...args: readonly string[]) => execute('kubectl', ['-n', namespace, ...args]);
  return Object.assign(base, {
    apply: (yaml: string) => execute('kubectl', ['-n', namespace, 'apply', '-f', '-'], yaml),
    field: (object: string, path: string) => base('get', object, '-o', `jsonpath=${path}`),
    condition: (object: string, type: string, status = 'True', seconds = 120) =>
      base('wait', object, `--for=condition=${type}=${status}`, `--timeout=${seconds}s`),
    until: <T>(object: string, look: (state: unknown) => T | Promise<T>) => watch(namespace, object, look),
  });
}

/** Milliseconds from the end of a watch, as where the object is not there yet, to the next. */
const AGAIN_MS = 200;

async function watch<T>(namespace: string, object: string, look: (state: unknown) => T | Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(WAIT_LIMIT_MS);
  let error: unknown = new Error(`${object} has not been seen`);
  for (;;) {
    for await (const state of states(namespace, object, timeout)) {
      try {
        return await look(state);
      } catch (thrown) {
        error = thrown;
      }
    }
    if (timeout.aborted) throw error;
    await pause(AGAIN_MS);
  }
}

/** Of an object in kubectl's JSON. */
const END = '\n}\n';

/** From now on, until the API server ends the watch. */
async function* states(namespace: string, object: string, signal: AbortSignal): AsyncGenerator<unknown> {
  const [kind = '', name = ''] = object.split('/');
  // As a list of one: of an object by its name kubectl keeps the first event to itself, which may be of a change since.
  const list = ['get', kind, `--field-selector=metadata.name=${name}`];
  const child = spawn('kubectl', ['-n', namespace, ...list, '-o', 'json', '--watch'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
  });
  // Ended by the signal, or by who looks no more.
  child.on('error', () => undefined);
  try {
    let text = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      text += chunk;
      for (let end = text.indexOf(END); end !== -1; end = text.indexOf(END)) {
        yield JSON.parse(text.slice(0, end + END.length));
        text = text.slice(end + END.length);
      }
    }
  } finally {
    child.kill();
  }
}

/** Of pods that end while requests are counted; they take longer while nodes of a busy cluster still route to them. */
export const DRAIN_SECONDS = 5;

/** Names of pods that are to stay. */
export async function lastingPods(k: Kubectl, selector: string): Promise<readonly string[]> {
  const { items }: { items: { metadata: { name: string; deletionTimestamp?: string } }[] } = JSON.parse(
    await k('get', 'pods', '-l', selector, '-o', 'json'),
  );
  const lasting = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return lasting.map(({ metadata }) => metadata.name).toSorted();
}

/** As the drain of a node does it: rejects where a disruption budget is in the way. */
export function evict(namespace: string, pod: string): Promise<string> {
  return execute(
    'kubectl',
    ['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`, '-f', '-'],
    JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } }),
  );
}

/**
 * Has kubelets look at pods at once, which bring changed Secrets and ConfigMaps to them once a minute otherwise. What is
 * changed are the pods' annotations, so that they go on.
 */
export async function lookAtPods(k: Kubectl, selector: string): Promise<void> {
  // One may go in between.
  await eventually(async () =>
    k('annotate', 'pods', ...(await lastingPods(k, selector)), '--overwrite', `example.org/looked-at=${Date.now()}`),
  );
}
