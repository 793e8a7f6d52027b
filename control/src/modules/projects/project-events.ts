/** Events of a project for its watchers: changes of its compilations, deployments and data planes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { readCompilationNotification } from '../compilations/notifications.ts';
import { present } from '../compilations/present.ts';
import type { Compilation } from '../compilations/schemas.ts';
import { findCompilation } from '../compilations/store.ts';
import { readDataPlaneNotification, readDeploymentNotification } from '../data-planes/notifications.ts';
import { presentDataPlane } from '../data-planes/present.ts';
import type { DataPlane } from '../data-planes/schemas.ts';
import { findDataPlanes } from '../data-planes/store.ts';
import { presentDeployment } from '../deployments/present.ts';
import type { Deployment } from '../deployments/schemas.ts';
import { findDeployments } from '../deployments/store.ts';

/** A resource after a change. */
export type ProjectEvent =
  | { readonly event: 'compilation'; readonly data: Compilation }
  | { readonly event: 'deployment'; readonly data: Deployment }
  | { readonly event: 'data_plane'; readonly data: DataPlane };

/** Milliseconds between two events of one resource, at least. */
const PAUSE_MS = 200;
/** Data planes that are read at once. */
const BATCH = 200;

/**
 * Yields changes from now on. Each resource at most five times a second, in its current state. Ends when `signal`
 * aborts, and if changes may have been missed: then read the lists, and begin again.
 */
export async function* projectEvents(
  { db }: Context,
  projectId: string,
  signal: AbortSignal,
): AsyncGenerator<ProjectEvent> {
  const changed = new Changes();
  const over = AbortSignal.any([signal, changed.lost]);
  const gap = () => changed.lose();
  const { notifications } = db;
  const stops = [
    notifications.listen(
      'compilations',
      (payload) => {
        const { project_id, id } = readCompilationNotification(payload);
        if (project_id === projectId) changed.add('compilations', [id]);
      },
      gap,
    ),
    notifications.listen(
      'deployments',
      (payload) => {
        const notification = readDeploymentNotification(payload);
        if (notification?.projectId === projectId) changed.add('deployments', [notification.id]);
      },
      gap,
    ),
    notifications.listen(
      'data_planes',
      (payload) => {
        const notification = readDataPlaneNotification(payload);
        if (notification?.kind === 'changed' && notification.projectId === projectId)
          changed.add('dataPlanes', notification.ids);
      },
      gap,
    ),
  ];
  try {
    while (!over.aborted) {
      await changed.some(over);
      if (over.aborted) return;
      yield* read(db.kysely, projectId, changed.take());
      await sleep(PAUSE_MS, undefined, { signal: over }).catch(() => {});
    }
  } finally {
    for (const stop of stops) stop();
  }
}

interface Ids {
  readonly compilations: ReadonlySet<string>;
  readonly deployments: ReadonlySet<string>;
  readonly dataPlanes: ReadonlySet<string>;
}

async function* read(
  db: Context['db']['kysely'],
  projectId: string,
  { compilations, deployments, dataPlanes }: Ids,
): AsyncGenerator<ProjectEvent> {
  for (const id of compilations) {
    const row = await findCompilation(db, id);
    if (row) yield { event: 'compilation', data: present(row) };
  }
  for (const row of await findDeployments(db, projectId, [...deployments])) {
    yield { event: 'deployment', data: presentDeployment(row) };
  }
  const planes = [...dataPlanes];
  for (let at = 0; at < planes.length; at += BATCH) {
    for (const row of await findDataPlanes(db, projectId, planes.slice(at, at + BATCH))) {
      yield { event: 'data_plane', data: presentDataPlane(row) };
    }
  }
}

/** Changes since the last take. */
class Changes {
  readonly #lost = new AbortController();
  #ids = noIds();
  #wake = new AbortController();

  /** Returns a signal that aborts if notifications were lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  lose(): void {
    this.#lost.abort();
  }

  add(kind: keyof Ids, ids: readonly string[]): void {
    for (const id of ids) this.#ids[kind].add(id);
    this.#wake.abort();
  }

  take(): Ids {
    const taken = this.#ids;
    this.#ids = noIds();
    this.#wake = new AbortController();
    return taken;
  }

  /** Resolves when there is something, or the signal aborts. */
  async some(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#wake.signal]);
    if (either.aborted) return;
    await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }));
  }
}

function noIds() {
  return { compilations: new Set<string>(), deployments: new Set<string>(), dataPlanes: new Set<string>() };
}
