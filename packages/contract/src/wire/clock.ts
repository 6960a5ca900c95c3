/** Milliseconds of a monotonic clock. (`performance` takes milliseconds to load.) */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
