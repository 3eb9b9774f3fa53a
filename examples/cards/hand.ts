import {
  type Connection,
  createPlayer,
  type PlayerOptions,
  type Room,
  type Session,
} from '@guildhall/client'
import type { Cards } from './game/protocol.ts'
import { fits } from './game/table.ts'

/** A player without a screen. */
export type Hand = {
  readonly session: Session
  readonly connection: Connection<Cards>
  readonly room: Room<Cards>
  /** The first view that satisfies `holds`, now or later. */
  sees(holds: (view: View) => boolean): Promise<View>
  /** In its turn plays the first card that fits, else draws; resolves when that is seen. */
  move(): Promise<void>
  /** From now on it moves whenever it is its turn. */
  play(): void
}

type View = NonNullable<Room<Cards>['state']>

/** Signs a new player up and sits down, at a new table if there is none of that name. */
export async function sitDown(
  baseUrl: string,
  { name, table, options }: { name: string; table: string; options?: PlayerOptions },
): Promise<Hand> {
  const player = createPlayer<Cards>(baseUrl, options)
  const id = crypto.randomUUID()
  const username = `${name}#${id.slice(0, 6)}`
  const session = await player.signIn.device({ id, create: true, username })
  const connection = await player.connect({ transport: 'websocket' })
  const room = await connection.rooms.joinOrCreate(table, {
    mode: 'cards',
    seats: 2,
    turn_ms: 4000,
  })
  return handIn(room, { session, connection })
}

/** The same player with another connection, as after a restart of its game. */
export async function comeBack(baseUrl: string, session: Session): Promise<Hand> {
  const store = { load: () => session, save() {}, clear() {} }
  const player = createPlayer<Cards>(baseUrl, { store })
  await player.restore()
  const connection = await player.connect({ transport: 'websocket' })
  const room = connection.rooms.current
  if (room === null) throw new Error('the seat was not kept')
  return handIn(room, { session, connection })
}

function handIn(
  room: Room<Cards>,
  { session, connection }: { session: Session; connection: Connection<Cards> },
): Hand {
  const waiting = new Set<(view: View) => void>()
  let isPlaying = false
  let isMoving = false

  async function move(): Promise<void> {
    const { top, moves } = await sees(({ turn }) => turn === connection.participant)
    const card = room.own?.find((held) => fits(held, top ?? ''))
    if (card === undefined) await connection.rpc('draw')
    else await connection.rpc('play', { card })
    await sees((view) => view.moves > moves)
  }

  async function moveInTurn(): Promise<void> {
    if (!isPlaying || isMoving || room.state?.turn !== connection.participant) return
    isMoving = true
    try {
      await move()
    } catch {
      // The turn is over, or the script is not there: the next state says how it goes on.
    }
    isMoving = false
  }

  function sees(holds: (view: View) => boolean): Promise<View> {
    return new Promise((resolve) => {
      const look = (view: View) => {
        if (!holds(view)) return
        waiting.delete(look)
        resolve(view)
      }
      waiting.add(look)
      if (room.state !== undefined) look(room.state)
    })
  }

  room.on('state', (view) => {
    for (const look of [...waiting]) look(view)
    void moveInTurn()
  })

  return {
    session,
    connection,
    room,
    sees,
    move,
    play() {
      isPlaying = true
      void moveInTurn()
    },
  }
}
