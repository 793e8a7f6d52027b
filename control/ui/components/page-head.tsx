/** The heading of a page, with what can be done on it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

interface PageHeadProps {
  readonly title: string;
  /** The page above this one. */
  readonly above?: { readonly href: string; readonly label: string };
  readonly children?: ComponentChildren;
}

export function PageHead({ title, above, children }: PageHeadProps) {
  useTitle(title);
  return (
    <header class="page-head">
      <div>
        {above && (
          <p class="above">
            <a href={above.href}>{above.label}</a> <span aria-hidden="true">/</span>
          </p>
        )}
        <h1>{title}</h1>
      </div>
      {children && <div class="page-actions">{children}</div>}
    </header>
  );
}

/** The title of the window, which browsers keep in their history. */
export function useTitle(title: string): void {
  // Before the page is seen.
  useLayoutEffect(() => {
    document.title = `${title} · gw console`;
  }, [title]);
}
