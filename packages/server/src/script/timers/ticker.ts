import type { Clock, Timer } from '../../kernel/clock.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { TickRoom } from '../../kernel/play/room-commands.ts'
import type { ScriptConfig } from '../config.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { Router } from '../serving/router.ts'
import { tickBody } from '../wire/call-records.ts'
import { hookCode, type RoomDefinitionSummary } from '../wire/hooks.ts'

/** Rooms of one call. */
const roomsMax = 16_384

type TickerDeps = {
  config: Pick<ScriptConfig, 'tick_hz'>
  clock: Clock
  router: Pick<Router, 'call' | 'inbox' | 'active' | 'former'>
  metrics: Pick<ScriptMetrics, 'ticks' | 'ticksSkipped'>
  /** Whether a script with `on_tick` serves. */
  wanted: () => boolean
}

/** What ticks at one rate: all rooms without state, or those of one definition. */
type Beat = {
  readonly hz: number
  /** Also runs without a room, for the script as a whole. */
  readonly hasOwnRun: boolean
  wanted(): boolean
  rooms(): readonly TickRoom[]
}

/** Which part of a tick a call is. */
type Part = { generation: number | null; isFirst: boolean }

/**
 * Calls `on_tick` at the configured pace, and the ticks of rooms with state at that of their
 * definition. A tick that cannot run is skipped; the next dt covers it.
 */
export function createTicker({ config, clock, router, metrics, wanted }: TickerDeps) {
  let rooms: () => readonly TickRoom[] = () => []
  let own: Timer | undefined
  const defined = new Map<string, { hz: number; timer: Timer }>()

  function start(beat: Beat): Timer {
    let lastMs: number | undefined
    /** Calls of the last tick that have not settled. */
    let running = 0

    function tick(): void {
      if (!beat.wanted()) {
        lastMs = undefined
        return
      }
      if (running > 0 || router.inbox.isFull() || router.active?.isHeld) {
        metrics.ticksSkipped += 1
        return
      }
      const nowMs = clock.monotonicMs()
      const dt = (nowMs - (lastMs ?? nowMs - 1000 / beat.hz)) / 1000
      lastMs = nowMs
      const due = beat.rooms()
      if (due.length === 0 && !beat.hasOwnRun) return
      metrics.ticks += 1
      runAll(dt, due)
    }

    /** Rooms that are bound to the former script tick there. */
    function runAll(dt: number, due: readonly TickRoom[]): void {
      const former = router.former?.identity.generation
      if (former === undefined) {
        runPart(dt, due, null)
        return
      }
      const bound = due.filter(({ generation }) => generation === former)
      const others = due.filter(({ generation }) => generation !== former)
      runPart(dt, others, null)
      if (bound.length > 0) runPart(dt, bound, former)
    }

    /** Without a generation the first call also runs without a room. */
    function runPart(dt: number, due: readonly TickRoom[], generation: number | null): void {
      let at = 0
      do {
        run(dt, due.slice(at, at + roomsMax), { generation, isFirst: at === 0 })
        at += roomsMax
      } while (at < due.length)
    }

    /** One call for many rooms. */
    function run(dt: number, due: readonly TickRoom[], { generation, isFirst }: Part): void {
      running += 1
      const settle = () => {
        running -= 1
      }
      const ids = due.map(({ room_id }) => room_id)
      const isOwn = beat.hasOwnRun && isFirst && generation === null
      const about = { context: nobody, origin: 'server', detail: dt, generation } as const
      const body = tickBody(isOwn ? [null, ...ids] : ids)
      router.call({ hook: hookCode.on_tick, ...about, body, rooms: due, settle })
    }

    return clock.every(1000 / beat.hz, tick)
  }

  function startDefined({ name, tick_hz: hz }: RoomDefinitionSummary): Timer {
    return start({
      hz,
      hasOwnRun: false,
      wanted: () => router.active !== undefined,
      rooms: () => rooms().filter(({ definition }) => definition === name),
    })
  }

  return {
    /** `tickRooms` are those whose label has `tick`, by id ascending. */
    start(tickRooms: () => readonly TickRoom[]) {
      rooms = tickRooms
      if (config.tick_hz === 0) return
      own = start({
        hz: config.tick_hz,
        hasOwnRun: true,
        wanted,
        rooms: () => rooms().filter(({ definition = null }) => definition === null),
      })
    },
    /** The definitions of the script that serves from now on. */
    define(definitions: readonly RoomDefinitionSummary[]) {
      const ticking = new Map(definitions.map((definition) => [definition.name, definition]))
      for (const [name, { hz, timer }] of defined) {
        if (ticking.get(name)?.tick_hz === hz) continue
        timer.cancel()
        defined.delete(name)
      }
      for (const definition of definitions) {
        const { name, tick_hz: hz } = definition
        if (hz > 0 && !defined.has(name)) defined.set(name, { hz, timer: startDefined(definition) })
      }
    },
    stop() {
      own?.cancel()
      for (const { timer } of defined.values()) timer.cancel()
    },
  }
}
