/** The authenticated caller and its permissions. */
import { ControlError } from '../errors.ts';

/** Each role has the permissions of those before it. */
export const ROLES = ['viewer', 'editor', 'deployer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface ActorOptions {
  /** As the audit log names it: `admin`, `token:ci`, `oidc:alice`, `data-plane:edge-1`, `system`. */
  readonly name: string;
  readonly role: Role;
  /** The one project that the actor may see; null: all of them, and what belongs to none. */
  readonly projectId?: string | null;
  /** A data plane, by its key: it may fetch artifacts of its project. Default false. */
  readonly isDataPlane?: boolean;
  /** Of the HTTP request, for the audit log. */
  readonly requestId?: string | null;
  readonly expiresAt?: Date | null;
  /** Makes the signal of `Actor.revoked`, once it is asked for. */
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
   * Aborted when the credentials are revoked or expire: what is open on their behalf ends then. Undefined where
   * neither can be.
   */
  get revoked(): AbortSignal | undefined {
    this.#revoked ??= this.#watch?.();
    return this.#revoked;
  }

  /** Whether the actor may see what belongs to the project; null: to none. */
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

  /** Throws where the actor's role is less, whatever the project. */
  mustHave(role: Role): void {
    if (ROLES.indexOf(this.role) >= ROLES.indexOf(role)) return;
    throw new ControlError('forbidden', `this needs the role "${role}", but ${this.name} has "${this.role}"`);
  }

  /** Throws unless the actor may do what `role` may with what belongs to no project. */
  mustBeGlobal(role: Role): void {
    this.mustHave(role);
    if (this.projectId === null) return;
    throw new ControlError('forbidden', `${this.name} is limited to one project, but this concerns all of them`);
  }
}

/** Actor of the control plane's own changes. */
export const SYSTEM = new Actor({ name: 'system', role: 'admin' });
