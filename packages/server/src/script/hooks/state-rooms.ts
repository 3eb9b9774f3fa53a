import { stringifyExact } from '@guildhall/contract'
import { type CallContext, nobody } from '../../kernel/play/calls.ts'
import type { HookAnswer, KeptRoom, StateHooks } from '../../kernel/play/room-hooks.ts'
import type { NewCall, Outcome } from '../calls.ts'
import type { ScriptPorts } from '../ports.ts'
import type { Router } from '../serving/router.ts'
import type { ServingScript } from '../serving/serving-script.ts'
import { hookCode, type RoomDefinitionSummary } from '../wire/hooks.ts'
import { answerOf } from './answers.ts'

type StateRoomsDeps = {
  router: Pick<Router, 'active' | 'call' | 'pick'>
  states: () => ScriptPorts['states']
}

/** Which rooms have state, and the calls about it. */
export type StateRooms = ReturnType<typeof createStateRooms>

export function createStateRooms({ router, states }: StateRoomsDeps) {
  /** The definition of each room with state, by its name. */
  const rooms = new Map<number, string>()
  /** Rooms whose restore may be what a worker has ended with. */
  const suspects = new Set<number>()

  function definition(
    name: string,
    script: ServingScript | undefined,
  ): RoomDefinitionSummary | undefined {
    return script?.identity.handlers.rooms.find((each) => each.name === name)
  }

  function ask(call: Omit<NewCall, 'settle'>): Promise<HookAnswer> {
    return new Promise((resolve) => {
      router.call({ ...call, settle: (outcome: Outcome) => resolve(answerOf(outcome)) })
    })
  }

  const hooks: StateHooks = {
    definesRoom: (name) => definition(name, router.active) !== undefined,
    async stateCreate(context, { room, options }) {
      const { room_id, match_id } = room
      const text = `${stringifyExact(room).slice(0, -1)},"options":${options}}`
      const about = { ...context, room_id, match_id }
      const answer = await ask({
        ...{ hook: hookCode.state_create, origin: 'player', text },
        context: about,
      })
      if (answer.status === 'answered') rooms.set(room_id, room.definition)
      return answer
    },
    stateDrop(room_id) {
      forget(room_id)
      const context = { ...nobody, room_id }
      router.call({ hook: hookCode.state_drop, context, origin: 'server', settle() {} })
    },
    stateWatch(context, isOn) {
      const detail = isOn ? 1 : 0
      router.call({ hook: hookCode.state_watch, context, origin: 'player', detail, settle() {} })
    },
  }

  /** The script that is about to serve makes the states again, before it is given anything else. */
  function restore(script: Pick<ServingScript, 'call'>, kept: KeptRoom): void {
    const { room_id, match_id, state, ...room } = kept
    const text = `${stringifyExact({ room_id, match_id, ...room }).slice(0, -1)},"state":${state}}`
    const context = { ...nobody, room_id, match_id }
    const settle = (outcome: Outcome) => {
      // A worker that is lost again leaves what is kept to the next one.
      if (outcome.status === 'lost' || isSuspectedFirst(outcome, room_id)) return
      suspects.delete(room_id)
      states().restoredState(room_id, outcome.status === 'ok')
    }
    script.call({ hook: hookCode.state_restore, context, origin: 'server', text, settle })
  }

  /** One room must not cost all the others that were restored beside it: each has another try. */
  function isSuspectedFirst(outcome: Outcome, roomId: number): boolean {
    const isSuspect = outcome.status === 'timed_out' && outcome.isSuspect === true
    if (!isSuspect || suspects.has(roomId)) return false
    suspects.add(roomId)
    return true
  }

  function forget(roomId: number): void {
    rooms.delete(roomId)
    suspects.delete(roomId)
  }

  return {
    hooks,
    has: (roomId: number) => rooms.has(roomId),
    count: () => rooms.size,
    ended: forget,
    /** What the room of a call is defined by; undefined for a room without state. */
    definitionOf(context: Pick<CallContext, 'room_id'>): RoomDefinitionSummary | undefined {
      const name = context.room_id === null ? undefined : rooms.get(context.room_id)
      if (name === undefined) return undefined
      return definition(name, router.pick({ context })) ?? noDefinition
    },
    admit: (context: CallContext, roomId: number, options: string) =>
      ask({
        ...{ hook: hookCode.on_room_join, context, origin: 'player', detail: roomId },
        text: `{"options":${options},"about":null}`,
      }),
    restoreAll(script: Pick<ServingScript, 'call'>): void {
      for (const room of states().keptRooms()) restore(script, room)
    },
  }
}

/** Of a room whose definition the script has not any more, until the room has ended. */
const noDefinition: RoomDefinitionSummary = { name: '', tick_hz: 0, kinds: [], methods: [] }
