import { writingEffect } from '../../contract/effect.ts';
import { isServing, type ServerState } from '../../dev/state.ts';
import type { CallReport } from '../core/caller.ts';
import type { NamedTool } from '../core/registration.ts';
import { Choice, Empty, Head, live, Notice, shown } from '../web/parts.tsx';
import { EffectTag, withEffect } from '../web/references.tsx';
import { CallForm, type CallFormData } from './try-form.tsx';
import { Result } from './try-result.tsx';

export interface TryData extends CallFormData {
  readonly endpoint: string | null;
  readonly tools: readonly NamedTool[];
  readonly selected: string | null;
  readonly problem: string | null;
  readonly state: ServerState | null;
  readonly report: CallReport | null;
  readonly curl: string | null;
}

export function Try({ data }: { data: TryData }) {
  const { endpoint, tools, selected, problem, report, state } = data;
  const tool = tools.find(({ name }) => name === selected) ?? tools[0];
  const url = `/try${tool ? `?tool=${encodeURIComponent(tool.name)}` : ''}`;
  return (
    <div class="whole" {...(tool ? { id: 'try' } : live('try', url, 'server'))}>
      <Head title="Try it">
        {endpoint ? (
          <>
            Calls <code>{shown(endpoint)}</code> as the platform does, with a token that this marketplace
            signs.
          </>
        ) : (
          'Calls a tool as the platform does, once a server is known.'
        )}
      </Head>
      {problem && <Notice mark="fail" title="The call could not be made" lines={[problem]} />}
      {!tool && (state === null || isServing(state)) && (
        <Notice
          mark="advice"
          title="There is no tool to call"
          lines={[endpoint ? 'Its tools/list is empty or was not read.' : 'Register a server.']}
        />
      )}
      {tool && endpoint && (
        <div class="split">
          <section class="panel" aria-label="The call" {...live('call', url, 'server')}>
            <form method="get" action="/try" class="stack">
              <label>
                <span>Tool</span>
                <select name="tool" data-go>
                  {tools.map(({ name, definition }) => (
                    <Choice value={name} now={tool.name} text={withEffect(name, definition)} />
                  ))}
                </select>
              </label>
              <noscript>
                <button type="submit">Choose</button>
              </noscript>
            </form>
            <p class="soft small">
              <EffectTag effect={writingEffect(tool.definition)} /> {shown(tool.definition.description)}
            </p>
            <CallForm data={data} tool={tool} />
          </section>
          <section class="stack" aria-label="The result" aria-live="polite" id="answer">
            {report ? (
              <Result report={report} curl={data.curl} />
            ) : (
              <Empty title="No call yet">
                The result appears here: as a table, as JSON, and judged by the schema.
              </Empty>
            )}
          </section>
        </div>
      )}
    </div>
  );
}
