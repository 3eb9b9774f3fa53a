import type { Clock, Timer } from '../kernel/clock.ts'
import { nobody } from '../kernel/play/calls.ts'
import type { ScriptConfig } from './config.ts'
import type { Dispatcher } from './dispatcher.ts'
import { hookCode } from './hooks.ts'
import type { ScriptMetrics } from './metrics.ts'

type TickerDeps = {
  config: Pick<ScriptConfig, 'tick_hz'>
  clock: Clock
  dispatcher: Dispatcher
  metrics: ScriptMetrics
  /** Whether a script with `on_tick` serves. */
  wanted: () => boolean
}

/**
 * Calls `on_tick` at the configured pace. A tick that cannot run is skipped; the next dt
 * covers it.
 */
export function createTicker({ config, clock, dispatcher, metrics, wanted }: TickerDeps) {
  let timer: Timer | undefined
  let lastMs: number | undefined
  let running = false

  function tick(): void {
    if (!wanted()) {
      lastMs = undefined
      return
    }
    if (running || dispatcher.inbox.isFull()) {
      metrics.ticksSkipped += 1
      return
    }
    const nowMs = clock.monotonicMs()
    const dt = (nowMs - (lastMs ?? nowMs - 1000 / config.tick_hz)) / 1000
    lastMs = nowMs
    running = true
    metrics.ticks += 1
    const settle = () => {
      running = false
    }
    dispatcher.call({
      hook: hookCode.on_tick,
      context: nobody,
      origin: 'server',
      detail: dt,
      settle,
    })
  }

  return {
    start() {
      if (config.tick_hz > 0) timer = clock.every(1000 / config.tick_hz, tick)
    },
    stop: () => timer?.cancel(),
  }
}
