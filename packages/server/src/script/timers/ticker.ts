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
const groupsMax = 16
/** Between two groups, in milliseconds at least. */
const groupEveryMs = 3

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

/** The ticks of a definition at one rate. */
type Ticking = {
  readonly hz: number
  /** The former script, once only the rooms that are bound to it tick so. */
  boundTo: number | undefined
  timers: readonly Timer[]
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
  /** By the name of the definition: of the script that serves, and of the former one. */
  const defined = new Map<string, Ticking>()
  const kept = new Map<string, Ticking>()
  let defines = 0

  /** What runs the ticks of a beat. */
  function createTick(beat: Beat): () => void {
    let lastMs: number | undefined
    /** Seconds that only rooms of the former script have ticked through. */
    let missed = 0
    /** Calls of the last tick that have not settled. */
    let running = 0

    function tick(): void {
      if (!beat.wanted()) {
        lastMs = undefined
        missed = 0
        return
      }
      const areAllHeld = isHeld() && router.former === undefined
      if (running > 0 || router.inbox.isFull() || areAllHeld) {
        metrics.ticksSkipped += 1
        return
      }
      const nowMs = clock.monotonicMs()
      const dt = (nowMs - (lastMs ?? nowMs - 1000 / beat.hz)) / 1000
      lastMs = nowMs
      const due = beat.rooms()
      if (due.length === 0 && !beat.hasOwnRun) {
        beat.took?.({ rooms: 0, cpuUs: 0 })
        missed = 0
        return
      }
      metrics.ticks += 1
      const former = router.former?.identity.generation
      if (former === undefined) {
        runOthers(dt, due)
        return
      }
      const bound = due.filter(({ generation }) => generation === former)
      runOthers(
        dt,
        due.filter(({ generation }) => generation !== former),
      )
      if (bound.length > 0) runPart(dt, bound, former)
    }

    /** Rooms of the script that serves: those of the former one do not wait for it. */
    function runOthers(dt: number, due: readonly TickRoom[]): void {
      const hasRuns = due.length > 0 || beat.hasOwnRun
      missed += dt
      if (isHeld()) {
        if (hasRuns) metrics.ticksSkipped += 1
        return
      }
      if (hasRuns) runPart(missed, due, null)
      missed = 0
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

  /** The script that serves runs its on_start. */
  function isHeld(): boolean {
    return router.active?.isHeld === true
  }

  /** Rooms of one rate are spread over its interval, so that they do not all compute at once. */
  function startDefined(name: string, hz: number): Ticking {
    const everyMs = 1000 / hz
    const groups = Math.min(groupsMax, Math.max(1, Math.floor(everyMs / groupEveryMs)))
    const pace = createPace(groups)
    const ticking: Ticking = { hz, boundTo: undefined, timers: [] }
    const roomsOf = createGroups(groups, (room) => room.definition === name && isOf(room, ticking))
    const ticks = Array.from({ length: groups }, (_, group) =>
      createTick({
        hz,
        hasOwnRun: false,
        // Rooms of the former script go on while the one that has replaced it is down.
        wanted: () => (router.active ?? router.former) !== undefined,
        rooms: () => roomsOf(group),
        took: (tick) => pace.took(group, tick),
      }),
    )
    function tickFrom(group: number): void {
      if (isOver(ticking)) {
        cancel(ticking)
        return
      }
      if (group === 0) pace.begin()
      if (group % pace.together !== 0) return
      for (const tick of ticks.slice(group, group + pace.together)) tick()
    }
    ticking.timers = ticks.map((_, group) => {
      const laterMs = (group * everyMs) / groups
      return startPulse(clock, { everyMs, laterMs }, () => tickFrom(group))
    })
    return ticking
  }

  /** The script that its rooms were bound to has ended. */
  function isOver({ boundTo }: Ticking): boolean {
    return boundTo !== undefined && boundTo !== router.former?.identity.generation
  }

  /** Whether a room of the definition ticks so. */
  function isOf({ definition, generation }: TickRoom, ticking: Ticking): boolean {
    const former = kept.get(definition ?? '')
    const isBound = former !== undefined && generation === former.boundTo
    return isBound === (former === ticking)
  }

  /** The rooms of each group. */
  function createGroups(count: number, has: (room: TickRoom) => boolean) {
    let seen: readonly TickRoom[] | undefined
    let seenDefines = 0
    let groups: TickRoom[][] = []
    return (group: number): readonly TickRoom[] => {
      const all = rooms()
      // The list is another one when a room has come or gone.
      if (seen !== all || seenDefines !== defines) {
        seen = all
        seenDefines = defines
        groups = Array.from({ length: count }, () => [])
        for (const room of all) if (has(room)) groups[room.room_id % count]?.push(room)
      }
      return groups[group] ?? []
    }
  }

  /** The script that serves has other ticks, or none: rooms of the former one keep to theirs. */
  function replace(name: string, ticking: Ticking, former: number | undefined): void {
    const isBound = (room: TickRoom) => room.definition === name && room.generation === former
    defined.delete(name)
    if (kept.has(name) || !rooms().some(isBound)) {
      cancel(ticking)
      return
    }
    ticking.boundTo = former
    kept.set(name, ticking)
  }

  return {
    /** `tickRooms` are those whose label has `tick`, by id ascending. */
    start(tickRooms: () => readonly TickRoom[]) {
      rooms = tickRooms
      if (config.tick_hz === 0) return
      const roomsOf = createGroups(1, ({ definition }) => (definition ?? null) === null)
      const tick = createTick({
        hz: config.tick_hz,
        hasOwnRun: true,
        wanted,
        rooms: () => roomsOf(0),
      })
      own = startPulse(clock, { everyMs: 1000 / config.tick_hz }, tick)
    },
    /** The definitions of the script that serves from now on, in place of the active one. */
    define(definitions: readonly RoomDefinitionSummary[]) {
      defines += 1
      const next = new Map(definitions.map(({ name, tick_hz }) => [name, tick_hz]))
      const former = (router.active ?? router.former)?.identity.generation
      for (const [name, ticking] of kept) {
        if (ticking.boundTo === former) continue
        cancel(ticking)
        kept.delete(name)
      }
      for (const [name, ticking] of defined) {
        if (next.get(name) !== ticking.hz) replace(name, ticking, former)
      }
      for (const [name, hz] of next) {
        if (hz > 0 && !defined.has(name)) defined.set(name, startDefined(name, hz))
      }
    },
    stop() {
      own?.cancel()
      for (const ticking of [...defined.values(), ...kept.values()]) cancel(ticking)
    },
  }
}

function cancel({ timers }: Ticking): void {
  for (const timer of timers) timer.cancel()
}
