import type { Context } from 'hono';
import { writingEffect } from '../../contract/effect.ts';
import { isObject } from '../../contract/json.ts';
import type { Json } from '../../contract/model.ts';
import { type AskRun, type Question, thresholds } from '../core/ask.ts';
import { MarketError } from '../core/errors.ts';
import { defaultCategory, formProblems, stakeOf } from '../core/form.ts';
import type { Job } from '../core/jobs.ts';
import { logCard } from '../core/log-card.ts';
import type { Marketplace } from '../core/marketplace.ts';
import type { ListingForm, Mode } from '../core/model.ts';
import { plannedCalls } from '../core/registration.ts';
import { sentTo } from '../core/traffic.ts';
import { Ask, type AskResult, AskView } from '../pages/ask.tsx';
import { Disputes } from '../pages/disputes.tsx';
import { JobBody, JobPage } from '../pages/job.tsx';
import { Listings, type ListingsData } from '../pages/listings.tsx';
import { Register, type RegisterData, SubmissionView } from '../pages/register.tsx';
import { jsonOf, textOf, textsOf } from './input.ts';
import type { Input } from './security.ts';
import { type Done, type Site, wantsJson } from './site.tsx';

/** @throws MarketError if there is no such job. */
function jobOf(marketplace: Marketplace, id = ''): Job {
  const job = marketplace.jobs.get(id.replace(/\.json$/, ''));
  if (job) return job;
  throw new MarketError('NO_SUCH_JOB', 'this run no longer exists', 'Start a new one.');
}

/** Register, My tools, Ask and Disputes: pages of the marketplace. */
export function marketRoutes(site: Site): void {
  registerRoutes(site);
  listingRoutes(site);
  askRoutes(site);
  disputeRoutes(site);
}

function registerRoutes(site: Site): void {
  const { marketplace } = site;
  const { listing: rules } = marketplace.profile;
  /** What was entered in the form in a browser, until it is accepted. */
  let entered: Partial<ListingForm> = {};
  const show = async (
    form: ListingForm,
    { problems = [], isDown = false }: Partial<RegisterData> = {},
  ): Promise<RegisterData> => {
    const readTools = async () => {
      await marketplace.requireRunning(form.endpoint);
      return marketplace.caller.tools(form.endpoint);
    };
    const tools = form.endpoint === '' ? [] : await readTools().catch(() => []);
    const calls = plannedCalls(tools, marketplace.profile.smoke);
    return { form, problems, isDown, stake: stakeOf(form.price, rules), rules, calls };
  };
  /** The page of a form that was not submitted. */
  const again = async (form: ListingForm, more: Partial<RegisterData>): Promise<Done> => {
    const data = await show(form, more);
    return { data, status: 422, title: 'Register', view: <Register data={data} /> };
  };
  site.page(
    '/register',
    'Register',
    (c) => {
      const { draft, endpoint = '' } = marketplace.options;
      const category = defaultCategory(rules);
      const initial = { name: '', description: '', category, price: '0.01', endpoint, ...draft };
      const named = { price: c.req.query('price'), endpoint: c.req.query('endpoint') };
      const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value));
      return show({ ...initial, ...(wantsJson(c) ? {} : entered), ...given });
    },
    Register,
  );
  site.post('/register', async (input, c): Promise<Done> => {
    const form: ListingForm = {
      name: textOf(input, 'name'),
      description: textOf(input, 'description'),
      category: textOf(input, 'category'),
      price: textOf(input, 'price').trim(),
      endpoint: textOf(input, 'endpoint').trim(),
    };
    const { listings } = await marketplace.store.read();
    const taken = listings.map(({ endpoint }) => endpoint);
    const problems = formProblems(form, rules, taken);
    const isPage = !c.req.path.endsWith('.json');
    if (isPage) entered = form;
    if (isPage && problems.some(({ advice }) => !advice)) return again(form, { problems });
    try {
      await marketplace.requireRunning(form.endpoint);
    } catch (error) {
      if (isPage && error instanceof MarketError) return again(form, { problems, isDown: true });
      throw error;
    }
    const started = marketplace.jobs.start('register', `Submitting ${form.name}`, async (onStep) => {
      const submission = await marketplace.register(form, onStep);
      if (submission.accepted && entered === form) entered = {};
      return submission;
    });
    return doneWith(started, c, 'NOT_SUBMITTED', ({ result, steps }) => ({ ...(result as object), steps }));
  });
  jobPages(site, 'register', (job) => <SubmissionView job={job} />);
}

function listingRoutes(site: Site): void {
  const { marketplace } = site;
  const { listing: rules } = marketplace.profile;
  const load = async (refreshed: ListingsData['refreshed'] = null): Promise<ListingsData> => {
    const { listings } = await marketplace.store.read();
    return {
      listings: await Promise.all(listings.map((listing) => marketplace.status(listing))),
      refreshed,
      rules,
    };
  };
  site.page('/listings', 'My tools', () => load(), Listings);
  site.post('/listings/refresh', async (input): Promise<Done> => {
    const { listing, changes } = await marketplace.refresh(textOf(input, 'listing'));
    const data = await load({ name: listing.name, changes });
    return { data: { listing, changes }, title: 'My tools', view: <Listings data={data} /> };
  });
  site.post('/listings/withdraw', async (input): Promise<Done> => {
    const listing = textOf(input, 'listing');
    await marketplace.withdraw(listing);
    return { data: { withdrawn: listing }, to: '/listings' };
  });
}

function askRoutes(site: Site): void {
  const { marketplace } = site;
  site.page(
    '/ask',
    'Ask',
    async () => ({
      tools: (await marketplace.buyerTools()).map(({ name, definition }) => ({
        name,
        effect: writingEffect(definition) ?? null,
        description: typeof definition.description === 'string' ? definition.description : '',
        arguments: marketplace.sample(definition.inputSchema),
      })),
      thresholds,
    }),
    Ask,
  );
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

async function questionIn(input: Input, marketplace: Marketplace): Promise<Question> {
  const mode = textOf(input, 'mode') || 'auto';
  if (mode !== 'manual' && mode !== 'auto' && mode !== 'query') {
    const hint = 'Choose manual, auto or query.';
    throw new MarketError('BAD_MODE', `there is no mode ${JSON.stringify(mode)}`, hint);
  }
  const tools = await marketplace.buyerTools();
  const given = isObject(input.arguments) ? input.arguments : {};
  const args = tools.flatMap(({ name }): [string, Json][] => {
    const typed = textOf(input, `arguments.${name}`).trim();
    if (typed !== '') return [[name, jsonOf(typed, `Arguments of ${name}`)]];
    return Object.hasOwn(given, name) ? [[name, given[name] ?? null]] : [];
  });
  return {
    question: textOf(input, 'question').trim(),
    mode: mode as Mode,
    picked: textsOf(input, 'pick'),
    arguments: Object.fromEntries(args),
  };
}

function disputeRoutes(site: Site): void {
  const { marketplace } = site;
  site.page(
    '/disputes',
    'Disputes',
    async () => {
      const { disputes, listings } = await marketplace.store.read();
      const endpoints = new Set(listings.map(({ endpoint }) => endpoint));
      const calls = marketplace.traffic
        .newest(
          50,
          ({ rpc, [sentTo]: endpoint, response }) =>
            rpc?.tool !== undefined && response !== null && endpoints.has(endpoint),
        )
        .map(({ id, rpc, at }) => ({ id, tool: rpc?.tool ?? '', at }));
      return { disputes, listings, calls };
    },
    Disputes,
  );
  site.post('/disputes', async (input): Promise<Done> => {
    const tool = textOf(input, 'names') === 'none' ? null : textOf(input, 'tool') || undefined;
    const dispute = await marketplace.dispute(Number(textOf(input, 'call')), tool);
    return { data: dispute, to: `/disputes#dispute-${dispute.id}` };
  });
}

/**
 * The answer to the start of a job: a person is led to its page, a program gets its result.
 *
 * @throws MarketError with the code if the job ended with an error.
 */
export async function doneWith(
  { id, finished }: ReturnType<Marketplace['jobs']['start']>,
  c: Context,
  code: string,
  dataOf: (job: Job) => unknown,
): Promise<Done> {
  if (!c.req.path.endsWith('.json')) return { data: { id }, to: `${c.req.path}/${id}` };
  const job = await finished;
  if (job.error !== null) throw new MarketError(code, job.error, 'See the traffic.');
  return { data: dataOf(job), to: '/' };
}

/** Adds the page of jobs of this kind, and the part of it that changes. */
export function jobPages(
  site: Site,
  kind: Job['kind'],
  view: (job: Job) => ReturnType<typeof JobBody>,
): void {
  const title = kind[0]?.toUpperCase() + kind.slice(1);
  site.page(
    `/${kind}/:id`,
    title,
    (c) => jobOf(site.marketplace, c.req.param('id')),
    ({ data: job }) => (
      <JobPage job={job}>
        <JobBody job={job}>{view(job)}</JobBody>
      </JobPage>
    ),
  );
}
