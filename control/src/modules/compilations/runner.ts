/**
 * Takes compilations from the queue, as many at once as it has processes, until it is closed. Notifications wake it;
 * polling finds missed ones and jobs of dead replicas.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@gw/gateway/message-of';
import { CompileProcess } from '../../compile-process.ts';
import type { Context } from '../../context.ts';
import { isTransient } from '../../db/transient.ts';
import { brokenOff, type CompileSettings, failJob, runJob } from './compile-job.ts';
import { notifyCompilation, readCompilationNotification } from './notifications.ts';
import { claim, countUnfinished, giveUp, handBack, type Job, JobLost, MAX_ATTEMPTS, renew } from './queue.ts';

export interface RunnerOptions extends CompileSettings {
  /** Compilations at once. */
  readonly concurrency: number;
}

/** Milliseconds without a renewal after which another replica may take a job. */
const LEASE_MS = 10_000;
const RENEW_MS = 2_500;
/** Milliseconds between polls, give or take half. */
const POLL_MS = 2_000;
/** Milliseconds after an error of the database. */
const RETRY_MS = 500;

export class JobRunner {
  readonly #context: Context;
  readonly #options: RunnerOptions;
  readonly #closing = new AbortController();
  /** Aborted when the time for running jobs is over. */
  readonly #cutOff = new AbortController();
  readonly #compilers: readonly CompileProcess[];
  readonly #atWork = new Map<string, Job>();
  readonly #loops: readonly Promise<void>[];
  readonly #stopListening: () => void;
  #wake = new AbortController();

  constructor(context: Context, options: RunnerOptions) {
    this.#context = context;
    this.#options = options;
    this.#stopListening = context.db.notifications.listen(
      'compilations',
      (payload) => {
        if (readCompilationNotification(payload).status === 'pending') this.#wakeAll();
      },
      () => this.#wakeAll(),
    );
    context.metrics.onScrape(() => this.#countWaiting());
    this.#compilers = Array.from({ length: options.concurrency }, () => new CompileProcess());
    this.#loops = this.#compilers.map((compiler) => this.#loop(compiler));
  }

  /** Takes no more jobs, and waits `drainMs` for running ones; other replicas get the rest at once. */
  async close(drainMs: number): Promise<void> {
    this.#closing.abort();
    this.#stopListening();
    this.#wakeAll();
    const drained = new AbortController();
    const done = Promise.all(this.#loops).finally(() => drained.abort());
    await Promise.race([done, sleep(drainMs, undefined, { signal: drained.signal }).catch(() => {})]);
    this.#cutOff.abort();
    await Promise.all([...this.#atWork.values()].map((job) => this.#handBack(job).catch(() => {})));
    await Promise.all(this.#compilers.map((compiler) => compiler.close()));
    await done;
  }

  async #loop(compiler: CompileProcess): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const wake = this.#wake.signal;
      try {
        const job = await this.#next();
        if (job) await this.#run(job, compiler);
        else await sleep(POLL_MS * (0.5 + Math.random()), undefined, { signal: wake }).catch(() => {});
      } catch (error) {
        this.#context.log.warn({ reason: messageOf(error) }, 'the queue of compilations cannot be read');
        await sleep(RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
  }

  async #next(): Promise<Job | null> {
    const { db, replicaId } = this.#context;
    const job = await claim(db.kysely, replicaId, LEASE_MS);
    if (job) return job;
    const message = `it was started ${MAX_ATTEMPTS} times, and each time the server that ran it ended before it finished`;
    for (const given of await giveUp(db.kysely, [brokenOff(message)])) await notifyCompilation(db.notifications, given);
    return null;
  }

  async #run(job: Job, compiler: CompileProcess): Promise<void> {
    const { log, metrics } = this.#context;
    const started = performance.now();
    this.#atWork.set(job.id, job);
    const renewing = setInterval(() => {
      // If this fails, later writes show whether the job is still ours.
      renew(this.#context.db.kysely, job, LEASE_MS).catch(() => {});
    }, RENEW_MS);
    try {
      const status = await runJob(this.#context, job, compiler, { ...this.#options, signal: this.#cutOff.signal });
      const ms = performance.now() - started;
      metrics.count('gw_control_compilations_total', { status });
      metrics.observe('gw_control_compilation_duration_seconds', { status }, ms / 1000);
      log.info({ compilation: job.id, status, ms: Math.round(ms) }, 'compiled');
    } catch (error) {
      await this.#broke(job, error);
    } finally {
      clearInterval(renewing);
      this.#atWork.delete(job.id);
    }
  }

  async #broke(job: Job, error: unknown): Promise<void> {
    if (this.#cutOff.signal.aborted) return;
    if (error instanceof JobLost) return this.#warn(job, error, 'a compilation was taken over');
    this.#warn(job, error, 'a compilation broke off');
    const wanted = isTransient(error)
      ? () => this.#handBack(job)
      : () => failJob(this.#context, job, 'the server failed while running it');
    await this.#untilItAnswers(job, wanted);
  }

  /** Repeats a write that must survive a short outage of the database. */
  async #untilItAnswers(job: Job, act: () => Promise<void>): Promise<void> {
    while (!this.#cutOff.signal.aborted) {
      try {
        return await act();
      } catch (error) {
        if (!isTransient(error)) return this.#warn(job, error, 'a compilation is left for when its lease ends');
        await sleep(RETRY_MS, undefined, { signal: this.#cutOff.signal }).catch(() => {});
      }
    }
  }

  async #handBack(job: Job): Promise<void> {
    const { db } = this.#context;
    await handBack(db.kysely, job);
    await notifyCompilation(db.notifications, { ...job, status: 'pending' });
  }

  async #countWaiting(): Promise<void> {
    const rows = await countUnfinished(this.#context.db.kysely);
    for (const status of ['pending', 'compiling'] as const) {
      const number = rows.find((row) => row.status === status)?.number ?? 0;
      this.#context.metrics.set('gw_control_compilations', { status }, number);
    }
  }

  #warn(job: Job, error: unknown, what: string): void {
    this.#context.log.warn({ compilation: job.id, attempt: job.attempts, reason: messageOf(error) }, what);
  }

  #wakeAll(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }
}
