import { randomBytes } from 'node:crypto'
import type { OpenedDatabase } from '../../database/migrations/schema-access.ts'
import { openDatabase } from '../../database/open.ts'
import { silentLog } from '../../database/testing/silent-log.ts'
import type { CrashModel } from '../../features/feature.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { examine as examineStore } from '../doctor.ts'
import { expectSame, type Operation, type Section } from './operation.ts'
import type { Random } from './random.ts'
import { type Bounds, createSections, doctorBounds } from './sections/sections.ts'
import { createTrail } from './sections/trail.ts'
import { createTraffic, type Operator } from './traffic/traffic.ts'

export type Model = ReturnType<typeof createModel>

const clock = createSystemClock()

/** Everything that one deployment has answered, and its comparison with the store. */
export function createModel(random: Random, bounds: Bounds) {
  let marks = 0
  const mark = (kind: string) => {
    marks += 1
    return `${kind}-${marks}`
  }
  const trail = createTrail()
  const sections = createSections({ trail, random, mark, bounds })
  const traffic = createTraffic({ random, mark })

  const read = (db: OpenedDatabase) =>
    db.longRead(async (state) => {
      await trail.read(state)
      for (const section of Object.values(sections)) await section.read(state)
    })

  const examine = (url: string, only?: CrashModel) =>
    reading(url, async (db) => {
      await read(db)
      const doctor = { check: () => expectHealthy(db, bounds) }
      const models: Readonly<Record<CrashModel, { check(): unknown }>> = {
        ...sections,
        trail,
        doctor,
      }
      for (const [name, model] of Object.entries(models)) {
        if (only === undefined || only === name) await named(name, model.check)
      }
    })

  return {
    traffic,
    /**
     * Holds a store against what was answered, once all of that is known: with all models, or with
     * one of them.
     */
    examine,
    next: (): Operation | undefined => chosen(Object.values(sections), random)?.next(),
    /**
     * After a crash: finds out what became of every lost operation, repeats those that may be, and
     * then holds the whole store, and what the node answers, against what was answered before.
     */
    async verify(url: string, operator: Operator): Promise<void> {
      traffic.connect(operator)
      await reading(url, async (db) => {
        await read(db)
        traffic.settleFromStore()
        await traffic.repeatKeyed()
      })
      await examine(url)
      const parts = Object.values(sections)
      await Promise.all(parts.map((section) => section.probe?.(operator.call, operator.token)))
    },
  }
}

async function reading(url: string, work: (db: OpenedDatabase) => Promise<void>): Promise<void> {
  const common = { clock, log: silentLog, randomness: randomBytes }
  const db = await openDatabase({ url, access: 'read', ...common })
  try {
    await work(db)
  } finally {
    await db.close()
  }
}

/** The doctor finds nothing, which includes a whole audit chain. */
async function expectHealthy(db: OpenedDatabase, bounds: Bounds): Promise<void> {
  const diagnoses = await examineStore(db, { bounds: doctorBounds(bounds) })
  const broken = diagnoses.filter(({ ok }) => !ok)
  expectSame(broken, [], 'what it finds')
}

async function named(name: string, work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`)
  }
}

/** A random section, the heavier the likelier. */
function chosen(sections: readonly Section[], random: Random): Section | undefined {
  const whole = sections.reduce((sum, { weight }) => sum + weight, 0)
  let left = random.fraction() * whole
  return sections.find(({ weight }) => {
    left -= weight
    return left < 0
  })
}
