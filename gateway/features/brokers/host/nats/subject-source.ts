/** Subjects of NATS as sources of event streams; the client library is loaded when the first is read. */
import type { Position } from '../subscribing/position.ts';
import type { Backlog, LiveReader, TopicSource } from '../subscribing/topic-source.ts';
import type { NatsLinks } from './nats-link.ts';
import type { NatsServers } from './nats-settings.ts';

/** Source of messages: the stream that has them all, or, as they come, the server. */
export const STREAM_USES = ['auto', 'required', 'none'] as const;
type StreamUse = (typeof STREAM_USES)[number];

export interface SubjectSettings {
  readonly servers: NatsServers;
  readonly stream: StreamUse;
}

const ID = /^\d{1,16}$/;

export class SubjectSource implements TopicSource {
  readonly name: string;
  readonly #settings: SubjectSettings;
  readonly #subject: string;
  readonly #connection: ReturnType<NatsLinks['use']>;

  constructor(settings: SubjectSettings, subject: string, links: NatsLinks) {
    this.name = `nats://${settings.servers.servers.join(',')}/${subject}`;
    this.#settings = settings;
    this.#subject = subject;
    this.#connection = links.use(settings.servers);
  }

  async open(position: Position | null): Promise<LiveReader> {
    const { SubjectReader } = await import('./subject-reader.ts');
    const client = await this.#connection.link.get();
    const stream = await this.#stream();
    if (stream === null) return SubjectReader.ofServer(client, this.#subject);
    const begins = position === null ? { position: await stream.latest(), gaps: [] } : await stream.clamp(position);
    return SubjectReader.ofStream(client, stream, begins);
  }

  /** Finds the stream when it is first asked for something. */
  backlog(): Backlog {
    let opened: Promise<Backlog> | null = null;
    const ask = async <T>(work: (backlog: Backlog) => Promise<T>): Promise<T> => {
      opened ??= this.#backlog();
      const mine = opened;
      try {
        return await work(await mine);
      } catch (error) {
        // The next attempt uses another connection, if this one was lost.
        opened = null;
        mine.then(
          (backlog) => backlog.close(),
          () => {},
        );
        throw error;
      }
    };
    return {
      earliest: () => ask((backlog) => backlog.earliest()),
      clamp: (position) => ask((backlog) => backlog.clamp(position)),
      read: (from, until) => ask((backlog) => backlog.read(from, until)),
      close: () => {
        opened?.then(
          (backlog) => backlog.close(),
          () => {},
        );
      },
    };
  }

  /** The sequence number of the last message, in the stream. */
  format([next = 1]: Position): string {
    return String(next - 1);
  }

  parse(text: string): Position | null {
    const last = Number(text);
    return ID.test(text) && Number.isSafeInteger(last + 1) ? [last + 1] : null;
  }

  close(): void {
    this.#connection.leave();
  }

  async #backlog(): Promise<Backlog> {
    const stream = await this.#stream();
    if (stream === null) throw new Error('no stream has the messages of the subject');
    return stream.backlog();
  }

  async #stream() {
    if (this.#settings.stream === 'none') return null;
    const { SubjectStream } = await import('./subject-stream.ts');
    const stream = await SubjectStream.find(await this.#connection.link.get(), this.#subject);
    if (stream === null && this.#settings.stream === 'required') {
      throw new Error('no stream has all messages of the subject');
    }
    return stream;
  }
}
