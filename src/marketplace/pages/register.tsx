import { CommandError, maskUrl } from 'market-mcp-contract/command';
import type { Job } from '../core/jobs.ts';
import { defaultCategory, formProblems } from '../core/listing-form.ts';
import type { FieldProblem, ListingForm, Submission } from '../core/marketplace-model.ts';
import { acceptance } from '../core/registration.ts';
import { type Registration, readRegistration } from '../core/registration-form.ts';
import { inputText } from '../web/form-input.ts';
import { ChoiceField, Head, LinkButton, Notice, Submit, visibleText } from '../web/parts.tsx';
import { EffectTag } from '../web/references.tsx';
import { type Done, type Site, wantsJson } from '../web/site.tsx';
import { doneWith, jobPages, StepDetails, Steps } from './job.tsx';

export function registerRoutes(site: Site): void {
  const { marketplace } = site;
  const { listing: rules } = marketplace.profile;
  /** What was entered in the form in a browser, until it is accepted. */
  let entered: Partial<ListingForm> = {};
  /** The page of a form that was not submitted. */
  const formAgain = async (
    form: ListingForm,
    problems: readonly FieldProblem[],
    isDown = false,
  ): Promise<Done> => {
    const data = await readRegistration(marketplace, form, problems, isDown);
    return { data, status: 422, title: 'Register', view: () => <Register data={data} /> };
  };
  site.page(
    '/register',
    'Register',
    (c) => {
      const { draft, endpoint = '' } = marketplace.options;
      const category = defaultCategory(rules);
      const initial = { name: '', description: '', category, price: '0.01', endpoint, ...draft };
      const namedValues = { price: c.req.query('price'), endpoint: c.req.query('endpoint') };
      const givenValues = Object.fromEntries(Object.entries(namedValues).filter(([, value]) => value));
      return readRegistration(marketplace, { ...initial, ...(wantsJson(c) ? {} : entered), ...givenValues });
    },
    Register,
  );
  site.post('/register', async (input, c): Promise<Done> => {
    const form: ListingForm = {
      name: inputText(input, 'name'),
      description: inputText(input, 'description'),
      category: inputText(input, 'category'),
      price: inputText(input, 'price').trim(),
      endpoint: inputText(input, 'endpoint').trim(),
    };
    const { listings } = await marketplace.store.read();
    const usedEndpoints = listings.map(({ endpoint }) => endpoint);
    const problems = formProblems(form, rules, usedEndpoints);
    const isPage = !c.req.path.endsWith('.json');
    if (isPage) entered = form;
    if (isPage && problems.some(({ advice }) => !advice)) return formAgain(form, problems);
    try {
      await marketplace.requireRunning(form.endpoint);
    } catch (error) {
      if (isPage && error instanceof CommandError) return formAgain(form, problems, true);
      throw error;
    }
    const job = marketplace.jobs.start('register', `Submitting ${form.name}`, async (onStep) => {
      const submission = await marketplace.register(form, onStep);
      if (submission.accepted && entered === form) entered = {};
      return submission;
    });
    return doneWith(job, c, 'NOT_SUBMITTED', ({ result, steps }) => ({ ...(result as object), steps }));
  });
  jobPages(site, 'register', (job) => <SubmissionView job={job} />);
}

function Register({ data }: { data: Registration }) {
  const { problems, isDown } = data;
  return (
    <>
      <Head title="Register">
        The form of the marketplace. Submitting it discovers your tools and runs the submission test, as the
        platform does.
      </Head>
      {(isDown || problems.some(({ advice }) => !advice)) && (
        <Notice
          mark="fail"
          title="The form was not submitted"
          lines={[
            isDown
              ? 'Your server does not run. Submit again when it does: what you entered is kept.'
              : 'Correct the fields that are marked.',
          ]}
        />
      )}
      <div class="split">
        <Form data={data} />
        <Terms data={data} />
      </div>
    </>
  );
}

/** The fields, each with its problems. */
function Form({ data: { form, problems, rules } }: { data: Registration }) {
  const { price, stake: terms, categories } = rules;
  const props = (field: keyof ListingForm) => {
    const ownProblems = problems.filter((problem) => problem.field === field);
    const invalid = ownProblems.some(({ advice }) => !advice);
    return {
      name: field,
      id: field,
      ...(invalid && { 'aria-invalid': 'true' as const }),
      ...(ownProblems.length > 0 && { 'aria-describedby': `${field}-problem` }),
    };
  };
  return (
    <form method="post" action="/register" class="stack panel" novalidate>
      <label>
        <span>Name</span>
        <input {...props('name')} value={form.name} maxlength={rules.nameLength.maximum} />
        <FieldProblems field="name" problems={problems} />
      </label>
      <label>
        <span>Description</span>
        {rules.descriptionSections.length > 0 && (
          <span class="hint">One line of summary, then {rules.descriptionSections.join(' ')}</span>
        )}
        <textarea {...props('description')} rows={9} class="prose">{`\n${form.description}`}</textarea>
        <FieldProblems field="description" problems={problems} />
      </label>
      <label for="category">
        <span>Category</span>
        {categories ? (
          <select {...props('category')}>
            <option value="">Choose one</option>
            {categories.map((category) => (
              <ChoiceField value={category} now={form.category} />
            ))}
          </select>
        ) : (
          <input {...props('category')} value={form.category} />
        )}
        {!categories && (
          <span class="hint">The contract does not show the values: any text is this emulator's choice.</span>
        )}
        <FieldProblems field="category" problems={problems} />
      </label>
      <label>
        <span>Price of a call in {price.currency}</span>
        <input
          {...props('price')}
          value={form.price}
          inputmode="decimal"
          data-stake-minimum={terms.minimum}
          data-stake-unit={terms.perPriceUnit}
        />
        <span class="hint">0 is allowed{price.maximum === null ? '' : `, at most ${price.maximum}`}</span>
        <FieldProblems field="price" problems={problems} />
      </label>
      <label>
        <span>Endpoint</span>
        <input {...props('endpoint')} value={maskUrl(form.endpoint)} inputmode="url" spellcheck={false} />
        <span class="hint">
          Ends with /mcp. https, or http on this machine. Tokens name it as their audience, byte for byte.
        </span>
        <FieldProblems field="endpoint" problems={problems} />
      </label>
      <Submit label="Submit" />
    </form>
  );
}

/** The stake, and what submitting the form does. */
function Terms({ data: { stake, rules, calls } }: { data: Registration }) {
  const { stake: terms } = rules;
  return (
    <aside class="panel" aria-labelledby="stake-title">
      <h2 id="stake-title">Stake</h2>
      <p class="stake">
        <span id="stake">{stake}</span> {terms.currency}
      </p>
      <p class="soft">
        {terms.perPriceUnit > 0
          ? `The larger of ${terms.minimum} and ${terms.perPriceUnit} × price.`
          : `${terms.minimum} at least.`}{' '}
        Refundable, {terms.withdrawalDelayDays} days after you withdraw it.
      </p>
      <p class="soft small">Nothing is staked here: this is a rehearsal on your machine.</p>
      <h2>What happens on submit</h2>
      <ol class="soft">
        <li>The fields are validated.</li>
        <li>The tools are discovered, without a token.</li>
        <li>Their definitions are held against the rules.</li>
        <li>An unpaid call must be refused when the price is above 0.</li>
        <li>
          The tools that only read are called with sample arguments, and their texts must match their
          outputSchemas. The marketplace calls all tools.
          {calls.length > 0 && (
            <ul>
              {calls.map(({ isCalled, effect, says }) => (
                <li class={isCalled ? 'small' : 'small marked advice'}>
                  <EffectTag effect={effect} /> {visibleText(says)}
                </li>
              ))}
            </ul>
          )}
        </li>
      </ol>
      <p class="soft small">
        The contract does not name the states between submission and acceptance: their names here are this
        emulator's choice.
      </p>
    </aside>
  );
}

function FieldProblems({ field, problems }: { field: keyof ListingForm; problems: readonly FieldProblem[] }) {
  const ownProblems = problems.filter((problem) => problem.field === field);
  if (ownProblems.length === 0) return null;
  return (
    <span
      id={`${field}-problem`}
      class={`small marked ${ownProblems.some(({ advice }) => !advice) ? 'fail' : 'advice'}`}
    >
      {ownProblems.map(({ message }) => message).join(' ')}
    </span>
  );
}

/** The progress and the result of a submission: after its end, the step that failed comes first. */
function SubmissionView({ job }: { job: Job }) {
  const submission = job.result as Submission | null;
  const failed =
    submission?.accepted === false ? job.steps.find(({ status }) => status === 'fail') : undefined;
  return (
    <>
      {submission?.accepted === true && (
        <Notice
          mark={submission.withheld.length > 0 ? 'advice' : 'pass'}
          title={`${acceptance(submission)}: ${submission.listing.name} is listed`}
          lines={[
            ...submission.withheld.map((tool) => `${tool} was not called.`),
            'Buyers see its tools as they are now. After a change, use Refresh Skills in My tools.',
          ]}
        />
      )}
      {failed && (
        <div class="notice fail" role="alert">
          <strong>Rejected: {failed.label}</strong>
          <StepDetails step={failed} />
        </div>
      )}
      {job.state === 'done' && (
        <p class="row">
          {submission?.accepted ? (
            <LinkButton to="/listings" primary label="My tools" />
          ) : (
            <LinkButton to="/register" primary label="Back to the form" />
          )}
        </p>
      )}
      {failed && job.steps.length > 1 && <h2>The other steps</h2>}
      <Steps steps={job.steps.filter((step) => step !== failed)} />
    </>
  );
}
