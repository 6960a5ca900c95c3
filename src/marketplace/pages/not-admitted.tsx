import type { PackageManagerCommands } from '../../plan/package-manager.ts';
import { DocumentHead } from '../web/layout.tsx';

/** What a browser without the secret of a marketplace gets instead of any page. It shows nothing of the marketplace. */
export function NotAdmittedPage({ run, market }: Pick<PackageManagerCommands, 'run' | 'market'>) {
  return (
    <html lang="en">
      <DocumentHead title="Not admitted" />
      <body>
        <main>
          <h1>Open this page by its link</h1>
          <p>The local marketplace signs paid calls. It answers only to whoever started it.</p>
          <div class="panel">
            <p>
              Open the link that <code class="nowrap">{run} dev</code> or{' '}
              <code class="nowrap">{market} marketplace</code> printed. It ends with{' '}
              <code class="nowrap">/?secret=…</code>
            </p>
            <p>
              To see it again, run <code class="nowrap">{market} marketplace</code> in the same directory.
            </p>
            <p class="soft small">
              You followed a link on another website? Then <a href="/">open the home page from here</a>.
            </p>
          </div>
        </main>
      </body>
    </html>
  );
}
