import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { placeOwner } from './placement.fixture.ts'

/**
 * The scenarios of play once more, with the owner of the rooms in another gateway that the edge
 * reaches by messages.
 */
const scenarios = [
  './general.test.ts',
  './connection/dispatch/dispatch.test.ts',
  './play/rooms/rooms.test.ts',
  './play/rooms/room-rules.test.ts',
  './play/rooms/room-ends.test.ts',
  './play/rooms/room-races.test.ts',
  './play/rooms/presence.test.ts',
  './play/rooms/requests/room-entry.test.ts',
  './play/rooms/rooms-list.test.ts',
  './play/seats/seats.test.ts',
  './play/parties/parties.test.ts',
  './play/matchmaker/matchmaker.test.ts',
] as const

/** What means something else, or nothing, where edge and owner are apart. */
const together: ReadonlyMap<string, string> = new Map([
  [
    '[R-GEN-7, R-BP-4] a room may lose its last member in the step that enters it',
    'queues of the edge fill when the step of the owner is over',
  ],
  [
    '[R-RET-3] what had not left yet is kept as far as it means something to who returns',
    'frames are still under way when the connection is lost',
  ],
  [
    '[R-ROOM-5, R-ROOM-10] the 1,001st member of a room is refused',
    'the room of the owner counts its members alike',
  ],
])

beforeAll(() => placeOwner('bus'))
afterAll(() => placeOwner('together'))

beforeEach(({ task, skip }) => {
  const reason = together.get(task.name)
  if (reason !== undefined) skip(reason)
})

describe.each(scenarios)('over a bus: %s', async (path) => {
  // By a name of its own, a file is loaded again that has run in this process before.
  await import(/* @vite-ignore */ `${path}?over=bus`)
})
