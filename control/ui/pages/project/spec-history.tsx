/** The revisions of a spec. */
import { Table } from '../../components/table.tsx';
import { bytes, Hash } from '../../components/values.tsx';
import { withQuery } from '../../shell/with-query.ts';
import { useProject } from './project-context.ts';
import type { SpecState } from './spec-state.ts';

export function SpecHistory({ state: { spec, revisions } }: { readonly state: SpecState }) {
  const { base } = useProject();
  const here = `${base}/specs/${spec.id}`;
  return (
    <section class="card" aria-label="History">
      <Table
        caption="Revisions"
        rows={revisions}
        rowKey={({ revision }) => String(revision)}
        columns={({ actions, time }) => [
          {
            label: 'Revision',
            cell: ({ revision }) => (
              <a class="strong" href={withQuery(here, { revision })}>
                {revision}
              </a>
            ),
          },
          { label: 'File', kind: 'grow', cell: ({ filename }) => filename },
          { label: 'Content', cell: ({ sha256 }) => <Hash value={sha256} /> },
          { label: 'Size', kind: 'number', cell: ({ size }) => bytes(size) },
          { label: 'By', cell: ({ created_by }) => created_by },
          time('When', ({ created_at }) => created_at),
          actions(({ revision }) =>
            revision > 1 ? (
              <a class="button small" href={withQuery(here, { view: 'compare', from: revision - 1, to: revision })}>
                Compare<span class="visually-hidden"> revision {revision} with the one before</span>
              </a>
            ) : null,
          ),
        ]}
      />
    </section>
  );
}
