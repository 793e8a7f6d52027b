/** One spec: its document with what the compiler found, its history, and what changed between two revisions. */
import { useLocation, useRoute } from 'preact-iso/router';
import { client } from '../../api/client.ts';
import { saveFile } from '../../api/save-file.ts';
import { may } from '../../api/session.ts';
import type { SpecRevision } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pending } from '../../components/table.tsx';
import { useLoaded } from '../../data/use-loaded.ts';
import { withQuery } from '../../shell/with-query.ts';
import { CompileButton } from './compile-button.tsx';
import { useProject } from './project-context.ts';
import { SpecBindings } from './spec-bindings.tsx';
import { SpecComparison } from './spec-comparison.tsx';
import { SpecDocument } from './spec-document.tsx';
import { SpecHistory } from './spec-history.tsx';
import type { SpecState } from './spec-state.ts';

const VIEWS = [
  { id: '', label: 'Document' },
  { id: 'history', label: 'History' },
  { id: 'compare', label: 'Compare' },
  { id: 'bindings', label: 'Bindings' },
] as const;
/** Documents hold plugin configs: their content is for editors. */
const VIEWS_WITHOUT_CONTENT = VIEWS.filter(({ id }) => id === 'history' || id === 'bindings');

export function SpecPage() {
  const { base } = useProject();
  const { query, route } = useLocation();
  const { spec: id = '' } = useRoute().params;
  const params = { id };
  const { data, error, reload } = useLoaded<SpecState>(id, async (signal) => {
    const { value: spec, etag } = await client.read('specs.get', { params }, { signal });
    const revisions = await client.list('specs.history', { params }, { signal, limit: 2000 });
    return { spec, etag, revisions: revisions.toSorted((a, b) => b.revision - a.revision) };
  });
  if (data === undefined) return <Pending what="the spec" error={error} reload={reload} />;
  const { spec, revisions } = data;
  const views = may('editor') ? VIEWS : VIEWS_WITHOUT_CONTENT;
  const asked = query['view'] ?? '';
  const view = views.some(({ id }) => id === asked) ? asked : (views[0]?.id ?? '');
  const wanted = Number(query['revision']);
  const revision = revisions.find((each) => each.revision === wanted) ?? revisions[0];
  const here = `${base}/specs/${spec.id}`;
  const save = async ({ revision, filename }: SpecRevision) =>
    saveFile(await client.response('specs.content', { params, query: { revision } }), filename);
  return (
    <>
      <PageHead title={spec.name} above={{ href: `${base}/specs`, label: 'Specs' }}>
        {revision && may('editor') && (
          <button type="button" class="button" onClick={() => save(revision)}>
            Download
          </button>
        )}
        {may('editor') && (
          <ConfirmButton
            label="Delete"
            title={`Delete ${spec.name}?`}
            action="Delete"
            act={() => client.call('specs.delete', { params })}
            done={`Deleted ${spec.name}.`}
            onDone={() => route(`${base}/specs`)}
          >
            <p>With its {revisions.length} revisions. What is deployed serves on.</p>
          </ConfirmButton>
        )}
        <CompileButton />
      </PageHead>
      <p class="lead">
        {spec.title} {spec.version}
        <span class="muted">
          {' '}
          · {spec.type === 'openapi' ? 'OpenAPI' : 'AsyncAPI'} {revision?.spec_version} · revision {spec.revision}
        </span>
      </p>
      <nav class="tabs" aria-label="Views of the spec">
        {views.map(({ id, label }) => (
          <a
            class="nav-link"
            key={id}
            href={withQuery(here, { view: id })}
            aria-current={view === id ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      {view === 'history' ? (
        <SpecHistory state={data} />
      ) : view === 'bindings' ? (
        <SpecBindings state={data} onChanged={reload} />
      ) : view === 'compare' ? (
        <SpecComparison state={data} />
      ) : (
        revision && <SpecDocument key={revision.revision} state={data} revision={revision} onSaved={reload} />
      )}
    </>
  );
}
