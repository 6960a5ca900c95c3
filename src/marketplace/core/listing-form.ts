import { hasUrlSecret, maskUrl, spellingHint } from 'market-mcp-contract/command';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { isLoopback } from 'market-mcp-contract/wire';
import type { FieldProblem, ListingForm } from './marketplace-model.ts';

type Rules = PlatformProfile['listing'];

/** The stake for a price in the profile's currency: max(minimum, perPriceUnit × price) (C§8). */
export function stakeOf(price: string, { stake }: Rules): number {
  const dollars = Number(price);
  return Math.max(stake.minimum, Number.isFinite(dollars) ? stake.perPriceUnit * dollars : 0);
}

/** The category of a form until one is chosen: a rehearsal needs any, and the choice has no effect. */
export function defaultCategory({ categories }: Rules): string {
  if (categories === null || categories.includes('Other')) return 'Other';
  return categories[0] ?? '';
}

/**
 * The problems of a registration form: those that the marketplace rejects, and advice.
 *
 * @param usedEndpoints endpoints that are listed already.
 */
export function formProblems(
  form: ListingForm,
  rules: Rules,
  usedEndpoints: readonly string[] = [],
): readonly FieldProblem[] {
  const problems = [
    ...lengthProblems('name', form.name, rules.nameLength),
    ...lengthProblems('description', form.description, rules.descriptionLength),
    ...descriptionAdvice(form.description, rules),
    ...categoryProblems(form.category, rules),
    ...priceProblems(form.price, rules),
    ...endpointProblems(form.endpoint),
  ];
  if (usedEndpoints.includes(form.endpoint)) problems.push(fieldProblem('endpoint', usedEndpoint));
  return problems;
}

const usedEndpoint =
  'This endpoint is listed already. Use Refresh Skills in My tools, or market-mcp marketplace refresh.';

function lengthProblems(
  field: 'name' | 'description',
  text: string,
  { minimum, maximum }: Rules['nameLength'],
): readonly FieldProblem[] {
  const length = [...text.trim()].length;
  if (length >= minimum && length <= maximum) return [];
  return [fieldProblem(field, `Expected ${minimum} to ${maximum} characters, got ${length}.`)];
}

function descriptionAdvice(
  text: string,
  { descriptionSections, descriptionQuestions = 0, descriptionForbids }: Rules,
): readonly FieldProblem[] {
  const at = descriptionSections.map((section) => text.indexOf(section));
  const absent = descriptionSections.filter((_, index) => at[index] === -1);
  const inOrder = at.every((place, index) => index === 0 || place > (at[index - 1] ?? -1));
  const questions = text.match(/["“][^"”\n]*\?["”]/g)?.length ?? 0;
  const hasSummary = descriptionSections.length === 0 || !at.includes(text.search(/\S/));
  const forbidden = descriptionForbids.filter((part) => text.includes(part));
  return [
    absent.length > 0 && `Add the sections ${absent.join(', ')}`,
    absent.length === 0 && !inOrder && `Put the sections in this order: ${descriptionSections.join(', ')}`,
    !hasSummary && 'Begin with one line of summary.',
    questions < descriptionQuestions &&
      `Quote at least ${descriptionQuestions} questions that buyers may ask, such as "What is BTC?"; got ${questions}.`,
    ...forbidden.map((part) => `Leave out ${JSON.stringify(part)}.`),
  ]
    .filter((text) => text !== false)
    .map((text) => advise('description', text));
}

function categoryProblems(category: string, { categories }: Rules): readonly FieldProblem[] {
  if (category.trim() === '') {
    return [
      fieldProblem(
        'category',
        categories === null ? 'Enter a category.' : `Choose a category: ${categories.join(', ')}.`,
      ),
    ];
  }
  if (categories === null || categories.includes(category)) return [];
  const hint = spellingHint(category, categories, `Choose one of: ${categories.join(', ')}.`);
  return [fieldProblem('category', `${JSON.stringify(category)} is not a category. ${hint}`)];
}

function priceProblems(
  text: string,
  { price: { pattern, maximum, currency } }: Rules,
): readonly FieldProblem[] {
  if (!new RegExp(pattern).test(text)) {
    return [
      fieldProblem('price', `Expected an amount in ${currency} such as 0.01, got ${JSON.stringify(text)}.`),
    ];
  }
  if (maximum === null || Number(text) <= maximum) return [];
  return [fieldProblem('price', `Expected at most ${maximum} ${currency}, got ${text}.`)];
}

/** Why a URL with a secret cannot be listed. */
export const publicUrl = 'contains a key, but a listing shows its URLs to everyone';

/** The problems of the address of a server. */
export function endpointProblems(text: string): readonly FieldProblem[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    const message = `Expected a URL such as https://tools.example/mcp, got ${JSON.stringify(maskUrl(text))}.`;
    return [fieldProblem('endpoint', message)];
  }
  const { protocol, hostname, pathname, username, password } = url;
  const problems: FieldProblem[] = [];
  const add = (message: string) => problems.push(fieldProblem('endpoint', message));
  if (protocol !== 'https:' && !isLoopback(hostname))
    add('Expected https: the marketplace calls no plain http (C§1.4). http is for this machine only.');
  if (!pathname.endsWith('/mcp') || !text.endsWith('/mcp')) add('Expected a URL that ends with /mcp (C§8).');
  if (username + password !== '') add('Remove the user and the password: callers do not have them.');
  else if (hasUrlSecret(text)) add(`The URL ${publicUrl}.`);
  if (/sse/i.test(pathname))
    problems.push(
      advise('endpoint', 'The path contains "sse": the public marketplace then picks its old SSE client.'),
    );
  return problems;
}

function fieldProblem(field: keyof ListingForm, message: string): FieldProblem {
  return { field, message, advice: false };
}

function advise(field: keyof ListingForm, message: string): FieldProblem {
  return { field, message, advice: true };
}
