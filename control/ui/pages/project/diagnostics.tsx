/** Diagnostics of the compiler, each with a link to its place in the document. */
import type { Compilation, Diagnostic } from '../../api/types.ts';
import { Status } from '../../components/values.tsx';
import { withQuery } from '../../shell/with-query.ts';
import { useProject } from './project-context.ts';

interface DiagnosticsProps {
  readonly diagnostics: readonly Diagnostic[];
  /** Link of a diagnostic; null if its place is not known. */
  readonly place: (diagnostic: Diagnostic) => { readonly href?: string; readonly go?: () => void } | null;
}

export function Diagnostics({ diagnostics, place }: DiagnosticsProps) {
  return (
    <ul class="diagnostics">
      {diagnostics.map((each, index) => (
        <li key={index} class={each.severity}>
          <p>
            <Status value={each.severity} /> <code>{each.code}</code> <Place diagnostic={each} {...place(each)} />
          </p>
          <p>{each.message}</p>
          {each.hint && <p class="muted">{each.hint}</p>}
        </li>
      ))}
    </ul>
  );
}

interface PlaceProps {
  readonly diagnostic: Diagnostic;
  readonly href?: string;
  readonly go?: () => void;
}

function Place({ diagnostic: { file, line, column, pointer }, href, go }: PlaceProps) {
  const text = [file, line, column].filter((each) => each !== undefined).join(':') || pointer;
  if (!text) return null;
  if (href) return <a href={href}>{text}</a>;
  if (go && line !== undefined) {
    return (
      <button type="button" class="link" onClick={go}>
        {text}
      </button>
    );
  }
  return <span class="muted">{text}</span>;
}

interface OfProjectProps {
  readonly compilation: Compilation;
  readonly diagnostics: readonly Diagnostic[];
}

/** Of a compilation: they lead to the specs of the project. */
export function DiagnosticsOfProject({ compilation, diagnostics }: OfProjectProps) {
  const { base } = useProject();
  if (diagnostics.length === 0) {
    return compilation.status === 'succeeded' ? (
      <p class="muted">The compiler found nothing to complain about.</p>
    ) : null;
  }
  const revisions = new Map(compilation.specs.map(({ spec_id, revision }) => [spec_id, revision]));
  const place = ({ spec_id, file, line }: Diagnostic) => {
    if (spec_id === undefined || !revisions.has(spec_id)) return null;
    return { href: withQuery(`${base}/specs/${spec_id}`, { revision: revisions.get(spec_id), file, line }) };
  };
  return (
    <section class="card" aria-label="What the compiler found">
      <h2 class="card-title">What the compiler found</h2>
      <Diagnostics diagnostics={diagnostics} place={place} />
    </section>
  );
}
