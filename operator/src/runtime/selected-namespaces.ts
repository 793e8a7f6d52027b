/** The namespaces that a label selector selects, followed as they come, go and change their labels. */
import { namespaces } from '../api/resources.ts';
import type { Objects, Watch } from './objects.ts';

export interface NamespaceFilter {
  includes(namespace: string): boolean;
  /** Starts; calls `onEntered` for each namespace added later. Resolves when all existing ones are known. */
  start(onEntered: (namespace: string) => void): Promise<void>;
  close(): Promise<void>;
}

export class SelectedNamespaces implements NamespaceFilter {
  readonly #objects: Objects;
  readonly #selector: string;
  readonly #names = new Set<string>();
  #watch: Watch | undefined;

  /** `selector` as kubectl's `-l` takes it. */
  constructor(objects: Objects, selector: string) {
    this.#objects = objects;
    this.#selector = selector;
  }

  includes(namespace: string): boolean {
    return this.#names.has(namespace);
  }

  async start(onEntered: (namespace: string) => void): Promise<void> {
    // The API server reports objects that no longer match as deleted.
    this.#watch = this.#objects.watch(
      namespaces,
      { metadataOnly: true, selector: this.#selector },
      ({ type, object: { metadata } }) => {
        if (type === 'deleted') this.#names.delete(metadata.name);
        else if (!this.#names.has(metadata.name)) {
          this.#names.add(metadata.name);
          onEntered(metadata.name);
        }
      },
    );
    await this.#watch.synced;
  }

  async close(): Promise<void> {
    await this.#watch?.close();
  }
}
