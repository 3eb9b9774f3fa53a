import type {
  MatchContext,
  RoomMember,
  SeatTimes,
  scriptHooks,
  TerminationReason,
} from '@guildhall/contract'
import type { z } from 'zod'
import type { CallContext } from './calls.ts'
import type { Label, OpenRoom, ScriptBinding } from './rooms.ts'

/**
 * What a hook that answers returned. `absent`: nothing answers, and the default holds (no script,
 * no handler; for creations also no worker). `failed`: the handler raised an error, ran out of
 * time or lost its worker, or no worker serves a revision that had the hook `on_room_join`.
 */
export type HookAnswer =
  | { status: 'absent' }
  | { status: 'failed' }
  /** `value` is what the handler returned, as JSON; undefined or null when it returned nothing. */
  | { status: 'answered'; value: unknown }

/** The hooks whose answers rooms and matches read, and what makes the state of a room. */
export type AnsweringHook =
  | 'state_create'
  | 'on_room_create'
  | 'on_room_join'
  | 'on_matchmaker_add'
  | 'on_matchmaker_matched'

/** A room as the definition of its state needs it. */
export type StateRoomIdentity = {
  definition: string
  room_id: number
  match_id: string
  name: string | null
  label: Label
}

/** A ticket as its owner wants it, with every member. */
export type TicketRequest = z.output<(typeof scriptHooks)['on_matchmaker_add']['args']['request']>

/** What the node has kept of a room whose worker is gone. */
export type KeptRoom = StateRoomIdentity & {
  members: Pick<RoomMember, 'participant' | 'user_id' | 'username'>[]
  /** As JSON, as it was behind the sync of this number. */
  state: string
  seq: number
}

/** The part of the game's script that keeps the state of rooms. Nothing here throws or rejects. */
export type StateHooks = {
  /** Whether the script that serves has a definition of this name. */
  definesRoom(name: string): boolean
  /** Makes the state of a room that is about to be made. The answer is `{label?}`. */
  stateCreate(
    context: CallContext,
    call: { room: StateRoomIdentity; options: string },
  ): Promise<HookAnswer>
  /** The room was not made after all. */
  stateDrop(roomId: number): void
  /** A member follows the state from now on, or does not any more. */
  stateWatch(context: CallContext, isOn: boolean): void
}

/** The part of the game's script that rooms and matches need. Nothing here throws or rejects. */
export type RoomHooks = StateHooks & {
  /** The readiness gate of `require_script`; every false is counted as a rejection. */
  admit(): boolean
  /** The same gate, looked at without counting. */
  gateOpen(): boolean
  /** What a room made now is bound to; null on nodes that do not require a script. */
  binding(): ScriptBinding | null
  /** `on_room_create`; `options` is JSON text of an object. */
  roomCreate(
    context: CallContext,
    call: { name: string | null; options: string },
  ): Promise<HookAnswer>
  /** `on_room_join`, or `admit` of the definition of its state. */
  roomJoin(
    context: CallContext,
    call: { room: OpenRoom; options: string; hasState?: boolean },
  ): Promise<HookAnswer>
  /** `on_matchmaker_add`; undefined where nobody is to be asked. */
  ticketAdd(context: CallContext, request: TicketRequest): Promise<HookAnswer> | undefined
  /** `on_matchmaker_matched`. */
  matched(call: { room_id: number; members: MatchedMember[] }): Promise<HookAnswer>
  /** What a hook has answered is none of its answers: it counts as a handler that has failed. */
  misanswered(hook: AnsweringHook, problem: string): void
  /** `on_drop`: the connection is lost, the seat is kept. In order with the participant's calls. */
  drop(context: CallContext, seat: SeatTimes): void
  /** `on_return`; `settled` is called when nothing more comes of it, which may be at once. */
  returned(context: CallContext, seat: SeatTimes, settled: () => void): void
  /**
   * The five match hooks, in order for each room. `settled` is called once the handler has
   * returned, has timed out, has lost its worker, or at once when there is none.
   */
  match(event: MatchEvent, settled: () => void): void
}

export type TicketProperties = Readonly<Record<string, string | number | bigint>>

export type MatchedMember = {
  user_id: string | null
  participant: number
  properties: TicketProperties
}

/** The room right after an event, and the worker that it keeps to, which scripts do not see. */
export type BoundMatch = MatchContext & { binding: ScriptBinding | null }

/** What happened to a match; the hook is `on_match_` and the event. */
export type MatchEvent = BoundMatch &
  (
    | { event: 'created' | 'started' }
    | {
        event: 'join'
        participant: number
        user_id: string | null
        /** Only handlers of a definition get it. */
        username?: string | null
        properties: TicketProperties | null
      }
    | { event: 'leave'; participant: number; user_id: string | null; username?: string | null }
    | { event: 'ended'; termination_reason: TerminationReason }
  )
