import type { SeatTimes } from '@guildhall/contract'
import type { CallContext, RpcOutcome } from '../kernel/play/calls.ts'
import { noStates } from '../kernel/play/no-states.ts'
import type {
  AnsweringHook,
  HookAnswer,
  MatchEvent,
  MatchedMember,
  TicketRequest,
} from '../kernel/play/room-hooks.ts'
import type { OpenRoom, ScriptBinding } from '../kernel/play/rooms.ts'
import type { GameScript } from './ports.ts'

/** A script that keeps what it received and answers as the test says. */
export type RecordingScript = GameScript & {
  calls: ScriptCall[]
  kinds: Set<number>
  isServing: boolean
  isCongested: boolean
  outcome: 'ok' | 'failed' | 'unavailable'
  onRpc(context: CallContext, method: string, payload: Uint8Array): Promise<RpcOutcome>
  drain(): void
  hooks(): string[]
  /** With `require_script`: whether the gate is open, and what rooms are bound to. */
  isGateOpen: boolean
  boundTo: ScriptBinding | null
  /** What the hooks that answer say; a test replaces them. */
  onRoomCreate(call: { name: string | null; options: string }): Answer
  onRoomJoin(call: { room: OpenRoom; options: string }): Answer
  onTicketAdd: ((context: CallContext, request: TicketRequest) => Answer) | undefined
  onMatched(call: { room_id: number; members: MatchedMember[] }): Answer | Promise<Answer>
  /** Hooks that have answered what is none of their answers. */
  misanswers: (readonly [hook: AnsweringHook, problem: string])[]
  matchEvents: MatchEvent[]
  /** The events of matches as `created 1`, `join 1 2 (1)`: room, participant, count. */
  matches(): string[]
}

type Answer = HookAnswer | Promise<HookAnswer>

export type ScriptCall =
  | { hook: 'join' | 'leave'; context: CallContext }
  | { hook: 'drop' | 'return'; context: CallContext; seat: SeatTimes }
  | { hook: 'message'; context: CallContext; kind: number; body: Uint8Array; unreliable: boolean }
  | { hook: 'rpc'; context: CallContext; method: string; payload: Uint8Array }

export function createRecordingScript(): RecordingScript {
  const calls: ScriptCall[] = []
  let drained: (() => void)[] = []
  const script: RecordingScript = {
    calls,
    kinds: new Set(),
    isServing: true,
    isGateOpen: true,
    boundTo: null,
    misanswers: [],
    matchEvents: [],
    onRoomCreate: () => ({ status: 'absent' }),
    onRoomJoin: () => ({ status: 'absent' }),
    onTicketAdd: undefined,
    onMatched: () => ({ status: 'absent' }),
    matches: () => script.matchEvents.map(matchLine),
    ...noStates,
    admit: () => script.isGateOpen,
    gateOpen: () => script.isGateOpen,
    binding: () => script.boundTo,
    roomCreate: async (_context, call) => script.onRoomCreate(call),
    roomJoin: async (_context, call) => script.onRoomJoin(call),
    ticketAdd: (context, request) =>
      script.onTicketAdd && Promise.resolve(script.onTicketAdd(context, request)),
    matched: async (call) => script.onMatched(call),
    misanswered: (hook, problem) => void script.misanswers.push([hook, problem]),
    drop: (context, seat) => void calls.push({ hook: 'drop', context, seat }),
    returned(context, seat, settled) {
      calls.push({ hook: 'return', context, seat })
      settled()
    },
    match(event, settled) {
      script.matchEvents.push(event)
      settled()
    },
    isCongested: false,
    outcome: 'ok',
    onRpc: async (_context, _method, payload) => ({ ok: true, reply: payload }),
    drain() {
      script.isCongested = false
      const waiting = drained
      drained = []
      for (const listener of waiting) listener()
    },
    hooks: () => calls.map(({ hook, context }) => `${hook} ${context.participant}`),
    serving: () => script.isServing,
    handlesKind: (kind) => script.isServing && script.kinds.has(kind),
    join(context, settled) {
      calls.push({ hook: 'join', context })
      settled()
    },
    leave: (context) => void calls.push({ hook: 'leave', context }),
    message(context, { kind, body, unreliable }, settled) {
      calls.push({ hook: 'message', context, kind, body, unreliable })
      settled(script.outcome)
    },
    rpc(context, method, payload) {
      calls.push({ hook: 'rpc', context, method, payload })
      return script.onRpc(context, method, payload)
    },
    congested: () => script.isCongested,
    onceDrained: (listener) => void drained.push(listener),
  }
  return script
}

function matchLine(event: MatchEvent): string {
  const who = 'participant' in event ? ` ${event.participant}` : ''
  const why = event.event === 'ended' ? ` ${event.termination_reason}` : ''
  return `${event.event} ${event.room_id}${who} (${event.participants})${why}`
}
