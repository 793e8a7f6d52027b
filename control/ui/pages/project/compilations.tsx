/** Compilations of a project, the newest first. */
import { useLocation } from 'preact-iso/router';
import type { Compilation } from '../../api/types.ts';
import { Choice } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ListView } from '../../components/table.tsx';
import { Command, Empty } from '../../components/values.tsx';
import { useLiveReload } from '../../data/live.ts';
import { useList } from '../../data/use-list.ts';
import { withQuery } from '../../shell/with-query.ts';
import { CompileButton } from './compile-button.tsx';
import { useProject } from './project-context.ts';

const STATUSES: readonly Compilation['status'][] = ['pending', 'compiling', 'succeeded', 'failed'];

export function Compilations() {
  const { project, base } = useProject();
  const { query, route } = useLocation();
  const chosen = STATUSES.find((each) => each === query['status']);
  const list = useList('compilations.listOfProject', { params: { id: project.id }, query: { status: chosen } });
  useLiveReload(['compilation'], list.reload);
  return (
    <>
      <PageHead title="Compilations">
        <CompileButton />
      </PageHead>
      <div class="toolbar">
        <Choice
          label="Status"
          compact
          value={chosen ?? ''}
          options={[{ value: '', label: 'Any status' }, ...STATUSES.map((value) => ({ value, label: value }))]}
          onChange={(value) => route(withQuery(`${base}/compilations`, { status: value }), true)}
        />
      </div>
      <ListView
        caption="Compilations"
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="Nothing to show">
            <p>A compilation makes an artifact of the project’s specs, which can then be deployed.</p>
            <Command text={`gw-control compile --project ${project.name} --wait`} />
          </Empty>
        }
        columns={({ status, time }) => [
          status(({ status }) => status),
          {
            label: 'What',
            kind: 'grow',
            cell: (compilation) => (
              <a href={`${base}/compilations/${compilation.id}`}>
                {compilation.spec_id === null ? 'Project' : 'Spec'}
                {compilation.specs.length > 1 ? ` of ${compilation.specs.length} specs` : ''}
                {compilation.production ? ', production build' : ''}
              </a>
            ),
          },
          { label: 'Found', cell: found },
          time('Asked for', ({ created_at }) => created_at),
        ]}
      />
    </>
  );
}

function found({ errors = [], warnings }: Compilation) {
  const parts = [count(errors.length, 'error'), count(warnings.length, 'warning')].filter((each) => each !== null);
  return parts.length === 0 ? <span class="muted">nothing</span> : parts.join(', ');
}

function count(number: number, what: string): string | null {
  return number === 0 ? null : `${number} ${what}${number === 1 ? '' : 's'}`;
}
