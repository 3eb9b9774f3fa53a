import type { CallContext } from '../../../../kernel/play/calls.ts'
import type { RoomHooks, StateRoomIdentity } from '../../../../kernel/play/room-hooks.ts'
import type { Label } from '../../../../kernel/play/rooms.ts'
import type { Rooms } from '../rooms.ts'
import { noteProblem, stateLabel } from './label-answers.ts'

type Deps = {
  hooks: Pick<RoomHooks, 'stateCreate' | 'stateDrop' | 'misanswered'>
  rooms: Pick<Rooms, 'expectState' | 'refuseState'>
}
type Making = { context: CallContext; room: StateRoomIdentity & { label: Label }; options: string }

/**
 * Has the script make the state of a room. `give` is called at once with the label of the room that
 * it is for; false when the room is not wanted any more. Answers whether the room has its state.
 */
export async function makeState(
  { hooks, rooms }: Deps,
  { context, room, options }: Making,
  give: (label: Label) => boolean,
): Promise<boolean> {
  rooms.expectState(room.room_id)
  const answer = await hooks.stateCreate(context, { room, options })
  const said = stateLabel(answer, room.label)
  noteProblem(hooks, 'state_create', said)
  if (said.verdict === 'yes' && give(said.value)) return true
  rooms.refuseState(room.room_id)
  hooks.stateDrop(room.room_id)
  return false
}
