import type { Child } from 'hono/jsx';
import { CommandError } from 'market-mcp-contract/command';
import { writingEffect } from 'market-mcp-contract/definition';
import { isObject, type Json, shorten } from 'market-mcp-contract/json';
import { type AskEnding, type AskRun, thresholds, type UserQuestion } from '../core/ask.ts';
import type { Job } from '../core/jobs.ts';
import type { Marketplace } from '../core/marketplace.ts';
import type { BuyerTool } from '../core/model.ts';
import { redactValue } from '../core/redact.ts';
import { inputText, jsonOf, textsOf } from '../web/input.ts';
import {
  CodeCell,
  CopyButton,
  Empty,
  Head,
  LinkButton,
  Notice,
  Submit,
  shown,
  Table,
  Text,
} from '../web/parts.tsx';
import { EffectTag } from '../web/references.tsx';
import type { FormInput } from '../web/security.ts';
import type { Done, Site } from '../web/site.tsx';
import { doneWith, jobPages, Steps } from './job.tsx';

export function askRoutes(site: Site): void {
  const { marketplace } = site;
  site.page('/ask', 'Ask', () => load(marketplace), Ask);
  site.post('/ask', async (input, c): Promise<Done> => {
    const question = await questionIn(input, marketplace);
    let run: AskRun | undefined;
    const started = marketplace.jobs.start('ask', 'The answer', async (onStep): Promise<AskResult> => {
      run = await marketplace.ask(question, onStep);
      const card = logCard(run, await marketplace.buyerTools());
      return { ending: run.ending, answered: run.ending === 'answered', card };
    });
    return doneWith(started, c, 'NOT_ASKED', ({ result }) => ({ ...(result as AskResult), run }));
  });
  jobPages(site, 'ask', (job) => <AskView job={job} />);
}

/** The buyers' view, with the arguments that the submission test sends. */
async function load(marketplace: Marketplace) {
  const tools = (await marketplace.buyerTools()).map(({ name, definition }) => ({
    name,
    effect: writingEffect(definition) ?? null,
    description: typeof definition.description === 'string' ? definition.description : '',
    arguments: marketplace.sample(definition.inputSchema),
  }));
  return { tools, thresholds };
}

async function questionIn(input: FormInput, marketplace: Marketplace): Promise<UserQuestion> {
  const mode = inputText(input, 'mode') || 'auto';
  if (mode !== 'manual' && mode !== 'auto' && mode !== 'query') {
    const hint = 'Choose manual, auto or query.';
    throw new CommandError('BAD_MODE', `there is no mode ${JSON.stringify(mode)}`, hint);
  }
  const tools = await marketplace.buyerTools();
  const given = isObject(input.arguments) ? input.arguments : {};
  const args = tools.flatMap(({ name }): [string, Json][] => {
    const typed = inputText(input, `arguments.${name}`).trim();
    if (typed !== '') return [[name, jsonOf(typed, `Arguments of ${name}`)]];
    return Object.hasOwn(given, name) ? [[name, given[name] ?? null]] : [];
  });
  return {
    question: inputText(input, 'question').trim(),
    mode,
    picked: textsOf(input, 'pick'),
    arguments: Object.fromEntries(args),
  };
}

const meanings: { readonly [name in keyof typeof thresholds]: string } = {
  attempts: 'calls of one tool while its answers are tried again',
  fanOut: 'calls of one endpoint that find nothing and do not say so',
  calls: 'calls of one question',
  pauseMs: 'milliseconds between two calls',
  tools: 'tools that the ranking may choose',
  score: 'lowest score of a chosen tool',
};

function Ask({ data }: { data: Awaited<ReturnType<typeof load>> }) {
  const { tools } = data;
  return (
    <>
      <Head title="Ask">
        The loop in which the platform calls tools for a question, without a model: the same question takes
        the same way.
      </Head>
      {tools.length === 0 ? (
        <Empty title="Buyers see no tools" register="Register">
          Register a server first.
        </Empty>
      ) : (
        <form method="post" action="/ask" class="split">
          <div class="panel">
            <label>
              <span>Question</span>
              <textarea name="question" class="prose" rows={3} required />
            </label>
            <fieldset>
              <legend>Who chooses the tools</legend>
              <Mode name="auto" checked>
                the words of the question, in names and descriptions; only tools that read
              </Mode>
              <Mode name="query">the same, without tools whose _meta.surface is execute</Mode>
              <Mode name="manual">those you pick, called for real</Mode>
            </fieldset>
            <Submit label="Ask" />
            <details>
              <summary>Thresholds</summary>
              <Table label="Thresholds" heads={['Name', 'Value', 'Meaning']}>
                {Object.entries(data.thresholds).map(([name, value]) => (
                  <tr>
                    <CodeCell>{name}</CodeCell>
                    <td class="num">{value}</td>
                    <td>{meanings[name as keyof typeof meanings]}</td>
                  </tr>
                ))}
              </Table>
              <p class="soft small">
                The contract shows none of these numbers: they are this emulator's choice.
              </p>
            </details>
          </div>
          <fieldset class="panel">
            <legend class="sr">Tools and their arguments</legend>
            <h2>Tools and their arguments</h2>
            <p class="soft small">Without your edit, the arguments are those of the submission test.</p>
            {tools.map(({ name, effect, description, arguments: args }) => (
              <div class="stack tight">
                <label class="choice">
                  <input type="checkbox" name="pick" value={name} />
                  <span class="plain">
                    <code>{shown(name)}</code> <EffectTag effect={effect} />{' '}
                    <span class="hint">{shown(description)}</span>
                  </span>
                </label>
                <label>
                  <span class="sr">Arguments of {shown(name)}</span>
                  <textarea name={`arguments.${name}`} rows={3} spellcheck={false}>
                    {`\n${JSON.stringify(args, null, 2)}`}
                  </textarea>
                </label>
              </div>
            ))}
          </fieldset>
        </form>
      )}
    </>
  );
}

function Mode({ name, checked = false, children }: { name: string; checked?: boolean; children?: Child }) {
  return (
    <label class="choice">
      <input type="radio" name="mode" value={name} checked={checked} />
      <span class="plain">
        {name} <span class="hint">{children}</span>
      </span>
    </label>
  );
}

/** The result of a question's job. */
interface AskResult {
  readonly ending: string;
  readonly answered: boolean;
  readonly card: readonly CardPart[];
}

function AskView({ job }: { job: Job }) {
  const result = job.result as AskResult | null;
  if (!result) return <Steps steps={job.steps} />;
  const [title = '', ...lines] = result.card.at(-1)?.lines ?? [];
  return (
    <>
      <Notice mark={result.answered ? 'pass' : 'advice'} title={title} lines={lines} />
      <section class="panel" aria-labelledby="card">
        <div class="row between">
          <h2 id="card">Developer log card</h2>
          <CopyButton of="card-text" label="Copy all" />
        </div>
        {result.card.map(({ title, lines }) => (
          <div class="stack tight">
            <h3>{title}</h3>
            {lines.map((line) => (
              <p class="mono soft">{shown(line)}</p>
            ))}
          </div>
        ))}
      </section>
      <details>
        <summary>As text</summary>
        <Text text={cardText(result.card)} id="card-text" />
      </details>
      <p class="row">
        <LinkButton to="/ask" label="Ask again" />
      </p>
    </>
  );
}

/** One part of a developer log card (contract, appendix). */
export interface CardPart {
  readonly title: string;
  readonly lines: readonly string[];
}

const endings: { readonly [ending in AskEnding]: string } = {
  answered: 'Answered from the evidence gathered.',
  'explicit-empty': 'Bounded answer: the tool says explicitly that nothing was found.',
  'fan-out': 'Bounded answer: repeated calls of the same endpoint gave no evidence.',
  'upstream-abort': 'Bounded answer: the server did not answer.',
  'capability-miss': 'Bounded answer: no available tool satisfied the request.',
  'call-limit': 'Bounded answer: the limit of calls for one turn was reached.',
};

/** The developer log card of a run, with the parts in the order of the contract's appendix. */
export function logCard(
  { question, ranking, selected, calls, ending, ms }: AskRun,
  tools: readonly BuyerTool[],
): readonly CardPart[] {
  const endpoints = new Set(tools.map(({ endpoint }) => endpoint));
  const images = calls.flatMap(({ report, tool }) =>
    JSON.stringify(report.result ?? {}).includes('data:image/') ? [`${tool}: a data: image`] : [],
  );
  const answers = calls.filter(({ report }) => report.verdict.outcome === 'found').at(-1);
  const final = answers ? shorten(answers.report.result?.structuredContent, 600) : '';
  const limits = Object.entries(thresholds).map(([name, value]) => `${name} ${value}`);
  const parts: { readonly [title: string]: readonly string[] } = {
    'User question': [question.question || '(none)'],
    'Execution summary': [
      `mode ${question.mode} · success ${ending === 'answered'} · ${selected.length} steps · ${calls.length} MCP calls · ${ms} ms`,
      `thresholds: ${limits.join(', ')}`,
    ],
    'Orchestration selection':
      selected.length > 0 ? selected.map((name, i) => `${i + 1}. ${name}`) : ['no tool was selected'],
    'Planner query': [
      question.mode === 'manual'
        ? 'none: the user picked the tools'
        : "lexical: the share of the question's words in name (double) and description; no model is asked",
    ],
    'Tool-registry diagnostics': [
      `${tools.length} tools of ${endpoints.size} endpoints, as stored at the last listing or refresh`,
      ...ranking.map(({ tool, score, words, excluded }) => {
        const why = excluded ? `excluded: ${excluded}` : words.join(', ');
        return `${score.toFixed(2)} ${tool}${why && ` (${why})`}`;
      }),
    ],
    'Tool call history': calls.map(({ tool, report }) => {
      const answer = report.result?.structuredContent ?? report.error;
      return `${tool}(${shorten(redactValue(report.arguments), 200)}) → ${shorten(answer, 300)}`;
    }),
    'Execution trace': calls.map(({ tool, attempt, decision }) => `${tool} #${attempt}: ${decision}`),
    'Verification results': calls.map(({ tool, report: { verdict } }) => {
      const { outcome, text, structuredContent, same } = verdict;
      return `${tool}: ${outcome}; text ${text.status}, structuredContent ${structuredContent.status}, same data ${same.status}`;
    }),
    'Handshake note': ['none: this emulator signs and approves nothing, so the loop never pauses'],
    'Sandbox image artifacts': images,
    'Final result': [endings[ending], ...(final === '' ? [] : [final])],
  };
  return Object.entries(parts).map(([title, lines]) => ({
    title,
    lines: lines.length > 0 ? lines : ['none'],
  }));
}

/** The card as text, for "Copy all". */
export function cardText(parts: readonly CardPart[]): string {
  return parts.map(({ title, lines }) => `## ${title}\n${lines.join('\n')}`).join('\n\n');
}
