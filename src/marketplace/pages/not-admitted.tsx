/** What a browser without the secret of a marketplace gets instead of any page. It shows nothing of the marketplace. */
export function NotAdmittedPage() {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Not admitted · Local marketplace</title>
        <link rel="stylesheet" href="/assets/style.css" />
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
      </head>
      <body>
        <main>
          <h1>Open this page by its link</h1>
          <p>The local marketplace signs paid calls. It answers only to whoever started it.</p>
          <div class="panel">
            <p>
              Open the link that <code class="nowrap">npm run dev</code> or{' '}
              <code class="nowrap">market-mcp marketplace</code> printed. It ends with{' '}
              <code class="nowrap">/?secret=…</code>
            </p>
            <p>
              To see it again, run <code class="nowrap">npx market-mcp marketplace</code> in the same
              directory.
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
