import { isDeepStrictEqual } from 'node:util';
import type { Node, ObjectExpression } from '@babel/types';
import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import { innerExpression, LiteralReader, memberName, writtenProperties } from './read-literal.ts';
import type { Placed, Tree } from './tree.ts';

/** How new values are written. @param column where it starts @param indent leading spaces of that line */
export interface Print {
  readonly value: (value: Json, layout: { readonly column: number; readonly indent: number }) => string;
  /** A member of an object literal, without a trailing comma. */
  readonly member: (name: string, value: Json, indent: number) => string;
}

/** Changes of literals in a source text, which touch only what differs. */
export class LiteralEdit {
  readonly #source: string;
  readonly #tree: Tree;
  readonly #reader: LiteralReader;
  readonly #print: Print;
  readonly #parts: { readonly start: number; readonly end: number; readonly text: string }[] = [];

  constructor(source: string, tree: Tree, reader: LiteralReader, print: Print) {
    this.#source = source;
    this.#tree = tree;
    this.#reader = reader;
    this.#print = print;
  }

  /** The source after all changes. */
  text(): string {
    const newline = this.#source.includes('\r\n') ? '\r\n' : '\n';
    return this.#parts
      .toSorted((a, b) => b.start - a.start)
      .reduce(
        (text, { start, end, text: part }) =>
          text.slice(0, start) + part.replaceAll('\n', newline) + text.slice(end),
        this.#source,
      );
  }

  /** Gives a literal another value. @returns false if a part that differs is not a literal, or has a comment inside */
  change(target: Node, after: Json): boolean {
    const node = innerExpression(target);
    const before = this.#reader.value(node);
    if (isDeepStrictEqual(before, after)) return true;
    if (node.type !== 'ObjectExpression' || !isObject(before) || !isObject(after))
      return this.#replace(node, after);
    const isPlain = node.properties.every(
      (member) =>
        member.type === 'SpreadElement' ||
        (member.type === 'ObjectProperty' && memberName(member) !== undefined),
    );
    if (!isPlain) return false;
    const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
    if (removed.length > 0 && this.#replace(node, after)) return true;
    return removed.every((name) => this.#remove(node, name)) && this.#changeMembers(node, before, after);
  }

  /** Removes a member with the comma before it. */
  #remove({ properties }: ObjectExpression, name: string): boolean {
    const at = properties.findIndex(
      (property) => property.type === 'ObjectProperty' && memberName(property) === name,
    );
    const [before, property] = [properties[at - 1], properties[at]] as (Placed | undefined)[];
    if (!before || !property || this.#commentsIn(before.end, property.end).length > 0) return false;
    this.#parts.push({ start: before.end, end: property.end, text: '' });
    return true;
  }

  #changeMembers(node: ObjectExpression, before: JsonObject, after: JsonObject): boolean {
    const ownProperties = new Map<string, Node>(writtenProperties(node));
    const added = Object.entries(after).filter(([name]) => !Object.hasOwn(before, name));
    const { start, end } = node as Placed;
    if (added.length > 0 && !this.#source.slice(start, end).includes('\n') && this.#replace(node, after))
      return true;
    const keptNames = Object.keys(before).filter((name) => Object.hasOwn(after, name));
    const areChanged = keptNames.every((name) => {
      const member = ownProperties.get(name);
      const value = after[name] as Json;
      if (member) return this.change(member, value);
      return isDeepStrictEqual(before[name], value);
    });
    if (!areChanged) return false;
    return added.length === 0 || this.#insert(node as Placed<ObjectExpression>, added);
  }

  #replace(node: Node, value: Json): boolean {
    const { start, end } = node as Placed;
    const isPlain = new LiteralReader(undefined).value(node) !== undefined;
    if (!isPlain || this.#commentsIn(start, end).length > 0) return false;
    const { column, lead } = this.#lineAt(start);
    const text = this.#print.value(value, { column, indent: lead.length });
    this.#parts.push({ start, end, text: withAuthorIndent(text, lead) });
    return true;
  }

  /** Adds members behind the last one and its comment. */
  #insert(node: Placed<ObjectExpression>, added: readonly (readonly [string, Json])[]): boolean {
    const last = node.properties.at(-1) as Placed | undefined;
    const { lead } = this.#lineAt(last?.start ?? node.start);
    const isBroken = last !== undefined && /\n\s*$/.test(this.#source.slice(node.start + 1, last.start));
    if (!isBroken) {
      if (last === undefined) return false;
      const members = added.map(([name, value]) => this.#print.member(name, value, lead.length));
      this.#parts.push({
        start: last.end,
        end: last.end,
        text: withAuthorIndent(`, ${members.join(', ')}`, lead),
      });
      return true;
    }
    const comments = this.#commentsIn(last.end, node.end);
    const rest = comments.reduce(
      (text, { start, end }) =>
        text.slice(0, start - last.end) + ' '.repeat(end - start) + text.slice(end - last.end),
      this.#source.slice(last.end, node.end - 1),
    );
    const comma = rest.indexOf(',');
    const at = Math.max(last.end + comma + 1, ...comments.map(({ end }) => end));
    const text = added
      .map(([name, value]) => `\n${lead}${this.#print.member(name, value, lead.length)},`)
      .join('');
    this.#parts.push({ start: at, end: at, text: withAuthorIndent(text, lead) });
    // Behind the other part, so that it is written first where both have one place.
    if (comma < 0) this.#parts.push({ start: last.end, end: last.end, text: ',' });
    return true;
  }

  #commentsIn(start: number, end: number): readonly { readonly start: number; readonly end: number }[] {
    return (this.#tree.comments ?? []).flatMap((comment) => {
      const [from, to] = [comment.start ?? 0, comment.end ?? 0];
      if (from >= start && to <= end) return [{ start: from, end: to }];
      return [];
    });
  }

  /** The column of a place, and the white space that its line begins with. */
  #lineAt(place: number): { readonly column: number; readonly lead: string } {
    const begin = this.#source.lastIndexOf('\n', place - 1) + 1;
    const [lead = ''] = /^[ \t]*/.exec(this.#source.slice(begin, place)) ?? [];
    return { column: place - begin, lead };
  }
}

/** Printed lines behind the white space of the author. */
function withAuthorIndent(text: string, lead: string): string {
  if (lead.includes('\t')) return text.replaceAll(`\n${' '.repeat(lead.length)}`, `\n${lead}`);
  return text;
}
