import type { HandlerCost } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import { type HandlerName, handlerOf } from '../log/handler-failure.ts'
import type { CallRecord } from '../wire/call-records.ts'
import { hookCode } from '../wire/hooks.ts'

/** A minute is counted in parts, of which the oldest is dropped as a new one begins. */
const partMs = 10_000
const parts = 6

const shownMax = 10

/** So many handlers have a series of their own; the others share one. */
const seriesMax = 200

/** Beyond these, over all revisions of a node's life, handlers share the last series. */
const handlersMax = 10_000

/** What a handler has used since the node started. */
export type CpuSeries = HandlerName & { readonly seconds: number }

type Use = HandlerName & { calls: number; cpuUs: number }

/** By hook, then by the name of the handler. */
type Part = Map<number, Map<string | number, Use>>

/**
 * Which handlers used how much CPU in the last minute. Handlers are those that the script
 * registered, so their number is bounded. Every call of the script ends here.
 */
export function createCpuUse(clock: Pick<Clock, 'every'>) {
  let current: Part = new Map()
  let past: readonly Part[] = []
  const totals: Part = new Map()
  let handlers = 0
  let otherUs = 0
  const rolling = clock.every(partMs, () => {
    past = [current, ...past].slice(0, parts - 1)
    current = new Map()
  })

  return {
    add(record: CallRecord, cpuUs: number): void {
      const use = useOf(current, record)
      use.calls += 1
      use.cpuUs += cpuUs
      if (!totals.get(record.hook)?.has(keyOf(record))) handlers += 1
      if (handlers > handlersMax) otherUs += cpuUs
      else useOf(totals, record).cpuUs += cpuUs
    },
    /** The dearest since the start, and `other` for the rest. */
    series(): CpuSeries[] {
      const sorted = sumByHandler([totals]).sort((a, b) => b.cpuUs - a.cpuUs)
      const rest = sorted.slice(seriesMax).reduce((sum, { cpuUs }) => sum + cpuUs, otherUs)
      const series = sorted.slice(0, seriesMax).map(({ hook, name, cpuUs }) => {
        return { hook, name, seconds: cpuUs / 1_000_000 }
      })
      return rest === 0
        ? series
        : [...series, { hook: 'other', name: '', seconds: rest / 1_000_000 }]
    },
    /** The ten dearest, the dearest first. */
    dearest(): HandlerCost[] {
      const sums = sumByHandler([current, ...past])
      const sorted = sums.sort((a, b) => b.cpuUs - a.cpuUs)
      return sorted.slice(0, shownMax).map(({ hook, name, calls, cpuUs }) => {
        return { hook, name, calls, cpu_ms: cpuUs / 1000 }
      })
    },
    stop: () => rolling.cancel(),
  }
}

function useOf(part: Part, record: CallRecord): Use {
  let handlers = part.get(record.hook)
  if (handlers === undefined) {
    handlers = new Map()
    part.set(record.hook, handlers)
  }
  const key = keyOf(record)
  let use = handlers.get(key)
  if (use === undefined) {
    use = { ...handlerOf(record), calls: 0, cpuUs: 0 }
    handlers.set(key, use)
  }
  return use
}

function keyOf({ hook, text, detail }: CallRecord): string | number {
  if (hook === hookCode.on_rpc) return text ?? ''
  return hook === hookCode.on_message ? detail : 0
}

function sumByHandler(all: readonly Part[]): Use[] {
  const sums = new Map<string, Use>()
  const uses = all.flatMap((part) => [...part.values()].flatMap((each) => [...each.values()]))
  for (const { hook, name, calls, cpuUs } of uses) {
    const key = `${hook} ${name}`
    const sum = sums.get(key) ?? { hook, name, calls: 0, cpuUs: 0 }
    sums.set(key, { hook, name, calls: sum.calls + calls, cpuUs: sum.cpuUs + cpuUs })
  }
  return [...sums.values()]
}
