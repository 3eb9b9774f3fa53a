import { median } from './statistics.ts'

type SoakOutcome = {
  /** Resident memory after collection, in MiB, in the order in which it was taken. */
  memory: readonly number[]
  /** Connections that could not be opened. */
  failed: number
  /** Connections that ended while their guest stayed. */
  lost: number
  /** Guests who stayed for a while and heard nothing of what they had sent. */
  unheard: number
}

/** How far the floor of the last third may be above that of the middle third. */
const growthMax = 1.05

/** What must not have happened; empty when the node has stood the soak. */
export function soakFaults({ memory, failed, lost, unheard }: SoakOutcome): string[] {
  const faults: string[] = []
  if (failed > 0) faults.push(`${failed} connections failed`)
  if (lost > 0) faults.push(`${lost} connections were lost`)
  if (unheard > 0) faults.push(`${unheard} guests heard nothing`)
  const floors = memoryFloors(memory)
  if (floors === undefined) faults.push('too short to judge memory')
  else if (floors.last > floors.middle * growthMax) faults.push('memory has grown')
  return faults
}

/**
 * The least that the middle and the last third of the time had: what is above it comes and goes.
 * Undefined for too few figures.
 */
export function memoryFloors(
  memory: readonly number[],
): { middle: number; last: number } | undefined {
  const third = Math.floor(memory.length / 3)
  if (third === 0) return undefined
  return {
    middle: Math.min(...memory.slice(third, -third)),
    last: Math.min(...memory.slice(-third)),
  }
}

/** By how much memory grows from one figure to the next: the middle of all slopes after a third. */
export function memorySlope(memory: readonly number[]): number {
  const late = memory.slice(Math.floor(memory.length / 3))
  return median(
    late.flatMap((from, at) => late.slice(at + 1).map((to, after) => (to - from) / (after + 1))),
  )
}
