/** Every operation of the project with its chain of plugins. */
import { useState } from 'preact/hooks';
import type { SpecOperation } from '../../api/types.ts';
import { Filter } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pending, ShowMore, Table } from '../../components/table.tsx';
import { Empty } from '../../components/values.tsx';
import { useAll } from '../../data/use-list.ts';
import { useProject } from './project-context.ts';

/** More are shown when they are asked for: tables of thousands of rows are slow. */
const STEP = 200;

export function Operations() {
  const { project, base } = useProject();
  const [filter, setFilter] = useState('');
  const [shown, setShown] = useState(STEP);
  const params = { id: project.id };
  const { data, error, reload } = useAll('specs.operationsOfProject', { params }, 20_000);
  const specs = useAll('specs.listOfProject', { params });
  const nameOf = new Map(specs.data?.map(({ id, name }) => [id, name]));
  const words = filter.toLowerCase().split(/\s+/);
  const rows = data?.filter((operation) => {
    const text = textOf(operation, nameOf.get(operation.spec_id) ?? '');
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <PageHead title="Operations" />
      <div class="toolbar">
        <Filter label="Filter by method, path, plugin, tag or spec" value={filter} onInput={setFilter} />
        {data && rows && (
          <span class="muted" role="status">
            {rows.length} of {data.length}
          </span>
        )}
      </div>
      <section class="card" aria-label="Operations">
        {rows === undefined ? (
          <Pending what="operations" error={error} reload={reload} />
        ) : data?.length === 0 ? (
          <Empty title="There are no operations">
            <p>
              They come with the <a href={`${base}/specs`}>specs</a> of the project.
            </p>
          </Empty>
        ) : rows.length === 0 ? (
          <p class="muted pad">Nothing fits the filter.</p>
        ) : (
          <Table
            caption="Operations"
            rows={rows.slice(0, shown)}
            rowKey={({ spec_id, method, path }) => `${spec_id} ${method} ${path}`}
            columns={() => [
              {
                label: 'Method',
                cell: ({ method }) => <span class={`method ${method.toLowerCase()}`}>{method}</span>,
              },
              {
                label: 'Path',
                kind: 'grow',
                cell: (operation) => (
                  <>
                    <code class={operation.deprecated ? 'path deprecated' : 'path'}>{operation.path}</code>
                    {operation.deprecated && <span class="status quiet">deprecated</span>}
                    {operation.summary && <div class="muted clamp">{operation.summary}</div>}
                  </>
                ),
              },
              {
                label: 'Chain',
                cell: ({ middlewares, dispatch, bound }) => (
                  <>
                    <Chain middlewares={middlewares} dispatch={dispatch} isRoute />
                    {bound.length > 0 && (
                      <span class="status quiet" title="Kept beside the document: see the bindings of the spec.">
                        bound
                      </span>
                    )}
                  </>
                ),
              },
              {
                label: 'Spec',
                cell: ({ spec_id }) => <a href={`${base}/specs/${spec_id}`}>{nameOf.get(spec_id) ?? 'spec'}</a>,
              },
            ]}
          />
        )}
        {rows && rows.length > shown && <ShowMore onClick={() => setShown((last) => last + STEP)} />}
      </section>
    </>
  );
}

interface ChainProps extends Pick<SpecOperation, 'middlewares' | 'dispatch'> {
  /** Without a dispatcher there is no route: it says so. */
  readonly isRoute?: boolean;
}

/** Middlewares in the order in which requests pass them, then the dispatcher. */
export function Chain({ middlewares, dispatch, isRoute = false }: ChainProps) {
  return (
    <ol class="chain">
      {middlewares.map(({ name, config }, index) => (
        <li key={index} class="chip" title={configOf(config)}>
          {name}
        </li>
      ))}
      {dispatch ? (
        <li class="chip dispatcher" title={configOf(dispatch.config)}>
          {dispatch.name}
        </li>
      ) : isRoute ? (
        <li class="chip none" title="An operation without x-gw-dispatch has no route (E1020).">
          no dispatcher
        </li>
      ) : null}
    </ol>
  );
}

function configOf(config: Readonly<Record<string, unknown>>): string {
  return Object.keys(config).length === 0 ? 'No config of its own' : JSON.stringify(config, null, 2);
}

function textOf({ method, path, operation_id, summary, tags, middlewares, dispatch }: SpecOperation, spec: string) {
  const plugins = [...middlewares, ...(dispatch ? [dispatch] : [])].map(({ name }) => name);
  return [method, path, operation_id, summary, ...tags, ...plugins, spec].join(' ').toLowerCase();
}
