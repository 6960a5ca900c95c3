import type { JsonObject, Level } from './model.ts';

/**
 * What the contract leaves open and one marketplace decides. A profile is data: `platforms/` holds the two that
 * ship, an author may write a third as JSON or YAML, and a generated project carries its own in `src/platform.ts`.
 */
export interface PlatformProfile {
  readonly name: string;
  /** How people call the marketplace. */
  readonly title: string;
  /** How the platform proves that a call is paid for (C§5.7 leaves all of it open). */
  readonly token: {
    /** Request header that carries the token, lower case. */
    readonly header: string;
    /** Scheme in front of the token, compared without case. */
    readonly scheme: string;
    /** JWS algorithms with a public key (`RS256`); tests sign with the first. */
    readonly algorithms: readonly string[];
    /** The `iss` claim; null where the author must find it out and set PLATFORM_ISSUER. */
    readonly issuer: string | null;
    readonly jwksUrl: string | null;
    /**
     * A public key (PEM, SPKI) that a server may trust while the key set cannot be fetched, and where it comes from;
     * null where the platform publishes none.
     */
    readonly fallbackKey: { readonly pem: string; readonly source: string } | null;
    /** What `aud` must equal. */
    readonly audience: 'endpoint-url';
    readonly lifetimeSeconds: number;
    readonly clockToleranceSeconds: number;
    /** Claims that the platform adds; test tokens carry them too. */
    readonly claims: JsonObject;
    /** HTTP status of the refusal; null where any 4xx will do. */
    readonly refusalStatus: number | null;
  };
  /** Absent in profiles of before 0.2.0. */
  readonly protocol?: {
    /**
     * Whether servers also speak the stateless revision 2026-07-28; `on` where it is absent. C§3.1 read literally answers each of its requests
     * with 400, because none names a session: `off` does that.
     */
    readonly modern: 'on' | 'off';
  };
  /** The registration form (C§2.5). */
  readonly listing: {
    readonly url: string | null;
    /** Null where the allowed values are not known. */
    readonly categories: readonly string[] | null;
    readonly nameLength: { readonly minimum: number; readonly maximum: number };
    readonly descriptionLength: { readonly minimum: number; readonly maximum: number };
    /** Headings of the description in order; empty where free. */
    readonly descriptionSections: readonly string[];
    /** Texts that may not stand in the description. */
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
    /** For the whole submission sequence; null where unlimited. */
    readonly submissionMs: number | null;
    readonly resultCharacters: number;
    readonly toolNamePattern: string;
    readonly descriptionCharacters: number;
  };
  /**
   * JSON Schema (draft-07) of a tool's `_meta`; null where nothing is known about it. A level that does not say
   * `additionalProperties: true` lists all keys the platform knows. What `allOf` at its root adds is about sense, not
   * shape: a breach is advice. Two formats bind a value to the tools: `tool-name` is the name of a listed tool,
   * `context-input` demands an input property that can take injected data: an object, an array or a string.
   */
  readonly toolMeta: JsonObject | null;
  /**
   * The submission test: the values it sends where a parameter has no `default`, `examples` or `enum`, and the claims
   * of its token.
   */
  readonly smoke: {
    readonly string: string;
    readonly number: number;
    readonly boolean: boolean;
    readonly claims: JsonObject;
  };
  readonly rules: {
    /** Weight of rules that come from platform facts: their own level, advice only, or none. */
    readonly facts: 'own' | 'should' | 'off';
    /** Weight of single rules, by id. */
    readonly overrides: { readonly [rule: string]: Level | 'off' };
  };
  /** Public source of each value, keyed by dotted path (`token.issuer`). */
  readonly sources: { readonly [path: string]: string };
}
