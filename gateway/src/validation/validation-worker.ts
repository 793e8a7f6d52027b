/**
 * A process for validation that may take long (docs/decisions.md#validation-in-helpers). It knows schemas and one value
 * at a time, without secrets; its parent ends it if it takes too long.
 */

import { StepBudget, StepsExceeded, type TimeLimit } from '../patterns/step-budget.ts';
import { ContentRules } from './content-rules.ts';
import type {
  ContentWork,
  Fault,
  FromHelper,
  ParametersWork,
  SchemaTable,
  ToHelper,
  Work,
} from './helpers/messages.ts';
import { ParameterValidator } from './parameters.ts';
import { Schemas } from './schemas/schemas.ts';

/** A helper whose parent has been killed ends by itself. Pieces of work may have any length. */
const LIMIT: TimeLimit = { ms: 10_000, piece: Number.POSITIVE_INFINITY };
/** Rules that are kept for each artifact. */
const MOST_KEPT = 256;

class Table {
  readonly #schemas: Schemas;
  readonly #steps: StepBudget;
  readonly #contents = new Map<string, ContentRules>();
  readonly #parameters = new Map<string, ParameterValidator>();

  constructor({ schemas, verbose, maxSteps }: SchemaTable) {
    this.#steps = new StepBudget(maxSteps);
    this.#schemas = new Schemas(schemas, verbose, this.#steps);
  }

  /** `begins`: called when all is compiled. */
  faultOf(work: Work, begins: () => void): Fault | null {
    try {
      const errors = work.kind === 'content' ? this.#content(work, begins) : this.#parametersOf(work, begins);
      return errors && { kind: 'invalid', errors };
    } catch (error) {
      if (error instanceof StepsExceeded) return { kind: 'steps' };
      throw error;
    }
  }

  #content({ content, repeats, contentType, body, usedSteps }: ContentWork, begins: () => void) {
    const rules = kept(this.#contents, `${repeats} ${JSON.stringify(content)}`, () => {
      return new ContentRules(content, this.#schemas, repeats);
    });
    rules.compile(contentType);
    begins();
    this.#steps.begin(usedSteps, body.length, LIMIT);
    return rules.errors(contentType, body);
  }

  #parametersOf(work: ParametersWork, begins: () => void) {
    const { parameters, path, pathParameters, query, headers, all } = work;
    const validator = kept(this.#parameters, `${path} ${JSON.stringify(parameters)}`, () => {
      return new ParameterValidator(parameters, path, this.#schemas);
    });
    validator.compile();
    begins();
    return validator.validate({ query, headers: [...headers], patternSteps: 0 }, pathParameters, all, LIMIT);
  }
}

function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MOST_KEPT) known.clear();
  const made = make();
  known.set(key, made);
  return made;
}

const tables = new Map<number, Table>();
const send = (message: FromHelper) => void process.send?.(message, undefined, undefined, () => {});

function begins(): void {
  const { user, system } = process.cpuUsage();
  send({ type: 'begun', cpuMs: (user + system) / 1000 });
}

process.on('message', (message: ToHelper) => {
  if (message.type === 'table') tables.set(message.table, new Table(message.given));
  else if (message.type === 'forget') tables.delete(message.table);
  else {
    const table = tables.get(message.table);
    if (!table) throw new Error('the helper was given work for schemas that it does not have');
    send({ type: 'done', fault: table.faultOf(message.work, begins) });
  }
});
process.on('disconnect', () => process.exit());
send({ type: 'ready' });
