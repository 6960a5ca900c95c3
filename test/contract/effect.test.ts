import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  completeHints,
  type Effect,
  effectInName,
  onlyReads,
  verbIn,
  writingEffect,
} from '../../packages/contract/src/definition/effect.ts';
import { permissionOf } from '../../packages/contract/src/wire/safety.ts';
import { writingTools } from '../../src/import/mcp-tools.ts';

function namesIn(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Names of tools of public MCP servers and APIs. */
const reading = namesIn(`
  get_block get_order_book get_orderbook_depth get_recent_trades get_swap_fee get_transfer_history getOrderBook
  get_latest_post get_open_orders get_deposit_address get_last_update get_invite list_open_orders list_trades
  list_pull_requests list_commits search_orders search_code search_posts_by_author read_file read_multiple_files
  describe_table query_trades fetch_stake_rewards scan_cvd_divergences analyze_smart_money_flow find_funding_arbitrage
  calculate_squeeze_probability show_start_page check_swap_status compare_close_prices estimate_swap view_archive_page
  github_get_issue slack_list_channels notion_search API-get-user brave_web_search git_show_and_describe
  get_price_and_volume lookup_block look_up_book count_votes`);

const writing: readonly (readonly [string, Effect])[] = Object.entries({
  adds: `
    get_or_create_user find_or_insert_row fetch_then_post issues_create list_create write_file slack_post_message
    slack_reply_to_thread notion_create_page git_commit todo_list_add`,
  changes: `
    list_and_delete findAndModify post_delete search_index_delete create_or_update_file merge_pull_request
    mark_as_read move_file block_user delete_entities`,
  acts: `
    search_and_book_flights order_cancel query_execute check_out_cart push_files send_read_receipt execute_sql
    place_order swapTokens refund_charge kill_process`,
}).flatMap(([effect, names]) => namesIn(names).map((name) => [name, effect as Effect] as const));

const unknown = [
  'echo',
  'quote',
  'sequentialthinking',
  'git_status',
  'weather',
  'browser_click',
  'price_list',
  '',
];

describe('effectInName', () => {
  it.each(reading)('%s reads', (name) => expect(effectInName(name)).toBe('reads'));
  it.each(writing)('%s: %s', (name, effect) => expect(effectInName(name)).toBe(effect));
  it.each(unknown)('"%s" is not known', (name) => expect(effectInName(name)).toBeUndefined());

  it.each(['binance', 'blocknative', 'normalized-data-provider'])('the tools of %s read', (server) => {
    const file = join(import.meta.dirname, '../fixtures/real-tools', `${server}.json`);
    const { tools } = JSON.parse(readFileSync(file, 'utf8'));
    expect(tools.length).toBeGreaterThan(0);
    for (const { name } of tools) expect([name, effectInName(name)]).toEqual([name, 'reads']);
  });

  it.each([
    ['last_trade', true],
    ['trade_history', false],
    ['github_create_issue', false],
  ])('the verb in %s may be a noun: %s', (name, mayBeNoun) =>
    expect(verbIn(name)).toMatchObject({ mayBeNoun }),
  );
});

describe('what follows from a name', () => {
  it('an import, its annotations and a check at a URL judge the same', () => {
    for (const name of [...reading, ...writing.map(([one]) => one), ...unknown]) {
      const reads = effectInName(name) === 'reads';
      expect([name, writingTools([{ name }]).has(name)]).toEqual([name, !reads]);
      expect([name, permissionOf({ name }, new Set(['*'])).isCalled]).toEqual([name, reads]);
      if (effectInName(name) !== undefined)
        expect([name, completeHints(name, undefined).readOnlyHint]).toEqual([name, reads]);
    }
  });

  it.each([
    [{ name: 'get_x', annotations: { readOnlyHint: false } }, false],
    [{ name: 'get_x', annotations: { destructiveHint: true } }, false],
    [{ name: 'get_x', annotations: { openWorldHint: true } }, true],
    [{ name: 'create_x', annotations: { readOnlyHint: true } }, true],
    [{ name: 'x', annotations: { readOnlyHint: true, destructiveHint: true } }, false],
    [{}, false],
  ])('%j only reads: %s', (tool, reads) => expect(onlyReads(tool)).toBe(reads));
});

describe('what a tool does beyond reading', () => {
  const hints = (readOnlyHint: boolean, destructiveHint: boolean, idempotentHint: boolean) => ({
    readOnlyHint,
    destructiveHint,
    idempotentHint,
    openWorldHint: true,
  });
  it.each([
    ['thing', hints(true, false, true), undefined],
    ['thing', hints(false, false, false), 'adds'],
    ['thing', hints(false, true, true), 'changes'],
    ['thing', hints(false, true, false), 'acts'],
    // Absent hints of a tool that writes: destructive, not idempotent (MCP, "Tool annotations").
    ['thing', { readOnlyHint: false }, 'acts'],
    ['get_price', undefined, undefined],
    ['create_order', undefined, 'adds'],
    ['delete_order', undefined, 'changes'],
    ['send_mail', undefined, 'acts'],
    ['delete_order', { readOnlyHint: true }, undefined],
    ['parcels', undefined, 'unknown'],
    ['parcels', { title: 'Parcels' }, 'unknown'],
  ])('%s with %o', (name, annotations, effect) => {
    expect(writingEffect({ name, ...(annotations && { annotations }) })).toBe(effect);
  });
});
