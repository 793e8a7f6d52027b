/**
 * Uploads, from the first byte of their body until they are read: limited in all and for each project. Projects take
 * turns, and within them people; a person with most running uploads loses the slowest to one with fewer. Nothing is
 * read of a waiting upload: its bytes stay with the client.
 */
import type { IncomingMessage } from 'node:http';
import { type Entry, ShareTree } from '@gw/gateway/share-tree';
import { ControlError, RequestEnded } from '../errors.ts';
import { LEAST_RATE, UploadRate } from './upload-rate.ts';

export interface UploadLimits {
  /** Maximum number of running uploads; default 32. */
  readonly most: number;
  /** Maximum for one project; default 4: received files are processed one at a time anyway. */
  readonly mostOfProject: number;
  /**
   * Maximum number of waiting uploads; default 256. Past it, the latest of the project with most of them is refused.
   */
  readonly mostWaiting: number;
  /** Milliseconds between checks of their rates; default 1,000, which the minimum rate assumes. */
  readonly lookMs: number;
}

const LIMITS: UploadLimits = { most: 32, mostOfProject: 4, mostWaiting: 256, lookMs: 1_000 };

/** Owner of an upload. */
export interface UploadOwner {
  /** Empty: outside projects. */
  readonly project: string;
  /** The caller, as the audit log names it. */
  readonly person: string;
}

interface Waiting {
  readonly owner: UploadOwner;
  readonly request: IncomingMessage;
  begin(running: Running): void;
  refuse(error: ControlError): void;
}

/** An upload that has its turn. */
interface Running {
  readonly rate: UploadRate;
  readonly request: IncomingMessage;
  /** Rejects if the upload must end early. */
  readonly ended: Promise<never>;
  refuse(error: ControlError): void;
  /** Releases its place, once. */
  release(): void;
}

export class UploadQueue {
  readonly #limits: UploadLimits;
  readonly #waiting = new ShareTree<Waiting>();
  /** Running uploads, by project and person; and by person, over all projects. */
  readonly #projects = new Map<string, ShareTree<Running>>();
  readonly #people = new ShareTree<Running>();
  #looks: NodeJS.Timeout | null = null;

  constructor(limits: Partial<UploadLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /**
   * Runs `take` when it is the turn of `owner`. Rejects as `take` does; with `request-timeout` (408) if the upload is
   * too slow; with `unavailable` (503, to be sent again) if too many wait, if it yields to others, and if the client
   * leaves first.
   */
  async run<T>(owner: UploadOwner, request: IncomingMessage, take: () => Promise<T>): Promise<T> {
    const running = await this.#turn(owner, request);
    try {
      if (request.socket.destroyed) throw left();
      const taken = take();
      // If the upload must end, the form ends with its connection.
      taken.catch(() => {});
      return await Promise.race([taken, running.ended]);
    } finally {
      running.release();
      this.#next();
    }
  }

  async #turn(owner: UploadOwner, request: IncomingMessage): Promise<Running> {
    const { socket } = request;
    const path = [owner.project, owner.person];
    if (this.#waiting.weight >= this.#limits.mostWaiting) {
      const other = this.#waiting.yielding(path);
      if (other === null) throw crowded();
      (other.owner.entries.newest ?? other).value.refuse(crowded());
    }
    const { promise, resolve, reject } = Promise.withResolvers<Running>();
    const settle = (then: () => void) => {
      this.#waiting.remove(entry);
      then();
    };
    const gone = () => settle(() => reject(left()));
    const begin = (running: Running) => settle(() => resolve(running));
    const refuse = (error: ControlError) => settle(() => reject(error));
    const entry = this.#waiting.add(path, { owner, request, begin, refuse });
    socket.once('close', gone);
    promise.catch(() => {}).finally(() => socket.off('close', gone));
    this.#next();
    this.#makeRoomFor(entry);
    return promise;
  }

  #next(): void {
    const { most, mostOfProject } = this.#limits;
    while (this.#people.weight < most) {
      const next = this.#waiting.inTurn((project) => (this.#projects.get(project)?.weight ?? 0) < mostOfProject);
      if (!next) return;
      next.value.begin(this.#start(next.value));
    }
  }

  /** Ends the slowest upload of a person if another person, who has fewer running, waits. */
  #makeRoomFor({ value: { owner } }: Entry<Waiting>): void {
    const { most, mostOfProject } = this.#limits;
    const project = this.#projects.get(owner.project);
    const isProjectFull = project !== undefined && project.weight >= mostOfProject;
    if (!isProjectFull && this.#people.weight < most) return;
    const shares = isProjectFull ? project : this.#people;
    const slowest = slowestOf(shares.yielding([owner.person]));
    slowest?.refuse(gaveWay());
  }

  #start({ owner: { project, person }, request }: Waiting): Running {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    ended.catch(() => {});
    const shares = this.#projects.get(project) ?? new ShareTree<Running>();
    this.#projects.set(project, shares);
    let isOver = false;
    const release = () => {
      if (isOver) return;
      isOver = true;
      shares.remove(ofProject);
      this.#people.remove(ofPerson);
      if (shares.weight === 0) this.#projects.delete(project);
      if (this.#people.weight === 0) this.#stopLooking();
    };
    const refuse = (error: ControlError) => {
      // No more of it is stored; the rest is not read.
      request.unpipe();
      release();
      reject(error);
      this.#next();
    };
    const running = { rate: new UploadRate(request), request, ended, refuse, release };
    const ofProject = shares.add([person], running);
    const ofPerson = this.#people.add([person], running);
    this.#looks ??= setInterval(() => this.#look(), this.#limits.lookMs).unref();
    return running;
  }

  /** Ends uploads that are too slow. */
  #look(): void {
    for (const each of [...this.#people]) if (each.rate.tick()) each.refuse(tooSlow());
  }

  #stopLooking(): void {
    if (this.#looks !== null) clearInterval(this.#looks);
    this.#looks = null;
  }
}

/** Returns the slowest of the owner of `entry`; null if all of them have arrived. */
function slowestOf(entry: Entry<Running> | null): Running | null {
  let found: Running | null = null;
  for (let each = entry?.owner.entries.oldest ?? null; each !== null; each = each.newer) {
    const { rate } = each.value;
    if (!rate.isWhole && (found === null || rate.lately < found.rate.lately)) found = each.value;
  }
  return found;
}

function crowded(): ControlError {
  const detail = 'too many uploads of this project are waiting: send it again later, and fewer at once';
  return new ControlError('unavailable', detail);
}

function gaveWay(): ControlError {
  const detail = 'the upload was ended for that of someone who had fewer: send it again later, and fewer at once';
  return new RequestEnded('unavailable', detail);
}

function tooSlow(): ControlError {
  const { bytesPerSecond, seconds } = LEAST_RATE;
  const detail = `less than ${bytesPerSecond} bytes a second came in the last ${seconds} seconds: send it again, over a better connection`;
  return new RequestEnded('request-timeout', detail);
}

function left(): ControlError {
  return new ControlError('unavailable', 'the connection ended before the upload was processed: send it again');
}
