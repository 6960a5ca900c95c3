import type { JsonObject } from '../json/value.ts';
import type { Level } from '../model.ts';

/**
 * The choices that the contract leaves to a marketplace. A profile is data: `platforms/` contains the built-in
 * ones, an author may write another as JSON or YAML, and a generated project has its own in `src/platform.ts`.
 */
export interface PlatformProfile {
  readonly name: string;
  /** The display name of the marketplace. */
  readonly title: string;
  /** How the platform proves that a call is paid (C§5.7 leaves this open). */
  readonly token: {
    /** Request header that carries the token, lower case. */
    readonly header: string;
    /** Scheme before the token, compared case-insensitively. */
    readonly scheme: string;
    /** JWS algorithms with a public key (`RS256`); tests sign with the first. */
    readonly algorithms: readonly string[];
    /** The `iss` claim; null if the author must find it out and set PLATFORM_ISSUER. */
    readonly issuer: string | null;
    readonly jwksUrl: string | null;
    /**
     * A public key (PEM, SPKI) that a server may trust while the key set cannot be fetched, and its source;
     * null if the platform publishes none.
     */
    readonly fallbackKey: { readonly pem: string; readonly source: string } | null;
    /** What `aud` must equal. */
    readonly audience: 'endpoint-url';
    readonly lifetimeSeconds: number;
    readonly clockToleranceSeconds: number;
    /** Claims that the platform adds; test tokens carry them too. */
    readonly claims: JsonObject;
    /** HTTP status of the refusal; null if any 4xx is allowed. */
    readonly refusalStatus: number | null;
  };
  /** Absent: the default of each member. */
  readonly protocol?: {
    /**
     * Whether servers also speak the stateless revision 2026-07-28; the default is `on`. By the letter of C§3.1, each of its
     * requests gets 400, because none names a session: `off` does that.
     */
    readonly modern: 'on' | 'off';
  };
  /** The registration form (C§2.5). */
  readonly listing: {
    readonly url: string | null;
    /** Null if the allowed values are not known. */
    readonly categories: readonly string[] | null;
    readonly nameLength: { readonly minimum: number; readonly maximum: number };
    readonly descriptionLength: { readonly minimum: number; readonly maximum: number };
    /** Headings of the description in order; empty if any are allowed. */
    readonly descriptionSections: readonly string[];
    /** Least number of quoted questions in the description. Absent: none is needed. */
    readonly descriptionQuestions?: number;
    /** Texts that the description must not contain. */
    readonly descriptionForbids: readonly string[];
    readonly price: { readonly pattern: string; readonly maximum: number | null; readonly currency: string };
    /** stake = max(minimum, perPriceUnit × price). */
    readonly stake: {
      readonly minimum: number;
      readonly perPriceUnit: number;
      readonly currency: string;
      readonly withdrawalDelayDays: number;
    };
  };
  readonly limits: {
    readonly initializeMs: number;
    readonly callMs: number;
    /** For the whole submission sequence; null if unlimited. */
    readonly submissionMs: number | null;
    readonly resultCharacters: number;
    readonly toolNamePattern: string;
    readonly descriptionCharacters: number;
  };
  /**
   * JSON Schema (draft-07) of a tool's `_meta`; null if nothing is known about it. A level without
   * `additionalProperties: true` lists all keys that the platform knows. `allOf` at the root checks consistency, not
   * structure: a violation is advice. Two formats bind a value to the tools: `tool-name` is the name of a listed tool,
   * `context-input` requires an input property that can receive injected data: an object, an array or a string.
   */
  readonly toolMeta: JsonObject | null;
  /**
   * The submission test: the values it sends if a parameter has no `default`, `examples` or `enum`, and the claims
   * of its token.
   */
  readonly smoke: {
    readonly string: string;
    readonly number: number;
    readonly boolean: boolean;
    readonly claims: JsonObject;
  };
  readonly rules: {
    /** Level of rules that come from platform facts: their own, advice only, or none. */
    readonly facts: 'own' | 'should' | 'off';
    /** Levels of single rules by id, and of groups by their name; the level of the rule has priority. */
    readonly overrides: { readonly [rule: string]: Level | 'off' };
  };
  /** Public source of each value, keyed by dotted path (`token.issuer`). */
  readonly sources: { readonly [path: string]: string };
}
