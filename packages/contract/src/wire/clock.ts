/** Milliseconds of a monotonic clock. (`performance` takes milliseconds to load.) */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Milliseconds since a moment of `now`, for a report. */
export function msSince(moment: number): number {
  return tenths(nowMs() - moment);
}

/** A duration with one decimal, for a report. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
