/** The authenticated caller and its permissions. */
import { ControlError } from '../errors.ts';

/** Each role has the permissions of those before it. */
export const ROLES = ['viewer', 'editor', 'deployer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface ActorOptions {
  /** Name in the audit log: `admin`, `token:ci`, `oidc:alice`, `data-plane:edge-1`, `system`. */
  readonly name: string;
  readonly role: Role;
  /** The one project that the actor may see; null: all projects, and resources outside projects. */
  readonly projectId?: string | null;
  /** A data plane, by its key: it may fetch artifacts of its project. Default false. */
  readonly isDataPlane?: boolean;
  /** Id of the HTTP request, for the audit log. */
  readonly requestId?: string | null;
  readonly expiresAt?: Date | null;
  /** Creates the signal of `Actor.revoked`, at its first use. */
  readonly watch?: () => AbortSignal;
}

export class Actor {
  readonly name: string;
  readonly role: Role;
  readonly projectId: string | null;
  readonly isDataPlane: boolean;
  readonly requestId: string | null;
  readonly expiresAt: Date | null;
  readonly #watch: (() => AbortSignal) | undefined;
  #revoked: AbortSignal | undefined;

  constructor({
    name,
    role,
    projectId = null,
    isDataPlane = false,
    requestId = null,
    expiresAt = null,
    watch,
  }: ActorOptions) {
    this.name = name;
    this.role = role;
    this.projectId = projectId;
    this.isDataPlane = isDataPlane;
    this.requestId = requestId;
    this.expiresAt = expiresAt;
    this.#watch = watch;
  }

  /**
   * Returns a signal that aborts when the credentials are revoked or expire: open connections end then. Undefined if
   * neither can happen.
   */
  get revoked(): AbortSignal | undefined {
    this.#revoked ??= this.#watch?.();
    return this.#revoked;
  }

  /** Reports whether the actor may see resources of the project; null: outside projects. */
  sees(projectId: string | null): boolean {
    return this.projectId === null || this.projectId === projectId;
  }

  /**
   * Throws if the actor lacks the permissions of `role` in the project (null: outside projects). Resources that the
   * actor may not see are reported as not found, so that nobody learns which ids exist; `what` names the resource, as
   * in `project "…"`.
   */
  mustBe(role: Role, projectId: string | null, what: string): void {
    if (!this.sees(projectId)) throw ControlError.notFound(what);
    this.mustHave(role);
  }

  /** Throws if the actor's role is lower, for any project. */
  mustHave(role: Role): void {
    if (ROLES.indexOf(this.role) >= ROLES.indexOf(role)) return;
    throw new ControlError('forbidden', `this needs the role "${role}", but ${this.name} has "${this.role}"`);
  }

  /** Throws unless the actor has the permissions of `role` outside projects. */
  mustBeGlobal(role: Role): void {
    this.mustHave(role);
    if (this.projectId === null) return;
    throw new ControlError('forbidden', `${this.name} is limited to one project, but this concerns all of them`);
  }
}

/** Actor of the control plane's own changes. */
export const SYSTEM = new Actor({ name: 'system', role: 'admin' });
