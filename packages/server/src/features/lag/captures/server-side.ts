import { type LagDelivery, type LagDirection, lagEdgesUs } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { EnvelopeObserver } from '../../../kernel/play/recording.ts'
import type { Filter } from '../analysis/records.ts'
import { bucketOf, type GroupFacts } from '../analysis/spacings.ts'

/**
 * What the node sent to one recorder and received from it, as counts: no single envelope is kept.
 * Spacings are counted in steps of at most 1/32 of their size, which bounds the error of ranks.
 */
export type ServerSide = readonly ServerGroup[]

export type ServerGroup = {
  kind: number
  direction: LagDirection
  delivery: LagDelivery
  records: number
  sum_us: number
  max_us: number
  body_bytes: number
  /** By bucket of the report's histogram, the overflow last. */
  counts: number[]
  /** Steps that hold spacings, and how many. */
  steps: [step: number, count: number][]
}

const stepBits = 5
const stepsPerOctave = 2 ** stepBits
/** Up to 2^32 microseconds. */
const stepCount = (33 - stepBits) * stepsPerOctave

/** Which step a spacing is in; below 64 us each has its own. */
export function stepOf(spacingUs: number): number {
  const value = Math.min(spacingUs, 0xffffffff)
  const octave = Math.max(0, 31 - Math.clz32(value) - stepBits)
  return octave * stepsPerOctave + Math.floor(value / 2 ** octave)
}

/** The middle of a step, in microseconds. */
export function middleOf(step: number): number {
  const octave = Math.max(0, Math.floor(step / stepsPerOctave) - 1)
  const low = (step - octave * stepsPerOctave) * 2 ** octave
  return low + Math.floor((2 ** octave - 1) / 2)
}

class Counted {
  readonly #kind: number
  readonly #direction: LagDirection
  readonly #delivery: LagDelivery
  readonly #counts = new Uint32Array(lagEdgesUs.length + 1)
  readonly #steps = new Uint32Array(stepCount + stepsPerOctave)
  #records = 0
  #bodyBytes = 0
  #sumUs = 0
  #maxUs = 0
  #lastUs = 0

  constructor(kind: number, direction: LagDirection, delivery: LagDelivery) {
    this.#kind = kind
    this.#direction = direction
    this.#delivery = delivery
  }

  note(nowUs: number, bodyBytes: number): void {
    if (this.#records > 0) this.#count(nowUs - this.#lastUs)
    this.#records += 1
    this.#bodyBytes += bodyBytes
    this.#lastUs = nowUs
  }

  #count(spacingUs: number): void {
    const bucket = bucketOf(spacingUs)
    const step = stepOf(spacingUs)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#steps[step] = (this.#steps[step] ?? 0) + 1
    this.#sumUs += spacingUs
    if (spacingUs > this.#maxUs) this.#maxUs = spacingUs
  }

  group(): ServerGroup {
    const steps = Array.from(this.#steps, (count, step): [number, number] => [step, count])
    return {
      kind: this.#kind,
      direction: this.#direction,
      delivery: this.#delivery,
      records: this.#records,
      sum_us: this.#sumUs,
      max_us: this.#maxUs,
      body_bytes: this.#bodyBytes,
      counts: Array.from(this.#counts),
      steps: steps.filter(([, count]) => count > 0),
    }
  }
}

/** Counts what one recorder is sent and sends, as far as it was asked to record it. */
export function createServerSide(clock: Pick<Clock, 'monotonicMs'>, filters: readonly Filter[]) {
  const wanted = new Set(filters.map(({ kind, direction }) => placeOf(kind, direction, false)))
  const groups = new Map<number, Counted>()

  function note(kind: number, direction: LagDirection, datagram: boolean, bytes: number): void {
    if (!wanted.has(placeOf(kind, direction, false))) return
    const place = placeOf(kind, direction, datagram)
    let group = groups.get(place)
    if (group === undefined) {
      group = new Counted(kind, direction, datagram ? 'datagram' : 'reliable')
      groups.set(place, group)
    }
    group.note(Math.round(clock.monotonicMs() * 1000), bytes)
  }

  const observer: EnvelopeObserver = {
    queued: (kind, datagram, bytes) => note(kind, 'inbound', datagram, bytes),
    received: (kind, datagram, bytes) => note(kind, 'outbound', datagram, bytes),
  }
  return { observer, counted: (): ServerSide => Array.from(groups.values(), (it) => it.group()) }
}

function placeOf(kind: number, direction: LagDirection, datagram: boolean): number {
  return 4 * kind + (direction === 'inbound' ? 0 : 2) + (datagram ? 1 : 0)
}

/** What a summary takes of the counts of a group. */
export function serverFacts(group: ServerGroup, participant: number): GroupFacts {
  const { kind, direction, delivery, records, steps } = group
  const spacings = Math.max(0, records - 1)
  return {
    key: { participant, packet_kind: kind, direction, delivery, gameplay_epoch: 0 },
    spacings,
    sumUs: group.sum_us,
    maxUs: group.max_us,
    bodyBytes: group.body_bytes,
    counts: group.counts,
    rank: (percent) => rankOf(steps, spacings, percent, group.max_us),
    residual(periodUs) {
      const distances = steps.map(([step, count]): [number, number] => [
        Math.abs(middleOf(step) - periodUs),
        count,
      ])
      const sorted = distances.sort(([a], [b]) => a - b)
      return valueAt(sorted, spacings, 95)
    },
  }
}

function rankOf(steps: ServerGroup['steps'], count: number, percent: number, maxUs: number) {
  const middles = steps.map(([step, each]): [number, number] => [middleOf(step), each])
  const value = valueAt(middles, count, percent)
  return value === null ? null : Math.min(value, maxUs)
}

/** The value at a percentile of values that are sorted and counted. */
function valueAt(sorted: readonly [number, number][], count: number, percent: number) {
  let left = Math.ceil((percent * count) / 100)
  for (const [value, times] of sorted) {
    left -= times
    if (left <= 0) return value
  }
  return null
}
