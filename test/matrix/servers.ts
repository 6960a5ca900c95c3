import type { Server } from 'node:http';
import { instead, methodOf, type Variant, where } from '../broken/variant.ts';
import type { Answer, Request } from '../broken/wire.ts';

/** A server that stops giving answers, or useful ones, at some moment. */
export interface MuteServer extends Variant {
  readonly name: string;
  /** The rules that must fail, and no others may; undefined if nothing can be examined at all. */
  readonly fails: readonly string[] | undefined;
  /** The rules that fail only if their calls were sent before the check gave the tool up. */
  readonly mayFail?: readonly string[];
  /** Whether it answers at the end of the check. */
  readonly lasts: boolean;
  /** Whether its error is to give no answer. */
  readonly isSilent: boolean;
  /** Set if it ends before the first request. */
  readonly isGone?: true;
}

const html: Answer = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><h1>Welcome</h1>',
};
const binary: Answer = {
  status: 200,
  headers: { 'content-type': 'application/octet-stream' },
  body: '\u0000\u0001\ufffd\u0002',
};
const otherJson: Answer = { status: 200, body: { hello: 'world', items: [1, 2, 3] } };
const badGateway: Answer = { status: 502, headers: { 'content-type': 'text/html' }, body: 'Bad Gateway' };

const isCall = (request: Request) => methodOf(request) === 'tools/call';
const isOpening = (request: Request) => request.path === '/health' || methodOf(request) === 'initialize';
const never = new Promise<Answer>(() => {});

function mute(
  name: string,
  concerns: (request: Request) => boolean,
  answer: Answer | Promise<Answer>,
  fails: readonly string[] | undefined,
): MuteServer {
  const about = { name, lasts: fails !== undefined, isSilent: answer === never, fails };
  return { ...about, ...where((request) => concerns(request), answer) };
}

/** Ends, with every connection, after a number of requests or on the request that `ends` selects. */
function dying(name: string, ends: (request: Request, count: number) => boolean): MuteServer {
  let server: Server | undefined;
  let count = 0;
  return {
    name,
    lasts: false,
    isSilent: true,
    fails: ['endpoint.stays-up'],
    attach: (attached) => {
      server = attached;
    },
    ...instead((request) => {
      count += 1;
      if (!ends(request, count)) return undefined;
      server?.close();
      server?.closeAllConnections();
      return never;
    }),
  };
}

function secondInitialize(): (request: Request) => boolean {
  let seen = 0;
  return (request) => methodOf(request) === 'initialize' && ++seen > 1;
}

/** The rules about the contents of a call's answer; all other rules about calls depend on them. */
const rubbishCalls = [
  'gate.valid-token',
  'gate.no-token',
  'outcome.found',
  'outcome.empty',
  'outcome.fail',
  'submission.calls',
  'call.answered',
  'modern.call',
];

const lists = ['discovery.tools-list', 'discovery.resources-list', 'discovery.prompts-list'];

export const muteServers: readonly MuteServer[] = [
  {
    name: 'refuses every connection',
    lasts: false,
    isSilent: true,
    fails: undefined,
    isGone: true,
  },
  mute('accepts and never answers', () => true, never, undefined),
  mute('answers GET /health alone', ({ path }) => path !== '/health', never, [
    'discovery.initialize',
    'discovery.in-time',
  ]),
  mute('answers everything but GET /health', ({ path }) => path === '/health', never, ['health.status']),
  mute('answers GET /health and initialize alone', (request) => !isOpening(request), never, lists),
  {
    ...mute('hangs on tools/call', isCall, never, ['outcome.in-time']),
    mayFail: ['submission.calls'],
  },
  ...[3, 5, 8, 13, 21, 34, 55, 89].map((requests) =>
    dying(`dies after ${requests} requests`, (_, count) => count > requests),
  ),
  dying('dies at the second initialize', secondInitialize()),
  dying('dies at the first call', isCall),
  mute('answers in HTML', () => true, html, ['health.fields', 'discovery.initialize']),
  mute('answers in binary', () => true, binary, ['health.fields', 'discovery.initialize']),
  mute('answers in other JSON', () => true, otherJson, ['health.fields', 'discovery.initialize']),
  mute('is down behind a gateway', () => true, badGateway, [
    'health.status',
    'health.fields',
    'discovery.initialize',
  ]),
  mute('answers calls in HTML', isCall, html, rubbishCalls),
  mute('answers calls in other JSON', isCall, otherJson, rubbishCalls),
  mute('answers in HTML after initialize', (request) => !isOpening(request), html, [
    ...lists,
    'gate.valid-token',
    'gate.no-token',
    'modern.served',
  ]),
];
