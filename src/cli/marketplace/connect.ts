import type { Access } from '../../marketplace/core/access.ts';
import { runningMarketplace } from '../../marketplace/local.ts';
import { type Place, placeOf, untilServerAnswers, withLocal } from '../../marketplace/place.ts';
import type { Output } from '../output.ts';
import { withProgress } from '../progress.ts';
import type { PlaceFlags } from './options.ts';

/**
 * Runs `work` with a marketplace: the one that already runs for this place, or one that is opened for it
 * with the server of the project.
 */
export async function withMarketplace<T>(
  flags: PlaceFlags,
  output: Output,
  work: (market: Access, place: Place) => Promise<T>,
): Promise<T> {
  const place = await placeOf(flags);
  const running = await runningMarketplace(place.directory);
  if (running !== undefined) return work(running, place);
  const options = {
    port: 0,
    stdout: 'ignore',
    once: true,
    say: (text: string) => output.note(text),
  } as const;
  return withLocal(place, options, async (local, _, failed) => {
    await serverAnswers(place, failed, output);
    return work(local, place);
  });
}

/** Waits for the server of a place's project, if it has one. @throws SystemError as `untilServerAnswers`. */
export async function serverAnswers(place: Place, failed: AbortSignal, output: Output): Promise<void> {
  if (place.server === undefined) return;
  await withProgress(output.progress('starting the server'), () => untilServerAnswers(place, failed));
}
