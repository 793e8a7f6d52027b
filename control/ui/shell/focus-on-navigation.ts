/** Screen readers and the keyboard begin at the new page, as they would without a script. */
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

/** For what holds `main`: when it comes onto the page, and when the path changes below it. */
export function useFocusOnNavigation(): void {
  // Not in its types; false after the page was loaded and after back and forward, where the browser knows better.
  const { path, wasPush }: ReturnType<typeof useLocation> & { readonly wasPush?: boolean } = useLocation();
  // Paths that differ in what is shown below one main are other pages, too.
  useEffect(() => {
    if (path && wasPush) document.getElementById('main')?.focus({ preventScroll: true });
  }, [path, wasPush]);
}
