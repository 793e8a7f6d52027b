/** The GatewayProjects that are kept at control planes, each by a Mirror of its own. */
import type { EgressGuard } from '@gw/gateway/egress';
import { keyText, type ObjectKey } from '../kube/kube-object.ts';
import type { Connections } from './connection.ts';
import { type DesiredProject, Mirror, type Seen } from './mirror.ts';

export class ControlPlanes {
  readonly #connections: Connections;
  readonly #mirrors = new Map<string, Mirror>();
  #onChange: (key: ObjectKey) => void = () => {};
  #closed = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Returns the guard of addresses that may be connected to. */
  get guard(): EgressGuard {
    return this.#connections.guard;
  }

  /** Calls the listener whenever the state of a project has changed. */
  onChange(listener: (key: ObjectKey) => void): void {
    this.#onChange = listener;
  }

  /** Returns undefined for a project without a desired state. */
  seen(key: ObjectKey): Seen | undefined {
    return this.#mirrors.get(keyText(key))?.seen;
  }

  /** `before`: the state in the project's status, for the first call. */
  desire(key: ObjectKey, desired: DesiredProject, before: Seen): void {
    if (this.#closed) return;
    const known = this.#mirrors.get(keyText(key));
    if (known) return known.desire(desired);
    const onChange = () => this.#onChange(key);
    this.#mirrors.set(keyText(key), new Mirror(desired, { connections: this.#connections, before, onChange }));
  }

  forget(key: ObjectKey): void {
    const mirror = this.#mirrors.get(keyText(key));
    this.#mirrors.delete(keyText(key));
    void mirror?.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#mirrors.values()].map((mirror) => mirror.close()));
  }
}
