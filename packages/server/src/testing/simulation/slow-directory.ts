import type { Directory } from '../../kernel/cluster/directory.ts'
import type { Process, World } from './world.ts'

/**
 * What a database does to a statement: `stalls` does it late or never, `fails` refuses it,
 * `mute` does it, and its answer is lost.
 */
export type Mood = 'well' | 'stalls' | 'fails' | 'mute'

/** A directory behind a network and a database that may be unwell. */
export type SlowDirectory = {
  of(process: Process, boot: string): Directory
  /** How the database is for one boot, or for all. */
  setMood(mood: Mood, boot?: string): void
  heal(): void
}

/** A statement that takes longer is given up by the node. */
const deadlineMs = 4000

export function createSlowDirectory(world: World, shared: Directory): SlowDirectory {
  const random = world.random('directory')
  const moods = new Map<string, Mood>()
  let moodOfAll: Mood = 'well'
  let stalled: (() => void)[] = []
  const moodOf = (boot: string): Mood => moods.get(boot) ?? moodOfAll

  function wake(): void {
    const waiting = stalled
    stalled = []
    for (const each of waiting) each()
  }

  function ask(process: Process, boot: string, operation: () => Promise<unknown>) {
    return new Promise<unknown>((resolve, reject) => {
      const answer = (task: () => void) => world.after(travelMs(), () => process.enter(task))
      const fail = () => answer(() => reject(new Error('the database is away')))
      const run = () => {
        operation().then(
          (value) => answer(() => resolve(value)),
          (error) => answer(() => reject(error)),
        )
      }
      function arrive(): void {
        const mood = moodOf(boot)
        if (mood === 'fails') fail()
        else if (mood === 'mute') operation().then(fail, fail)
        else if (mood === 'well') run()
        else wait()
      }
      /** A statement whose node has given it up may be done all the same, when nobody waits. */
      function wait(): void {
        let isGivenUp = false
        const isDoneAllTheSame = random.chance(0.5)
        world.after(deadlineMs, () => {
          isGivenUp = true
          fail()
        })
        const waiting = (): void => {
          if (moodOf(boot) === 'stalls') stalled.push(waiting)
          else if (!isGivenUp) run()
          else if (isDoneAllTheSame) operation().catch(() => {})
        }
        stalled.push(waiting)
      }
      world.after(travelMs(), arrive)
    })
  }

  const travelMs = () => 0.3 + random.fraction() * 2

  return {
    of(process, boot) {
      const entries = Object.entries(shared).map(([name, operation]) => [
        name,
        (...given: unknown[]) =>
          ask(process, boot, () => Reflect.apply(operation, undefined, given)),
      ])
      return Object.fromEntries(entries)
    },
    setMood(mood, boot) {
      if (boot === undefined) moodOfAll = mood
      else moods.set(boot, mood)
      if (mood !== 'stalls') wake()
    },
    heal() {
      moods.clear()
      moodOfAll = 'well'
      wake()
    },
  }
}
