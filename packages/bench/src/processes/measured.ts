import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../benchmark.ts'
import { type Child, type ChildOptions, startChild } from './child.ts'

/** Rows that a database begins with. */
export type Seeds = { accounts?: number; groups?: number; lines?: number }

export type MeasuredOptions = {
  /** Of the database; the matchmaker has none. */
  url?: string
  /** A second address, `unaudited`, serves the same without audit entries. */
  unaudited?: boolean
  seeds?: Seeds
  accounts?: number
  inFlight?: number
  fewInFlight?: number
  rounds?: number
  secondsPerRound?: number
  /** Stored objects. */
  objects?: number
  /** Of one leaderboard, or of one recording. */
  records?: number
  /** Of each measurement. */
  seconds?: number
  /** Tickets of a small and a large crowd, and those that only wait. */
  small?: number
  large?: number
  waiting?: number
  /** That a recorder is queued. */
  envelopes?: number
}

const programs = 'packages/server/src/testing/measured'
/** Programs that are no part of the node. */
const elsewhere: Readonly<Record<string, string>> = {
  'sdk-recorder': 'packages/client/src/testing/measured-recorder.ts',
}
/** Filling a database with a million rows takes a while. */
const readyWithinMs = 600_000

type Program =
  | 'node'
  | 'wallets'
  | 'objects'
  | 'leaderboards'
  | 'matchmaker'
  | 'lag'
  | 'state'
  | 'sdk-recorder'

/**
 * Starts a program that is built of the product's parts otherwise than a node is: `node` serves a
 * database that it fills first; `wallets`, `objects`, `leaderboards`, `matchmaker`, `lag`
 * and `state` work in process and print what they measured.
 */
export function startMeasured(
  bench: Bench,
  program: Program,
  { on = 'both', ...options }: MeasuredOptions & Pick<ChildOptions, 'on'>,
): Promise<Child> {
  const path = join(bench.checkout, elsewhere[program] ?? `${programs}/${program}.ts`)
  const args = [path, JSON.stringify(options)]
  // They run from their sources: the next one finds what the compiler made of them.
  const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }
  return startChild({ args, cwd: bench.folder, env, cores: bench.cores, on, readyWithinMs })
}
