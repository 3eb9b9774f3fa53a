import { type Connection, createPlayer, type Room, type Session } from '@guildhall/client'
import {
  type Arena,
  type Happening,
  happeningKind,
  type Snapshot,
  snapshotKind,
  steerKind,
} from './game/protocol.ts'

/** A player without a screen: it runs to the nearest spark. */
export type FighterBot = {
  readonly session: Session
  readonly connection: Connection<Arena>
  readonly room: Room<Arena>
  readonly happenings: readonly Happening[]
  /** The last snapshot that satisfies `holds`, now or later. */
  sees(holds: (snapshot: Snapshot) => boolean): Promise<Snapshot>
  hears(type: Happening['type']): Promise<Happening>
  /** From now on it plays, or stands still. */
  play(isPlaying: boolean): void
}

/** Signs a new player up and enters a room, which is made if it is not there. */
export async function joinArena(baseUrl: string, name: string, roomName: string) {
  const player = createPlayer<Arena>(baseUrl)
  const id = crypto.randomUUID()
  const username = `${name}#${id.slice(0, 6)}`
  const session = await player.signIn.device({ id, create: true, username })
  const connection = await player.connect()
  return fighterIn(await connection.rooms.joinOrCreate(roomName), { session, connection })
}

/** What a reloaded page does: another connection of the same session. */
export async function comeBack(baseUrl: string, session: Session): Promise<FighterBot> {
  const store = { load: () => session, save() {}, clear() {} }
  const player = createPlayer<Arena>(baseUrl, { store })
  await player.restore()
  const connection = await player.connect()
  const room = connection.rooms.current
  if (room === null) throw new Error('the seat was not kept')
  return fighterIn(room, { session, connection })
}

function fighterIn(
  room: Room<Arena>,
  { session, connection }: { session: Session; connection: Connection<Arena> },
): FighterBot {
  const happenings: Happening[] = []
  const waiting = new Set<() => void>()
  let last: Snapshot | undefined
  let isPlaying = false
  const look = () => {
    for (const one of [...waiting]) one()
  }

  room.on(happeningKind, (message) => {
    happenings.push(message.json())
    look()
  })
  room.on(snapshotKind, (message) => {
    last = message.json()
    if (isPlaying) room.send(steerKind, directionIn(last, connection.participant))
    look()
  })

  /** Resolves with the first answer that is not undefined. */
  function until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const again = () => {
        const found = find()
        if (found === undefined) return
        waiting.delete(again)
        resolve(found)
      }
      waiting.add(again)
      again()
    })
  }

  return {
    session,
    connection,
    room,
    happenings,
    sees: (holds) => until(() => (last !== undefined && holds(last) ? last : undefined)),
    hears: (type) => until(() => happenings.find((happening) => happening.type === type)),
    play(next) {
      isPlaying = next
      if (!next) room.send(steerKind, { x: 0, y: 0, dash: false })
    },
  }
}

function directionIn({ players, sparks }: Snapshot, own: number) {
  const me = players.find(({ id }) => id === own)
  if (me === undefined) return { x: 0, y: 0, dash: false }
  const away = ([x, y]: readonly [number, number]) => Math.hypot(x - me.x, y - me.y)
  const [nearest] = sparks.toSorted((one, other) => away(one) - away(other))
  if (nearest === undefined) return { x: 0, y: 0, dash: false }
  return { x: nearest[0] - me.x, y: nearest[1] - me.y, dash: away(nearest) > 250 }
}
