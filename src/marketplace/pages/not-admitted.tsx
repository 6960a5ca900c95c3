import type { PackageManagerCommands } from '../../plan/package-manager.ts';
import { DocumentHead } from '../web/layout.tsx';

interface Props extends Pick<PackageManagerCommands, 'run' | 'market'> {
  readonly port: string;
  /** Whether the browser came to the host of the pages. */
  readonly isOfPages: boolean;
  /** The link of the pages. It contains their host, so only for a browser that has sent the secret. */
  readonly link: string | undefined;
}

/** What a browser without the secret of a marketplace gets instead of any page. It shows nothing of the marketplace. */
export function NotAdmittedPage({ run, market, port, isOfPages, link }: Props) {
  return (
    <html lang="en">
      <DocumentHead title="Not admitted" />
      <body>
        <main>
          <h1>Open this page by its link</h1>
          <p>The local marketplace signs paid calls. It answers only to whoever started it.</p>
          <div class="panel">
            {link !== undefined && (
              <p>
                <a href={link}>Open the link of the pages</a>
              </p>
            )}
            <p>
              Open the link that <code class="nowrap">{run} dev</code> or{' '}
              <code class="nowrap">{market} marketplace</code> printed. It has the form{' '}
              <code>{`http://<16 characters>.localhost:${port}/?secret=…`}</code>
            </p>
            <p>
              To see it again, run <code class="nowrap">{market} marketplace</code> in the same directory.
            </p>
            {isOfPages ? (
              <p class="soft small">
                You followed a link on another website? Then <a href="/">open the home page from here</a>.
              </p>
            ) : (
              <>
                <p>
                  A browser sends a cookie of this address to every port of it, so also to other programs. The
                  pages have an address of their own, and accept no cookie here.
                </p>
                <p>
                  If the browser does not find the link, it does not resolve names that end with{' '}
                  <code>.localhost</code>, as some versions of Safari do not. Open the link in Chrome, Edge or
                  Firefox.
                </p>
              </>
            )}
          </div>
        </main>
      </body>
    </html>
  );
}
