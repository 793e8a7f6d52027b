/** Where a path leads nowhere. */
import { PageHead } from '../components/page-head.tsx';

export function NotFound() {
  return (
    <main id="main" class="page" tabIndex={-1}>
      <NoSuchPage />
    </main>
  );
}

export function NoSuchPage() {
  return (
    <>
      <PageHead title="There is no such page" />
      <p>
        <a href="/ui">Go to the projects</a>
      </p>
    </>
  );
}
