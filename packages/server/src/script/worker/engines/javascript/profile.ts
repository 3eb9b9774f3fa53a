import { Session } from 'node:inspector/promises'
import type { Clock } from '../../../../kernel/clock.ts'

/** Samples this thread for so many milliseconds; the text of a .cpuprofile. */
export async function profileThread(
  clock: Pick<Clock, 'sleep'>,
  durationMs: number,
): Promise<string> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await clock.sleep(durationMs)
    const { profile } = await session.post('Profiler.stop')
    return JSON.stringify(profile)
  } finally {
    session.disconnect()
  }
}
