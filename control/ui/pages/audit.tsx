/** Every change: who, what, when, before and after. */
import { useLocation } from 'preact-iso/router';
import type { AuditEntry } from '../api/types.ts';
import { Choice, Filter } from '../components/field.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Pending, ShowMore } from '../components/table.tsx';
import { Hash, Time, UUID } from '../components/values.tsx';
import { useAll, useList } from '../data/use-list.ts';
import { withQuery } from '../shell/with-query.ts';

const SINCE: Readonly<Record<string, { readonly label: string; readonly hours: number }>> = {
  hour: { label: 'Last hour', hours: 1 },
  day: { label: 'Last day', hours: 24 },
  week: { label: 'Last week', hours: 168 },
};
const TYPES = [
  'project',
  'spec',
  'plugin',
  'project-plugin',
  'compilation',
  'artifact',
  'deployment',
  'data-plane',
  'api-key',
  'token',
];

export function Audit() {
  const { query, route } = useLocation();
  const { actor, project, type, since = '' } = query;
  const projects = useAll('projects.list', {});
  const hours = SINCE[since]?.hours;
  // To the minute: a filter that changes with each rendering would never be loaded.
  const from = hours === undefined ? undefined : Math.floor(Date.now() / 60_000) * 60_000 - hours * 3_600_000;
  const list = useList('audit.list', {
    query: {
      actor: actor || undefined,
      project_id: project || undefined,
      resource_type: type || undefined,
      since: from === undefined ? undefined : new Date(from).toISOString(),
    },
  });
  const choose = (change: Readonly<Record<string, string>>) =>
    route(withQuery('/ui/audit', { actor, project, type, since, ...change }), true);
  const any = (label: string) => ({ value: '', label });
  return (
    <main id="main" class="page" tabIndex={-1}>
      <PageHead title="Audit log" />
      <div class="toolbar">
        <Filter label="By actor, such as token:ci" value={actor ?? ''} onInput={(value) => choose({ actor: value })} />
        <Choice
          label="Project"
          compact
          value={project ?? ''}
          options={[any('Any project'), ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
          onChange={(value) => choose({ project: value })}
        />
        <Choice
          label="Resource"
          compact
          value={type ?? ''}
          options={[any('Any resource'), ...TYPES.map((value) => ({ value, label: value }))]}
          onChange={(value) => choose({ type: value })}
        />
        <Choice
          label="Since"
          compact
          value={since}
          options={[any('Any time'), ...Object.entries(SINCE).map(([value, { label }]) => ({ value, label }))]}
          onChange={(value) => choose({ since: value })}
        />
      </div>
      <section class="card" aria-label="Changes">
        {list.items === undefined ? (
          <Pending what="the audit log" {...list} />
        ) : list.items.length === 0 ? (
          <p class="muted pad">No change fits the filter.</p>
        ) : (
          <ul class="audit">
            {list.items.map((entry) => (
              <li key={entry.id}>
                <Entry entry={entry} />
              </li>
            ))}
          </ul>
        )}
        {list.more && <ShowMore onClick={list.more} loading={list.loadingMore} />}
      </section>
    </main>
  );
}

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const changes = changesOf(entry);
  const { name = entry.resource_id } = entry.after ?? entry.before ?? {};
  return (
    <details>
      <summary>
        <span class="strong">{entry.action}</span>
        <span>{typeof name === 'string' && !UUID.test(name) ? name : <Hash value={entry.resource_id} />}</span>
        <span class="muted">by {entry.actor}</span>
        <span class="muted when">
          <Time at={entry.at} />
        </span>
      </summary>
      <div class="change">
        {changes.length === 0 && <p class="muted">No property has changed.</p>}
        {changes.length > 0 && (
          <table class="table">
            <caption class="visually-hidden">What changed</caption>
            <thead>
              <tr>
                <th scope="col">Property</th>
                <th scope="col">Before</th>
                <th scope="col">After</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ property, before, after }) => (
                <tr key={property}>
                  <td data-label="Property">
                    <code>{property}</code>
                  </td>
                  <td data-label="Before">{before !== undefined && <del>{before}</del>}</td>
                  <td data-label="After">{after !== undefined && <ins>{after}</ins>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p class="muted small">
          {entry.resource_type} <code>{entry.resource_id}</code>
          {entry.request_id && (
            <>
              , request <code>{entry.request_id}</code>
            </>
          )}
        </p>
      </div>
    </details>
  );
}

/** The properties that differ; undefined where the resource was not there. */
function changesOf({ before, after }: AuditEntry) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.flatMap((property) => {
    const [was, is] = [shown(before?.[property]), shown(after?.[property])];
    return was === is ? [] : [{ property, before: was, after: is }];
  });
}

function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
