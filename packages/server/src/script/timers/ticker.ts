import type { Clock, Timer } from '../../kernel/clock.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { TickRoom } from '../../kernel/play/room-commands.ts'
import { startPulse } from '../../kernel/time/pulse.ts'
import type { Outcome } from '../calls.ts'
import type { ScriptConfig } from '../config.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { Router } from '../serving/router.ts'
import { tickBody } from '../wire/call-records.ts'
import { hookCode, type RoomDefinitionSummary } from '../wire/hooks.ts'
import { createPace } from './pace.ts'

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

/** The rooms of a definition tick in so many groups at most, one after the other. */
const groupsMax = 8
/** Between two groups, in milliseconds at least. */
const groupEveryMs = 5

/** What ticks at one rate: all rooms without state, or a group of those of one definition. */
type Beat = {
  readonly hz: number
  /** Also runs without a room, for the script as a whole. */
  readonly hasOwnRun: boolean
  wanted(): boolean
  rooms(): readonly TickRoom[]
  /** What a call of its tick has used; nothing where no room was due. */
  took?(tick: { rooms: number; cpuUs: number }): void
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
  const defined = new Map<string, { hz: number; timers: readonly Timer[] }>()
  const part = createParts(() => rooms())

  /** What runs the ticks of a beat. */
  function createTick(beat: Beat): () => void {
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
      if (due.length === 0 && !beat.hasOwnRun) {
        beat.took?.({ rooms: 0, cpuUs: 0 })
        return
      }
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
      if (others.length > 0 || beat.hasOwnRun) runPart(dt, others, null)
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
      const settle = (outcome: Outcome) => {
        running -= 1
        if (outcome.status !== 'ok') return
        beat.took?.({ rooms: due.length, cpuUs: outcome.cpuUs ?? 0 })
      }
      const ids = due.map(({ room_id }) => room_id)
      const isOwn = beat.hasOwnRun && isFirst && generation === null
      const about = { context: nobody, origin: 'server', detail: dt, generation } as const
      const body = tickBody(isOwn ? [null, ...ids] : ids)
      router.call({ hook: hookCode.on_tick, ...about, body, rooms: due, settle })
    }

    return tick
  }

  /** Rooms of one rate are spread over its interval, so that they do not all compute at once. */
  function startDefined({ name, tick_hz: hz }: RoomDefinitionSummary): Timer[] {
    const everyMs = 1000 / hz
    const groups = Math.min(groupsMax, Math.max(1, Math.floor(everyMs / groupEveryMs)))
    const pace = createPace(groups)
    const ticks = Array.from({ length: groups }, (_, group) =>
      createTick({
        hz,
        hasOwnRun: false,
        wanted: () => router.active !== undefined,
        rooms: () => part(name, group, groups),
        took: (tick) => pace.took(group, tick),
      }),
    )
    function tickFrom(group: number): void {
      if (group === 0) pace.begin()
      if (group % pace.together !== 0) return
      for (const tick of ticks.slice(group, group + pace.together)) tick()
    }
    return ticks.map((_, group) => {
      const laterMs = (group * everyMs) / groups
      return startPulse(clock, { everyMs, laterMs }, () => tickFrom(group))
    })
  }

  /** Whether rooms of the definition keep to the script that made them, which ticks on. */
  function hasBound(name: string): boolean {
    return rooms().some(({ definition, generation }) => definition === name && generation !== null)
  }

  return {
    /** `tickRooms` are those whose label has `tick`, by id ascending. */
    start(tickRooms: () => readonly TickRoom[]) {
      rooms = tickRooms
      if (config.tick_hz === 0) return
      const tick = createTick({
        hz: config.tick_hz,
        hasOwnRun: true,
        wanted,
        rooms: () => part(null, 0, 1),
      })
      own = startPulse(clock, { everyMs: 1000 / config.tick_hz }, tick)
    },
    /** The definitions of the script that serves from now on. */
    define(definitions: readonly RoomDefinitionSummary[]) {
      const ticking = new Map(definitions.map((definition) => [definition.name, definition]))
      for (const [name, { hz, timers }] of defined) {
        const nextHz = ticking.get(name)?.tick_hz ?? 0
        if (nextHz === hz || (nextHz === 0 && hasBound(name))) continue
        for (const timer of timers) timer.cancel()
        defined.delete(name)
      }
      for (const definition of definitions) {
        const { name, tick_hz: hz } = definition
        if (hz === 0 || defined.has(name)) continue
        defined.set(name, { hz, timers: startDefined(definition) })
      }
    },
    stop() {
      own?.cancel()
      for (const { timers } of defined.values()) for (const timer of timers) timer.cancel()
    },
  }
}

/** The rooms of a definition, null for those of none, and of these one group. */
function createParts(rooms: () => readonly TickRoom[]) {
  let split: readonly TickRoom[] | undefined
  const parts = new Map<string, readonly TickRoom[]>()
  return (definition: string | null, group: number, groups: number): readonly TickRoom[] => {
    const all = rooms()
    // The list is another one when a room has come or gone.
    if (split !== all) parts.clear()
    split = all
    const key = `${group}/${groups} ${definition}`
    const known = parts.get(key)
    if (known !== undefined) return known
    const isOf = (room: TickRoom) =>
      (room.definition ?? null) === definition && room.room_id % groups === group
    const found = all.filter(isOf)
    parts.set(key, found)
    return found
  }
}
