import type { Child } from 'hono/jsx';
import { isDown, isServing, type ServerState, stateLines } from '../../dev/state.ts';
import type { PackageManagerCommands } from '../../plan/package-manager-commands.ts';
import { live, Notice, Text, visibleText } from './parts.tsx';

/** The pages, in the order of the navigation. */
export const pages = [
  ['/', 'Home'],
  ['/try', 'Try it'],
  ['/check', 'Check'],
  ['/register', 'Register'],
  ['/listings', 'My tools'],
  ['/disputes', 'Disputes'],
  ['/traffic', 'Traffic'],
] as const;

/** Data that every page needs. */
export interface PageContext {
  readonly path: string;
  readonly profile: string;
  /** The state of the project's server, if there is one. */
  readonly state: ServerState | null;
}

export function Layout({ frame, title, children }: { frame: PageContext; title: string; children?: Child }) {
  const section = pages.findLast(([path]) =>
    path === '/' ? frame.path === '/' : frame.path.startsWith(path),
  );
  const twin = `${frame.path === '/' ? '/index' : frame.path}.json`;
  return (
    <html lang="en">
      <DocumentHead title={title}>
        <link rel="alternate" type="application/json" href={twin} />
        <script type="module" src="/assets/client.js" />
      </DocumentHead>
      <body>
        <a class="skip sr" href="#main">
          Skip to content
        </a>
        <div class="frame">
          <header class="side">
            <a class="brand" href="/">
              <Mark />
              <span>
                Local marketplace<small class="soft small">{frame.profile}</small>
              </span>
            </a>
            <nav aria-label="Pages">
              <ul>
                {pages.map(([path, name]) => (
                  <li>
                    <a href={path} {...(section?.[0] === path && { 'aria-current': 'page' })}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
            <footer class="soft small">
              On this machine only. Every page has a JSON twin for programs:{' '}
              <a href="/index.json">/index.json</a>
            </footer>
          </header>
          <main id="main" tabindex={-1}>
            <div id="offline" hidden>
              <Notice
                mark="advice"
                title="This marketplace does not answer"
                lines={['Start dev or the marketplace again. The page then continues by itself.']}
              />
            </div>
            <StatePart state={frame.state} />
            {children}
          </main>
        </div>
      </body>
    </html>
  );
}

/** Why the server does not run, as a notice and as an overlay, which the script shows. Empty while it runs. */
function StatePart({ state }: { state: ServerState | null }) {
  const part = live('state', '/state', 'server');
  if (state === null || state.kind === 'running') return <div {...part} />;
  return (
    <div {...part}>
      <Notice
        mark={state.kind === 'building' ? 'running' : 'fail'}
        title={state.message}
        lines={stateLines(state)}
      />
      {!isServing(state) && <Overlay state={state} />}
    </div>
  );
}

function Overlay({ state }: { state: ServerState }) {
  const { message, details, at, hint } = state;
  return (
    <dialog class={isDown(state) ? 'down' : ''} aria-labelledby="overlay">
      <div class="stack">
        <h2 id="overlay">{visibleText(message)}</h2>
        {at !== null && <p class="mono">{visibleText(at)}</p>}
        {details.length > 0 && <Text text={details.join('\n')} />}
        <p>{visibleText(hint)}</p>
        <form method="dialog" class="row between">
          <span class="soft small">This closes when the server runs again.</span>
          <button type="submit" autofocus>
            Dismiss
          </button>
        </form>
      </div>
    </dialog>
  );
}

/** The head of every page. */
export function DocumentHead({ title, children }: { title: string; children?: Child }) {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{`${title} · Local marketplace`}</title>
      <link rel="stylesheet" href="/assets/style.css" />
      <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
      {children}
    </head>
  );
}

function Mark() {
  return (
    <svg
      width="26"
      height="26"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      aria-hidden="true"
    >
      <title>Market stall</title>
      <path d="M3 9.5 4.8 4h14.4L21 9.5M3 9.5a3 3 0 0 0 6 0 3 3 0 0 0 6 0 3 3 0 0 0 6 0M5 13v7h14v-7" />
    </svg>
  );
}

export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#0b5f4a" d="M4.5 3h15L22 9.6A3.4 3.4 0 0 1 19 13v8H5v-8a3.4 3.4 0 0 1-3-3.4z"/></svg>';

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
