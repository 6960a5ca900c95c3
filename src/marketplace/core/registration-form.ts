import { stakeOf } from './listing-form.ts';
import type { Marketplace } from './marketplace.ts';
import type { FieldProblem, ListingForm } from './marketplace-model.ts';
import { plannedCalls } from './registration.ts';

/** A registration form with what its author sees beside it. */
export type Registration = Awaited<ReturnType<typeof readRegistration>>;

/**
 * Reads what the page and `market-mcp register` show for a form: the stake, the rules of the platform, and the planned calls.
 *
 * @param isDown whether nothing was submitted because the author's server does not run
 */
export async function readRegistration(
  marketplace: Marketplace,
  form: ListingForm,
  problems: readonly FieldProblem[] = [],
  isDown = false,
) {
  const { listing: rules, smoke } = marketplace.profile;
  const readTools = async () => {
    await marketplace.requireRunning(form.endpoint);
    return marketplace.caller.tools(form.endpoint);
  };
  const tools = form.endpoint === '' ? [] : await readTools().catch(() => []);
  const calls = plannedCalls(tools, smoke);
  return { form, problems, isDown, stake: stakeOf(form.price, rules), rules, calls };
}
