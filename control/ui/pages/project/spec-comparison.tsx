/** What changed between two revisions of a spec. */
import { useLocation } from 'preact-iso/router';
import { Choice } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { Loading } from '../../components/table.tsx';
import { Diff } from '../../editor/editor.tsx';
import { withQuery } from '../../shell/with-query.ts';
import { useProject } from './project-context.ts';
import type { SpecState } from './spec-state.ts';
import { useContent } from './use-content.ts';

export function SpecComparison({ state: { spec, revisions } }: { readonly state: SpecState }) {
  const { base } = useProject();
  const { query, route } = useLocation();
  const to = revisions.find(({ revision }) => revision === Number(query['to'])) ?? revisions[0];
  const from = revisions.find(({ revision }) => revision === Number(query['from'])) ?? revisions[1];
  const before = useContent(spec.id, from);
  const after = useContent(spec.id, to);
  if (from === undefined || to === undefined) {
    return <p class="muted">There is one revision only: upload another, and what changed shows here.</p>;
  }
  const options = revisions.map(({ revision }) => ({ value: String(revision), label: `Revision ${revision}` }));
  const choose = (change: { from?: string; to?: string; file?: string }) =>
    route(
      withQuery(`${base}/specs/${spec.id}`, { view: 'compare', from: from.revision, to: to.revision, ...change }),
      true,
    );
  const error = before.error ?? after.error;
  const files = [...new Set([...(before.data?.keys() ?? []), ...(after.data?.keys() ?? [])])];
  const single = before.data?.size === 1 && after.data?.size === 1;
  const changed = files.filter((name) => before.data?.get(name) !== after.data?.get(name));
  const file = query['file'] ?? changed[0] ?? files[0] ?? '';
  // One document is compared with one document, also where the file was renamed.
  const text = (of: typeof before) => (single ? of.data?.values().next().value : of.data?.get(file)) ?? '';
  return (
    <>
      <div class="toolbar">
        <Choice
          label="Before"
          compact
          value={String(from.revision)}
          options={options}
          onChange={(value) => choose({ from: value })}
        />
        <span aria-hidden="true">→</span>
        <Choice
          label="After"
          compact
          value={String(to.revision)}
          options={options}
          onChange={(value) => choose({ to: value })}
        />
        {!single && files.length > 1 && (
          <Choice
            label="File"
            compact
            value={file}
            options={files.map((name) => ({ value: name, label: changed.includes(name) ? `${name} (changed)` : name }))}
            onChange={(value) => choose({ file: value })}
          />
        )}
      </div>
      {error !== undefined ? (
        <Problem error={error} />
      ) : before.data === undefined || after.data === undefined ? (
        <Loading what="the revisions" />
      ) : text(before) === text(after) ? (
        <p class="muted">Nothing has changed between these two.</p>
      ) : (
        <section class="card" aria-label={`Changes from revision ${from.revision} to ${to.revision}`}>
          <Diff before={text(before)} after={text(after)} filename={file} />
        </section>
      )}
    </>
  );
}
