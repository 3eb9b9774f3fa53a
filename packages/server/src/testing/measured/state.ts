import { frameHeaderBytes } from '@guildhall/contract'
import { StateEncoder } from '@guildhall/contract/state'
import { readDefinition } from '../../script/worker/rooms/definition.ts'
import { RoomFollowers } from '../../script/worker/rooms/room-followers.ts'
import { StateCopy } from '../../script/worker/rooms/state-copy.ts'
import type { StateMarks } from '../../script/worker/rooms/state-marks.ts'
import { StateTracker } from '../../script/worker/rooms/state-tracker.ts'

/**
 * CPU time of the walks through the state of a room: the one that ends a slice, and the one that
 * packs a sync. In microseconds, round by round, for the benchmarks.
 */
type Options = { rounds: number; seconds: number }
type Player = { x: number; y: number; angle: number; hp: number; name: string }
type World = { players: { [name: string]: Player } }

const options: Options = JSON.parse(process.argv[2] ?? '')
const decimals = 2
const changes = 10

const cases = {
  idle: { bytes: 20_480, moved: 0, tracked: false },
  moving: { bytes: 1_024, moved: Number.POSITIVE_INFINITY, tracked: false },
  some: { bytes: 20_480, moved: changes, tracked: false },
  some_tracked: { bytes: 20_480, moved: changes, tracked: true },
  large: { bytes: 250_000, moved: changes, tracked: false },
  large_tracked: { bytes: 250_000, moved: changes, tracked: true },
}
type Name = keyof typeof cases

const measured = Object.keys(cases).map((name) => prepare(name as Name))
for (let round = 0; round <= options.rounds; round += 1) {
  // The first one is for the compiler.
  for (const { run, took } of measured) {
    const us = run()
    if (round > 0) took.push(us)
  }
}
const facts = measured.map(
  ({ name, took }) => `${name}_us=${took.map((us) => us.toFixed(2)).join()}`,
)
process.stdout.write(`ready ${facts.join(' ')} card_bytes=${cardBytes().toFixed(1)}\n`)

/** Two states alike: what one needs for its writes alone is subtracted. */
function prepare(name: Name) {
  const { bytes, moved, tracked } = cases[name]
  const [world, bare] = [worldOf(bytes), worldOf(bytes)]
  const tracker = tracked ? new StateTracker() : undefined
  if (tracker !== undefined) tracker.state = world
  const copy = new StateCopy()
  const encoder = new StateEncoder(decimals)
  const follow = (): void => {
    const marks: StateMarks | undefined = tracker === undefined ? 'all' : tracker.takeMarks()
    if (marks === undefined || !copy.update(world, marks)) return
    encoder.compare(copy.value)
  }
  follow()
  const moves = mover(tracker === undefined ? world : (tracker.state as World), moved)
  const bareMoves = mover(bare, moved)
  const run = () => {
    const writes = cpuUsOf(bareMoves)
    const all = cpuUsOf(() => {
      moves()
      follow()
    })
    return Math.max(0, all - writes)
  }
  return { name, run, took: [] as number[] }
}

function worldOf(bytes: number): World {
  const world: World = { players: {} }
  let left = bytes
  for (let n = 0; left > 0; n += 1) {
    const player = { x: n + 0.5, y: 50.25, angle: 1.5, hp: 100, name: `player ${n}` }
    world.players[`p-${n}`] = player
    left -= JSON.stringify(player).length + `"p-${n}":,`.length
  }
  return world
}

/** Moves so many players, others each time. */
function mover({ players }: World, most: number): () => void {
  const names = Object.keys(players)
  const count = Math.min(most, names.length)
  let at = 0
  return () => {
    for (let n = 0; n < count; n += 1) {
      at = (at + 7) % names.length
      const player = players[names[at] ?? '']
      if (player === undefined) continue
      player.x += n % 2 === 0 ? 0.25 : -0.25
      if (count < names.length) continue
      player.y += n % 2 === 0 ? -0.75 : 0.75
      player.angle = (player.angle + 0.25) % 6
    }
  }
}

/** Of a message, where each of eight players in turn puts a card of the own hand onto the table. */
function cardBytes(): number {
  type Table = { pile: string[]; turn: number; hands: { [player: string]: string[] } }
  const definition = readDefinition(
    'cards',
    {
      create: () => ({}),
      view: ({ pile, turn, hands }: Table) => {
        const counts = Object.entries(hands).map(([player, hand]) => [player, hand.length])
        return { top: pile.at(-1) ?? null, turn, counts: Object.fromEntries(counts) }
      },
      own: ({ hands }: Table, { participant }: { participant: number }) => hands[participant] ?? [],
    },
    undefined,
  )
  const followers = new RoomFollowers(definition, 1, 0)
  const table: Table = { pile: [], turn: 1, hands: {} }
  for (let player = 1; player <= 8; player += 1) {
    followers.add({ participant: player, user_id: null, username: null })
    table.hands[player] = Array.from({ length: 8 }, (_, n) => `${n + 2}${'SHDC'[player % 4]}`)
  }
  let bytes = 0
  let messages = 0
  // The numbers of the places travel with the whole, and with the first round.
  for (let turn = 0; turn < 64; turn += 1) {
    const synced = followers.sync(table, null)
    for (const { body, participants } of turn > 8 ? synced : []) {
      bytes += (frameHeaderBytes + body.length) * participants.length
      messages += participants.length
    }
    const hand = table.hands[table.turn] ?? []
    table.pile.push(...hand.splice(turn % hand.length, 1))
    table.turn = (table.turn % 8) + 1
  }
  return bytes / messages
}

/** Of one of so many runs as take the seconds on a core, whatever else the machine does. */
function cpuUsOf(work: () => void): number {
  const before = process.cpuUsage()
  let runs = 0
  let us = 0
  for (let batch = 1; us < options.seconds * 1e6; batch = Math.min(2 * batch, 256)) {
    for (let n = 0; n < batch; n += 1) work()
    runs += batch
    const { user, system } = process.cpuUsage(before)
    us = user + system
  }
  return us / runs
}
