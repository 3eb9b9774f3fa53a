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
 * Has the script make the state of a room. Answers with the label of the room that it is for;
 * undefined where it has failed, or when the room is not wanted any more.
 */
export async function makeState(
  { hooks, rooms }: Deps,
  { context, room, options }: Making,
  isWanted: () => boolean,
): Promise<Label | undefined> {
  rooms.expectState(room.room_id)
  const answer = await hooks.stateCreate(context, { room, options })
  const said = stateLabel(answer, room.label)
  noteProblem(hooks, 'state_create', said)
  if (said.verdict === 'yes' && isWanted()) return said.value
  rooms.refuseState(room.room_id)
  hooks.stateDrop(room.room_id)
  return undefined
}
