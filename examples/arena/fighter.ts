import { type Connection, createPlayer, type Room, type Session } from '@guildhall/client'
import { type Arena, steerKind } from './game/protocol.ts'

/** A player without a screen: it runs to the nearest spark. */
export type FighterBot = {
  readonly session: Session
  readonly connection: Connection<Arena>
  readonly room: Room<Arena>
  /** The first view that satisfies `holds`, now or later. */
  sees(holds: (view: View) => boolean): Promise<View>
  /** From now on it plays, or stands still. */
  play(isPlaying: boolean): void
}

type View = NonNullable<Room<Arena>['state']>

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
  const waiting = new Set<(view: View) => void>()
  let isPlaying = false

  const run = (view: View) => room.send(steerKind, directionIn(view, connection.participant))
  room.on('state', (view) => {
    if (isPlaying) run(view)
    for (const look of [...waiting]) look(view)
  })

  return {
    session,
    connection,
    room,
    sees: (holds) =>
      new Promise((resolve) => {
        const look = (view: View) => {
          if (!holds(view)) return
          waiting.delete(look)
          resolve(view)
        }
        waiting.add(look)
        if (room.state !== undefined) look(room.state)
      }),
    play(next) {
      isPlaying = next
      // Where nothing moves, no state comes.
      if (next && room.state !== undefined) run(room.state)
      if (!next) room.send(steerKind, { x: 0, y: 0, dash: false })
    },
  }
}

function directionIn({ players, sparks }: View, own: number) {
  const me = players.find(({ id }) => id === own)
  if (me === undefined) return { x: 0, y: 0, dash: false }
  const away = ([x, y]: readonly [number, number]) => Math.hypot(x - me.x, y - me.y)
  const [nearest] = sparks.toSorted((one, other) => away(one) - away(other))
  if (nearest === undefined) return { x: 0, y: 0, dash: false }
  return { x: nearest[0] - me.x, y: nearest[1] - me.y, dash: away(nearest) > 250 }
}
