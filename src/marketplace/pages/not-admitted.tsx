import { Head } from '../web/parts.tsx';

/** What a browser without the secret of a marketplace gets instead of any page. */
export function NotAdmittedPage() {
  return (
    <>
      <Head title="Open this page by its link">
        This marketplace signs paid calls. It answers only to whoever started it.
      </Head>
      <div class="panel">
        <p>
          Open the link that <code class="nowrap">npm run dev</code> or{' '}
          <code class="nowrap">market-mcp marketplace</code> printed. It ends with{' '}
          <code class="nowrap">/?secret=…</code>
        </p>
        <p>
          To see it again, run <code class="nowrap">npx market-mcp marketplace</code> in the same directory.
        </p>
        <p class="soft small">
          You followed a link on another website? Then <a href="/">open the home page from here</a>.
        </p>
      </div>
    </>
  );
}
