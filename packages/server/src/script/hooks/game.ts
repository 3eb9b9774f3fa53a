import { type HookName, type SeatTimes, stringifyExact } from '@guildhall/contract'
import type { CallContext, RpcOutcome } from '../../kernel/play/calls.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { HookAnswer, MatchEvent, RoomHooks } from '../../kernel/play/room-hooks.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import type { NewCall, Outcome } from '../calls.ts'
import type { Lifecycle } from '../lifecycle.ts'
import type { Router } from '../serving/router.ts'
import type { FailuresView } from '../view/failures-view.ts'
import { hookCode } from '../wire/hooks.ts'
import { limits } from '../wire/limits.ts'
import { answerOf } from './answers.ts'
import type { RoomBindings } from './room-bindings.ts'
import type { StateRooms } from './state-rooms.ts'

type GameDeps = {
  lifecycle: Lifecycle
  router: Router
  bindings: RoomBindings
  stateRooms: StateRooms
  view: Pick<FailuresView, 'handlerFailed'>
  /** Whether rooms keep to the script that made them. */
  bindsRooms: boolean
  admit(): boolean
  gateOpen(): boolean
  rpc(context: CallContext, method: string, payload: Uint8Array): Promise<RpcOutcome>
}

/** The script as the gateway calls it: its hooks about players, rooms and matches. */
export function createGame(deps: GameDeps) {
  const { router, rpc, stateRooms } = deps
  /** Whether the script that such a call goes to has the hook. */
  function hasHook(name: HookName, call: Omit<NewCall, 'hook' | 'settle'>): boolean {
    return router.pick(call)?.identity.handlers.hooks.includes(name) ?? false
  }

  function notify(hook: HookName, call: Omit<NewCall, 'hook' | 'settle'>, settled = () => {}) {
    if (hasHook(hook, call)) router.call({ hook: hookCode[hook], ...call, settle: settled })
    else settled()
  }

  function ask(hook: HookName, call: Omit<NewCall, 'hook' | 'settle'>): Promise<HookAnswer> {
    if (!hasHook(hook, call)) return Promise.resolve({ status: 'absent' })
    return new Promise((resolve) => {
      const settle = (outcome: Outcome) => resolve(answerOf(outcome))
      router.call({ hook: hookCode[hook], ...call, settle })
    })
  }

  function handlesKind(kind: number, room_id: number | null): boolean {
    const context = { room_id }
    const room = stateRooms.definitionOf(context)
    if (room !== undefined) return room.kinds.includes(kind)
    return router.pick({ context })?.handlesKind(kind) ?? false
  }

  return {
    serving: () => router.active !== undefined,
    handlesKind,
    join: (context: CallContext, settled?: () => void) =>
      notify('on_join', byPlayer(context), settled),
    leave(context: CallContext): void {
      // Also without a handler: the worker then drops what it knows about the participant.
      router.call({ hook: hookCode.on_leave, ...byPlayer(context), settle() {} })
    },
    message(
      context: CallContext,
      message: { kind: number; body: Uint8Array; unreliable: boolean },
      settled: (outcome: 'ok' | 'failed' | 'unavailable') => void,
    ): void {
      const { kind, body, unreliable } = message
      if (!handlesKind(kind, context.room_id)) {
        settled('unavailable')
        return
      }
      const settle = ({ status }: Outcome) =>
        settled(status === 'ok' ? 'ok' : status === 'lost' ? 'unavailable' : 'failed')
      const hook = hookCode.on_message
      const about = { context, origin: 'player', detail: kind } as const
      router.call({ hook, ...about, unreliable, body, settle })
    },
    rpc,
    congested: () => router.inbox.congested(),
    onceDrained: (listener: () => void) => router.inbox.onceDrained(listener),
    ...createRoomHooks({ ...deps, stateRooms, hasHook, notify, ask }),
  }
}

type RoomHookDeps = Pick<
  GameDeps,
  'lifecycle' | 'router' | 'bindings' | 'view' | 'stateRooms' | 'bindsRooms' | 'admit' | 'gateOpen'
> & {
  hasHook(name: HookName, call: Omit<NewCall, 'hook' | 'settle'>): boolean
  notify(hook: HookName, call: Omit<NewCall, 'hook' | 'settle'>, settled?: () => void): void
  ask(hook: HookName, call: Omit<NewCall, 'hook' | 'settle'>): Promise<HookAnswer>
}

function createRoomHooks(deps: RoomHookDeps): RoomHooks {
  /** The script hears of a room with state whether it has the global hook or not. */
  function report(
    hook: HookName,
    call: Omit<NewCall, 'hook' | 'settle'>,
    settled = () => {},
  ): void {
    const { room_id } = call.context
    if (room_id === null || !deps.stateRooms.has(room_id)) notify(hook, call, settled)
    else deps.router.call({ hook: hookCode[hook], ...call, settle: settled })
  }

  const { lifecycle, router, bindings, stateRooms, bindsRooms } = deps
  const { admit, gateOpen, notify, ask } = deps
  const isServing = () => router.active !== undefined
  return {
    ...stateRooms.hooks,
    admit,
    gateOpen,
    binding: () => {
      const { revision, generation } = lifecycle
      return bindsRooms && revision !== null ? { revision_id: revision, generation } : null
    },
    roomCreate: (context, { name, options }) =>
      ask('on_room_create', { ...byPlayer(context), text: roomText(options, name) }),
    async roomJoin(context, { room, options, hasState }) {
      if (hasState) return stateRooms.admit(context, room.room_id, options)
      // Without a worker nobody can say whether the script would have let this one in.
      if (!isServing() && lifecycle.lastHooks.includes('on_room_join')) {
        return { status: 'failed' }
      }
      const text = roomText(options, shownRoom(room))
      return ask('on_room_join', { ...byPlayer(context), text })
    },
    ticketAdd(context, request) {
      const call = { ...byPlayer(context), text: stringifyExact(request) }
      return deps.hasHook('on_matchmaker_add', call) ? ask('on_matchmaker_add', call) : undefined
    },
    matched: (match) =>
      ask('on_matchmaker_matched', {
        context: nobody,
        origin: 'server',
        text: stringifyExact(match),
      }),
    misanswered(hook, problem) {
      // It may have names that the script has made.
      const reason = problem.slice(0, limits.errorTextChars)
      const revision_id = lifecycle.revision ?? ''
      deps.view.handlerFailed({
        ...{ hook, name: '', place: null },
        kind: 'error',
        reason,
        revision_id,
      })
    },
    drop: (context, seat) => report('on_drop', { ...byPlayer(context), text: seatText(seat) }),
    returned: (context, seat, settled) =>
      report('on_return', { ...byPlayer(context), text: seatText(seat) }, settled),
    match(happened, settled) {
      bindings.follow(happened)
      const { event, binding } = happened
      const { room_id, match_id } = happened
      const context = { ...nobody, room_id, match_id }
      const text = stringifyExact(matchOf(happened, stateRooms.has(room_id)))
      const generation = binding?.generation ?? null
      report(matchHooks[event], { context, origin: 'server', text, generation }, settled)
      if (event !== 'ended') return
      stateRooms.ended(room_id)
      router.lookAtFormer()
    },
  }
}

/** What scripts get of a match; names of members only by the definition of its room. */
function matchOf(happened: MatchEvent, hasState: boolean): object {
  const { event: _event, binding: _binding, ...match } = happened
  if (hasState || !('username' in match)) return match
  const { username: _, ...shown } = match
  return shown
}

const matchHooks = {
  created: 'on_match_created',
  started: 'on_match_started',
  join: 'on_match_join',
  leave: 'on_match_leave',
  ended: 'on_match_ended',
} as const satisfies Record<MatchEvent['event'], HookName>

function byPlayer(context: CallContext) {
  return { context, origin: 'player' } as const
}

/** What on_room_create and on_room_join are about; `options` is JSON text already. */
function roomText(options: string, about: unknown): string {
  return `{"options":${options},"about":${stringifyExact(about)}}`
}

/** Which worker a room keeps to is not for the script. */
function shownRoom({ binding: _, ...room }: OpenRoom) {
  return room
}

function seatText({ grace_ms, away_ms }: SeatTimes): string {
  return JSON.stringify({ grace_ms, away_ms })
}
