/** The document of a revision, with what the latest compilation of it found, at its lines. */

import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { may } from '../../api/session.ts';
import type { Compilation, SpecRevision, SpecUpload } from '../../api/types.ts';
import { Choice } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { Loading } from '../../components/table.tsx';
import { Status, Time } from '../../components/values.tsx';
import { useLiveReload } from '../../data/live.ts';
import { useList } from '../../data/use-list.ts';
import { draftOf, ofSpec } from '../../editor/drafts.ts';
import { DocumentEditor } from '../../editor/editor.tsx';
import { announce } from '../../shell/announcer.tsx';
import { withQuery } from '../../shell/with-query.ts';
import { Diagnostics } from './diagnostics.tsx';
import type { Draft } from './draft.ts';
import { findingsOf } from './findings.ts';
import { useProject } from './project-context.ts';
import { SpecDraft } from './spec-draft.tsx';
import type { SpecState } from './spec-state.ts';
import { useContent } from './use-content.ts';

interface SpecDocumentProps {
  readonly state: SpecState;
  readonly revision: SpecRevision;
  readonly onSaved: () => void;
}

export function SpecDocument({ state: { spec, etag, revisions }, revision, onSaved }: SpecDocumentProps) {
  const { base } = useProject();
  const { query, route } = useLocation();
  const latest = revisions[0]?.revision === revision.revision;
  const [draft, setDraft] = useState<Draft | null>(() => {
    const kept = latest ? draftOf(ofSpec(spec.id)) : null;
    return kept && { ...kept, specId: spec.id, isKept: true };
  });
  const content = useContent(spec.id, revision);
  const hasBindings = revision.sha256 !== revision.document_sha256;
  // The editor shows the document without bindings, which are applied to each new revision.
  const bare = useContent(spec.id, hasBindings ? revision : undefined, 'without');
  const compilation = useCompilationOf(spec.id, revision.revision);
  const names = [...(content.data?.keys() ?? [])];
  const asked = query['file'];
  const file = asked !== undefined && names.includes(asked) ? asked : names.find((name) => name === revision.entry);
  const text = content.data?.get(file ?? '');
  const [turn, setTurn] = useState<{ line: number; turn: number } | null>(null);
  const line = Number(query['line']);
  useEffect(() => {
    if (line > 0) setTurn({ line, turn: 0 });
  }, [line, asked]);
  const diagnostics = useMemo(
    () =>
      [...(compilation?.errors ?? []), ...(compilation?.warnings ?? [])].filter(({ spec_id }) => spec_id === spec.id),
    [compilation, spec.id],
  );
  const findings = useMemo(() => findingsOf(diagnostics, file ?? ''), [diagnostics, file]);
  if (content.error !== undefined) return <Problem error={content.error} onRetry={content.reload} />;
  if (text === undefined || file === undefined) return <Loading what="the document" />;
  const here = (change: { file?: string; revision?: string }) =>
    withQuery(`${base}/specs/${spec.id}`, { revision: query['revision'], file: asked, ...change });
  const saved = ({ revision }: SpecUpload) => {
    announce(`Uploaded revision ${revision}.`);
    setDraft(null);
    route(`${base}/specs/${spec.id}`);
    onSaved();
  };
  if (draft) {
    const takeTheirs = () => {
      setDraft(null);
      onSaved();
    };
    return <SpecDraft draft={draft} onSaved={saved} onClose={() => setDraft(null)} onTakeTheirs={takeTheirs} />;
  }
  const own = hasBindings ? bare.data?.get(file) : text;
  const edit = (written: string) => {
    const known = hasBindings ? [] : diagnostics;
    setDraft({ specId: spec.id, filename: revision.filename, name: spec.name, text: written, etag, known });
  };
  return (
    <>
      <div class="toolbar">
        <Choice
          label="Revision"
          compact
          value={String(revision.revision)}
          options={revisions.map(({ revision }) => ({ value: String(revision), label: `Revision ${revision}` }))}
          onChange={(value) => route(here({ revision: value }))}
        />
        {names.length > 1 && (
          <Choice
            label="File"
            compact
            value={file}
            options={names.map((name) => ({ value: name, label: name }))}
            onChange={(value) => route(here({ file: value }))}
          />
        )}
        {may('editor') && latest && names.length === 1 && own !== undefined && (
          <button type="button" class="button" onClick={() => edit(own)}>
            Edit
          </button>
        )}
        {hasBindings && <span class="muted">With its bindings, as it is compiled.</span>}
        {revision.note !== undefined && <span class="muted">{revision.note}</span>}
        {!latest && <span class="muted">An earlier revision: what is compiled next is the latest.</span>}
      </div>
      <div class="document">
        <section class="card grow" aria-label={file}>
          <DocumentEditor filename={file} text={text} findings={findings} at={turn} />
        </section>
        <aside class="findings" aria-label="What the compiler found">
          <Summary compilation={compilation} base={base} />
          <Diagnostics
            diagnostics={diagnostics}
            place={({ file: of, line = 1 }) =>
              of === file || of === undefined
                ? { go: () => setTurn((last) => ({ line, turn: (last?.turn ?? 0) + 1 })) }
                : { href: `${here({ file: of })}&line=${line}` }
            }
          />
        </aside>
      </div>
    </>
  );
}

function Summary({
  compilation,
  base,
}: {
  readonly compilation: Compilation | null | undefined;
  readonly base: string;
}) {
  if (compilation === undefined) return <Loading what="the latest compilation" />;
  if (compilation === null) return <p class="muted">This revision has not been compiled yet.</p>;
  return (
    <p>
      <Status value={compilation.status} />{' '}
      <a href={`${base}/compilations/${compilation.id}`}>
        compiled <Time at={compilation.created_at} />
      </a>
    </p>
  );
}

/** Returns the latest compilation with this revision; null if the last ones have none. */
function useCompilationOf(specId: string, revision: number): Compilation | null | undefined {
  const { project } = useProject();
  const input = { params: { id: project.id }, query: { limit: 50 } };
  const { items, reload } = useList('compilations.listOfProject', input);
  useLiveReload(['compilation'], reload);
  if (items === undefined) return undefined;
  const has = ({ specs }: Compilation) => specs.some((each) => each.spec_id === specId && each.revision === revision);
  return items.find(has) ?? null;
}
