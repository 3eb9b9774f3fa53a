import { type HookName, type SeatTimes, stringifyExact } from '@guildhall/contract'
import { JsonRefusal, readJson } from '../../kernel/json/json-reader.ts'
import type { CallContext, RpcOutcome } from '../../kernel/play/calls.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { HookAnswer, MatchEvent, RoomHooks } from '../../kernel/play/room-hooks.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import type { NewCall, Outcome } from '../calls.ts'
import type { Lifecycle } from '../lifecycle.ts'
import type { Router } from '../serving/router.ts'
import { hookCode } from '../wire/hooks.ts'
import type { RoomBindings } from './room-bindings.ts'

type GameDeps = {
  lifecycle: Lifecycle
  router: Router
  bindings: RoomBindings
  /** Whether rooms keep to the script that made them. */
  bindsRooms: boolean
  admit(): boolean
  gateOpen(): boolean
  rpc(context: CallContext, method: string, payload: Uint8Array): Promise<RpcOutcome>
}

/** The script as the gateway calls it: its hooks about players, rooms and matches. */
export function createGame(deps: GameDeps) {
  const { router, rpc } = deps
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

  return {
    serving: () => router.active !== undefined,
    handlesKind: (kind: number, room_id: number | null) =>
      router.pick({ context: { room_id } })?.handlesKind(kind) ?? false,
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
      if (!router.pick({ context })?.handlesKind(kind)) {
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
    ...createRoomHooks({ ...deps, notify, ask }),
  }
}

type RoomHookDeps = Pick<
  GameDeps,
  'lifecycle' | 'router' | 'bindings' | 'bindsRooms' | 'admit' | 'gateOpen'
> & {
  notify(hook: HookName, call: Omit<NewCall, 'hook' | 'settle'>, settled?: () => void): void
  ask(hook: HookName, call: Omit<NewCall, 'hook' | 'settle'>): Promise<HookAnswer>
}

function createRoomHooks(deps: RoomHookDeps): RoomHooks {
  const { lifecycle, router, bindings, bindsRooms, admit, gateOpen, notify, ask } = deps
  const isServing = () => router.active !== undefined
  return {
    admit,
    gateOpen,
    binding: () => {
      const { revision, generation } = lifecycle
      return bindsRooms && revision !== null ? { revision_id: revision, generation } : null
    },
    roomCreate: (context, { name, options }) =>
      ask('on_room_create', { ...byPlayer(context), text: roomText(options, name) }),
    async roomJoin(context, { room, options }) {
      // Without a worker nobody can say whether the script would have let this one in.
      if (!isServing() && lifecycle.lastHooks.includes('on_room_join')) {
        return { status: 'failed' }
      }
      const text = roomText(options, shownRoom(room))
      return ask('on_room_join', { ...byPlayer(context), text })
    },
    matched: (match) =>
      ask('on_matchmaker_matched', {
        context: nobody,
        origin: 'server',
        text: stringifyExact(match),
      }),
    drop: (context, seat) => notify('on_drop', { ...byPlayer(context), text: seatText(seat) }),
    returned: (context, seat, settled) =>
      notify('on_return', { ...byPlayer(context), text: seatText(seat) }, settled),
    match(happened, settled) {
      bindings.follow(happened)
      const { event, binding, ...match } = happened
      const { room_id, match_id } = match
      const context = { ...nobody, room_id, match_id }
      const text = stringifyExact(match)
      const generation = binding?.generation ?? null
      notify(matchHooks[event], { context, origin: 'server', text, generation }, settled)
      if (event === 'ended') router.lookAtFormer()
    },
  }
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

function answerOf(outcome: Outcome): HookAnswer {
  if (outcome.status !== 'ok') return { status: 'failed' }
  const text = new TextDecoder().decode(outcome.reply)
  try {
    return { status: 'answered', value: text === '' ? null : readJson(text).value }
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error
    // More levels than anything may have, or a text with half a character.
    return { status: 'failed' }
  }
}
