import { type ExitCode, exitCodes, type Output, singleLine } from 'market-mcp-contract/command';
import { driftLines } from 'market-mcp-contract/report';
import { recordedDrift } from '../../check/previous-listing.ts';
import { stateLines } from '../../dev/state.ts';
import type { ListingForm, RegistrationStep, Submission } from '../../marketplace/core/marketplace-model.ts';
import { acceptance, callsStep } from '../../marketplace/core/registration.ts';
import type { Registration } from '../../marketplace/core/registration-form.ts';
import { requestJson } from '../../marketplace/running-marketplace.ts';
import type { RegisterFlags } from '../command-flags.ts';
import { withMarketplace } from '../marketplace/connect.ts';
import { verdictMark } from '../marketplace/marketplace-lines.ts';

/**
 * `market-mcp register`: fills in the registration form of the local marketplace and submits it.
 *
 * @returns 1 if it is rejected.
 */
export async function register(output: Output, flags: RegisterFlags): Promise<ExitCode> {
  return withMarketplace(flags, output, async (market, place, state) => {
    const query = new URLSearchParams({ price: flags.price ?? '', endpoint: place.endpoint ?? '' });
    const data = await requestJson<Registration>(market, `/register.json?${query}`);
    const { form, stake, rules, calls } = data;
    output.comment(calls.map(({ says }) => says));
    const filled = filledForm(form, flags, place.endpoint);
    const submission = await requestJson<Submission & { readonly steps: readonly RegistrationStep[] }>(
      market,
      '/register.json',
      filled,
    );
    printSteps(submission.steps, output);
    output.line();
    output.line(outcomeLine(submission, filled.name, `${stake} ${rules.stake.currency}`, output));
    if (state?.kind === 'old-build') output.note(`${state.message} ${stateLines(state).join(' ')}`);
    const { project } = place;
    const drift =
      submission.accepted && project ? recordedDrift(project.directory, submission.listing.tools) : null;
    if (drift) for (const line of driftLines(drift, output.paint)) output.line(line);
    output.result({ ...submission, drift: drift ?? undefined });
    if (submission.accepted) return exitCodes.ok;
    return exitCodes.checkFailed;
  });
}

function filledForm(form: ListingForm, flags: RegisterFlags, endpoint: string | undefined): ListingForm {
  return {
    name: flags.name ?? form.name,
    description: flags.description ?? form.description,
    category: flags.category ?? form.category,
    price: flags.price ?? form.price,
    endpoint: endpoint ?? form.endpoint,
  };
}

function outcomeLine(submission: Submission, name: string, stake: string, output: Output): string {
  if (!submission.accepted)
    return `${output.style('red', 'rejected')}  ${singleLine(submission.reasons[0] ?? '')}`;
  const color = submission.withheld.length > 0 ? 'yellow' : 'green';
  const outcome = output.style(color, acceptance(submission).toLowerCase());
  return `${outcome}  ${singleLine(name)} is listed; the stake would be ${stake}`;
}

function printSteps(steps: readonly RegistrationStep[], output: Output): void {
  for (const { label, status, details } of steps) {
    if (label === callsStep) continue;
    output.line(`${verdictMark(status, output)} ${label}`);
    for (const detail of details) output.line(output.style('dim', `    ${singleLine(detail)}`));
  }
}
