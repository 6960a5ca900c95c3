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
          Open the link that <code>npm run dev</code> or <code>market-mcp marketplace</code> printed. It ends
          with <code>/?secret=…</code>
        </p>
        <p>
          To see it again, run <code>npx market-mcp marketplace</code> in the same directory.
        </p>
        <p class="soft small">
          Did you follow a link of another website? This browser then withholds what it knows:{' '}
          <a href="/">open the home page from here</a>.
        </p>
      </div>
    </>
  );
}
