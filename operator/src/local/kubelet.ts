/**
 * Runs the pods of apps/v1 Deployments as processes, and rolls them: pods of a changed template are started beside
 * the old ones, which stop when the new ones are ready. Shows them as Pod objects, so that controllers see a cluster.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@gw/gateway/message-of';
import { gatewayProjects, pods, secrets, type Workload, workloads } from '../api/resources.ts';
import { type KubeObject, keyOf, keyText, type ObjectKey, ownerReference } from '../kube/kube-object.ts';
import { backoff } from '../runtime/backoff.ts';
import type { Objects, Watch } from '../runtime/objects.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { commandOf } from './commands.ts';
import { type PodSpec, type RunnableWorkload, runnableWorkloads } from './local-kinds.ts';
import { environment, writeVolumes } from './pod-files.ts';
import { PodProcess } from './pod-process.ts';

export interface KubeletOptions {
  readonly objects: Objects;
  /** Folder for the volumes of pods. */
  readonly root: string;
  readonly imageFiles: ReadonlyMap<string, string>;
  /** Allows all commands of manifests, beside the gateway's program. */
  readonly allowCommands: boolean;
  readonly hostsFile: string;
  readonly inherited: Readonly<Record<string, string>>;
  /** Additional variables of a pod, beside those of its container. */
  readonly variablesOf?: (workload: RunnableWorkload, pod: string) => ReadonlyMap<string, string>;
  readonly onLine: (pod: string, line: string) => void;
  /** Called for a pod that cannot start, or has exited. */
  readonly onFailure: (pod: string, reason: string) => void;
}

interface RunningPod {
  readonly name: string;
  readonly template: string;
  readonly started: number;
  readonly graceMs: number;
  process: PodProcess | undefined;
  ready: boolean;
  stopping: boolean;
  /** Number of times that it has exited. */
  restarts: number;
  waiting: string | undefined;
  readonly object: KubeObject;
  readonly spec: PodSpec;
  /** Ends a pause between two attempts. */
  wake: () => void;
  /** Settles when its process has ended and its files are removed. */
  readonly done: PromiseWithResolvers<void>;
}

/** Failures after which a rollout counts as failed; it is still retried. */
const FAILURES = 4;
/** Milliseconds for a pod to stop when everything stops; else its template's grace period applies. */
const CLOSE_MS = 3000;
/** Milliseconds between removing a pod from its Services and stopping it. */
const SETTLE_MS = 250;

export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #queue: WorkQueue;
  readonly #watches: readonly Watch[];
  readonly #pods = new Map<string, RunningPod[]>();
  #closed = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      workers: 4,
      work: (key) => this.#reconcile(key),
      onError: (key, error) => options.onFailure(key, messageOf(error)),
    });
    const { objects } = options;
    this.#watches = [
      objects.watch(workloads, {}, ({ object }) => this.#queue.add(keyText(keyOf(object)))),
      objects.watch(secrets, { metadataOnly: true }, ({ type, object }) => {
        if (type === 'modified') void this.#refresh(keyOf(object));
      }),
    ];
  }

  /** Returns the ready pods that carry these labels, the newest first. */
  ready(namespace: string, labels: { readonly [name: string]: string }): readonly PodProcess[] {
    const found = [...this.#pods]
      .filter(([key]) => key.startsWith(`${namespace}/`))
      .flatMap(([, running]) => running)
      .filter(
        ({ ready, stopping, object }) =>
          ready &&
          !stopping &&
          Object.entries(labels).every(([name, value]) => object.metadata.labels?.[name] === value),
      );
    return found.toSorted((a, b) => b.started - a.started).flatMap(({ process }) => (process ? [process] : []));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#watches.map((watch) => watch.close()));
    await this.#queue.close();
    await Promise.all([...this.#pods.values()].flat().map((pod) => this.#stop(pod, CLOSE_MS)));
  }

  async #reconcile(key: string): Promise<number | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const workload = await this.#options.objects.get(runnableWorkloads, { namespace, name });
    const running = this.#pods.get(key) ?? [];
    this.#pods.set(key, running);
    const template = workload ? createHash('sha256').update(JSON.stringify(workload.spec.template)).digest('hex') : '';
    const current = running.filter((pod) => pod.template === template && !pod.stopping);
    const wanted = workload?.spec.replicas ?? 0;
    if (workload && !this.#closed) {
      for (let n = current.length; n < wanted; n++) {
        const pod = newPod(workload, template);
        running.push(pod);
        current.push(pod);
        void this.#run(key, workload, pod);
      }
    }
    const serving = current.filter(({ ready }) => ready).length;
    const surplus = current.slice(wanted);
    // Old pods stop when all new ones are ready, or when no pod replaces them.
    const old = serving >= wanted ? running.filter((pod) => pod.template !== template && !pod.stopping) : [];
    for (const pod of [...surplus, ...old]) {
      void this.#stop(pod, pod.graceMs).then(() => {
        running.splice(running.indexOf(pod), 1);
        this.#queue.add(key);
      });
    }
    if (workload) await this.#report(workload, running, template);
    else if (running.length === 0) this.#pods.delete(key);
    return undefined;
  }

  async #run(key: string, workload: RunnableWorkload, pod: RunningPod): Promise<void> {
    const { objects, root, onLine, onFailure } = this.#options;
    const folder = join(root, pod.name);
    const [container] = workload.spec.template.spec.containers;
    if (!container) return;
    while (!pod.stopping && !this.#closed) {
      let failure: string;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const { namespace = '' } = workload.metadata;
        const volumes = await writeVolumes(objects, namespace, workload.spec.template.spec, folder);
        const variables = new Map([
          ...(await environment(objects, namespace, container)),
          ...(this.#options.variablesOf?.(workload, pod.name) ?? []),
        ]);
        if (pod.stopping) break;
        const child = await PodProcess.start({
          ...this.#options,
          container,
          command: commandOf(container, variables, {
            allowed: this.#options.allowCommands,
            made: (workload.metadata.ownerReferences ?? []).some(({ kind }) => kind === gatewayProjects.kind),
          }),
          variables,
          volumes,
          onLine: (line) => onLine(pod.name, line),
        });
        pod.process = child;
        if (pod.stopping) await child.stop(CLOSE_MS);
        pod.waiting = undefined;
        await this.#show(workload, pod);
        await child.probe((ready) => {
          pod.ready = ready;
          // Ready again means that earlier failures are over.
          if (ready) pod.restarts = 0;
          void this.#show(workload, pod).then(() => this.#queue.add(key));
        });
        failure = await child.exited;
      } catch (error) {
        failure = messageOf(error);
      }
      pod.ready = false;
      pod.process = undefined;
      if (pod.stopping || this.#closed) break;
      onFailure(pod.name, failure);
      pod.waiting = failure;
      pod.restarts++;
      await this.#show(workload, pod);
      this.#queue.add(key);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, backoff(pod.restarts - 1, 500, 30_000));
        pod.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await objects.remove(pods, keyOf(pod.object));
    await rm(folder, { recursive: true, force: true });
    pod.done.resolve();
  }

  async #stop(pod: RunningPod, graceMs: number): Promise<void> {
    if (!pod.stopping) {
      pod.stopping = true;
      pod.wake();
      await this.#options.objects.remove(pods, keyOf(pod.object));
      // A connection that was passed on a moment ago may not have sent its request yet.
      if (!this.#closed) await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      await pod.process?.stop(graceMs);
    }
    await pod.done.promise;
  }

  /** Writes a changed Secret into the volumes of the pods that mount it, which run on. */
  async #refresh({ namespace, name }: ObjectKey): Promise<void> {
    const { objects, root, onFailure } = this.#options;
    const mounting = [...this.#pods]
      .filter(([key]) => key.startsWith(`${namespace}/`))
      .flatMap(([, running]) => running)
      .filter(({ process, stopping, spec }) => process && !stopping && mountsSecret(spec, name));
    for (const pod of mounting) {
      try {
        await writeVolumes(objects, namespace, pod.spec, join(root, pod.name));
      } catch (error) {
        onFailure(pod.name, messageOf(error));
      }
    }
  }

  /** Writes the Pod object. */
  async #show(workload: RunnableWorkload, pod: RunningPod): Promise<void> {
    if (pod.stopping) return;
    const { template } = workload.spec;
    const containers = template.spec.containers.map(({ name, ports = [] }) => ({
      name,
      ports: ports.map((port) => ({
        ...port,
        containerPort: pod.process?.port(port.containerPort) ?? port.containerPort,
      })),
    }));
    const status = {
      phase: pod.process ? 'Running' : 'Pending',
      podIP: '127.0.0.1',
      conditions: [{ type: 'Ready', status: pod.ready ? 'True' : 'False' }],
      containerStatuses: [
        {
          restartCount: pod.restarts,
          state: pod.waiting ? { waiting: { reason: 'CrashLoopBackOff', message: pod.waiting } } : {},
        },
      ],
    };
    const object = { ...pod.object, spec: { containers } };
    await this.#options.objects.apply(pods, object);
    const shown = { ...object, status };
    await this.#options.objects.applyStatus(pods, shown);
  }

  async #report(workload: RunnableWorkload, running: readonly RunningPod[], template: string): Promise<void> {
    const failed = running.some((pod) => pod.template === template && pod.restarts >= FAILURES);
    const status: NonNullable<Workload['status']> = {
      observedGeneration: workload.metadata.generation ?? 0,
      replicas: running.length,
      updatedReplicas: running.filter((pod) => pod.template === template && !pod.stopping).length,
      readyReplicas: running.filter(({ ready, stopping }) => ready && !stopping).length,
      conditions: [
        failed
          ? {
              type: 'Progressing',
              status: 'False',
              reason: 'ProgressDeadlineExceeded',
              message: 'new pods fail again and again',
            }
          : { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message: '' },
      ],
    };
    const { apiVersion, kind, metadata } = workload;
    const object = { apiVersion, kind, metadata, status };
    await this.#options.objects.applyStatus(workloads, object);
  }
}

function mountsSecret({ volumes = [] }: PodSpec, name: string): boolean {
  return volumes.some(
    ({ secret, projected }) =>
      secret?.secretName === name || projected?.sources?.some((source) => source.secret?.name === name),
  );
}

function newPod(workload: RunnableWorkload, template: string): RunningPod {
  const name = `${workload.metadata.name}-${template.slice(0, 8)}-${randomBytes(3).toString('hex')}`;
  return {
    name,
    template,
    started: performance.now(),
    graceMs: (workload.spec.template.spec.terminationGracePeriodSeconds ?? 30) * 1000,
    process: undefined,
    ready: false,
    stopping: false,
    restarts: 0,
    waiting: undefined,
    wake: () => undefined,
    done: Promise.withResolvers<void>(),
    spec: workload.spec.template.spec,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        ...(workload.metadata.namespace ? { namespace: workload.metadata.namespace } : {}),
        labels: workload.spec.template.metadata.labels ?? {},
        ownerReferences: [ownerReference(workload)],
      },
    },
  };
}
