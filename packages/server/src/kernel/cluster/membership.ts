import type { Clock, Timer } from '../clock.ts'
import type { Log } from '../log/log.ts'
import type { ClusterSettings, NodeDirectory, NodeRow, NodeState, SeenBoot } from './directory.ts'

/**
 * A boot's place among the nodes, held by a row that it renews.
 *
 * | state     | what it does                                        | what comes next            |
 * |-----------|-----------------------------------------------------|----------------------------|
 * | believed  | it renewed lately: nobody can have taken it over    | doubted, lost, left        |
 * | doubted   | the answer is overdue: what is single is suspended  | believed, lost, left       |
 * | lost      | its slot is another one's, or could not be renewed  | believed, by a new slot    |
 * | left      | it has given the slot back                          |                            |
 *
 * All times are of this node's monotonic clock; the clock of the database decides nothing.
 */
export class Membership {
  readonly #deps: MembershipDeps
  readonly #boots = new Map<string, Watched>()
  readonly #listeners = new Set<() => void>()
  #slot = 0
  #nodeState: NodeState = 'live'
  #believedUntilMs = Number.NEGATIVE_INFINITY
  #renewedAtMs = 0
  #epoch = 0
  #wasBelieved = false
  #lastReadMs: number | undefined
  #reading: Promise<void> | undefined
  #timer: Timer | undefined
  #left = false

  constructor(deps: MembershipDeps) {
    this.#deps = deps
  }

  /**
   * Takes a slot and begins to renew it.
   *
   * @throws ClusterMismatch beside a live node with other settings
   */
  async start(): Promise<void> {
    await this.#claim()
    await this.#read()
    this.#expectAlike()
    this.#plan(this.#stepMs)
  }

  /** 1 to 4095; part of every id of a participant or room that is made from here on. */
  get slot(): number {
    return this.#slot
  }

  get bootId(): string {
    return this.#deps.node.boot_id
  }

  get state(): NodeState {
    return this.#nodeState
  }

  /** Whether no other node can have taken over what this one has. */
  holdsLease(): boolean {
    const holds = this.#deps.clock.monotonicMs() < this.#believedUntilMs
    if (this.#wasBelieved && !holds) this.#epoch += 1
    this.#wasBelieved = holds
    return holds
  }

  /** Grows with every loss of belief: what was asked in an earlier one counts for nothing. */
  epoch(): number {
    this.holdsLease()
    return this.#epoch
  }

  /** All boots with a slot, this one included, as they were last read. */
  nodes(): NodeView[] {
    return Array.from(this.#boots.values(), viewOf)
  }

  node(bootId: string): NodeView | undefined {
    const watched = this.#boots.get(bootId)
    return watched && viewOf(watched)
  }

  /** The boot that has a slot, read anew when it is not known. */
  async bootOfSlot(slot: number): Promise<NodeView | undefined> {
    const known = this.#bySlot(slot)
    if (known !== undefined) return known
    await this.refresh().catch(() => {})
    return this.#bySlot(slot)
  }

  /** A boot that can be asked: it has a slot and has renewed it. */
  isThere(bootId: string): boolean {
    const watched = this.#boots.get(bootId)
    return watched !== undefined && !watched.isGone
  }

  /** Boots that have not renewed for the life of a lease; their names may be taken over. */
  gone(): SeenBoot[] {
    return [...this.#boots.values()].filter(({ isGone }) => isGone).map(({ row }) => row)
  }

  /** Nothing new is to be placed here from now on. */
  async drain(): Promise<void> {
    this.#nodeState = 'draining'
    await this.#renew()
  }

  /** Calls `listener` after every reading of the nodes, and when belief has changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Reads the nodes now; those who ask meanwhile share the answer. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Gives the slot back. */
  async stop(): Promise<void> {
    this.#left = true
    this.#timer?.cancel()
    this.#believedUntilMs = Number.NEGATIVE_INFINITY
    await this.#deps.directory.leave(this.bootId)
  }

  get #stepMs(): number {
    return this.#deps.leaseMs / 3
  }

  #bySlot(slot: number): NodeView | undefined {
    const watched = this.#boots.values().find(({ row }) => row.slot === slot)
    return watched && viewOf(watched)
  }

  #plan(delayMs: number): void {
    if (this.#left) return
    this.#timer = this.#deps.clock.after(delayMs, () => void this.#step())
  }

  async #step(): Promise<void> {
    const { clock, log } = this.#deps
    const startedMs = clock.monotonicMs()
    try {
      await Promise.all([this.#renew(), this.refresh()])
    } catch (error) {
      log.warn('the directory of the nodes does not answer', { error })
      this.#doubtAll()
    }
    await this.#freeLongGone()
    const tookMs = clock.monotonicMs() - startedMs
    if (clock.monotonicMs() - this.#renewedAtMs > slotKeptMs) await this.#lose()
    this.#plan(Math.max(0, this.#stepMs - tookMs))
    this.#notify()
  }

  async #claim(): Promise<void> {
    const { directory, clock, node } = this.#deps
    const askedMs = clock.monotonicMs()
    this.#slot = await directory.claimSlot({ ...node, state: this.#nodeState })
    this.#renewedAtMs = askedMs
    this.#believedUntilMs = askedMs + (this.#deps.leaseMs * 2) / 3
    this.#wasBelieved = this.holdsLease()
  }

  async #renew(): Promise<void> {
    const { directory, clock, load } = this.#deps
    const askedMs = clock.monotonicMs()
    const report = { slot: this.#slot, boot_id: this.bootId, state: this.#nodeState, ...load() }
    const isOwn = await directory.renew(report)
    if (this.#left) return
    if (!isOwn) return this.#lose()
    // An answer that comes late does not make up for the time without one.
    this.holdsLease()
    this.#renewedAtMs = askedMs
    this.#believedUntilMs = askedMs + (this.#deps.leaseMs * 2) / 3
    this.#wasBelieved = this.holdsLease()
  }

  /** Others may have everything that was single here: it begins anew, under another slot. */
  async #lose(): Promise<void> {
    this.#believedUntilMs = Number.NEGATIVE_INFINITY
    this.holdsLease()
    this.#deps.log.error('the slot of this node is lost', { slot: this.#slot })
    this.#deps.onLost()
    try {
      await this.#claim()
    } catch (error) {
      this.#deps.log.warn('no new slot could be taken yet', { error })
    }
  }

  async #read(): Promise<void> {
    const { clock, directory } = this.#deps
    const askedMs = clock.monotonicMs()
    const rows = await directory.nodes()
    const answeredMs = clock.monotonicMs()
    // A reading that took long, or came long after the one before, proves no silence in between:
    // the database may have been away, and the others could not renew either.
    const isSteady =
      answeredMs - askedMs <= this.#stepMs &&
      this.#lastReadMs !== undefined &&
      askedMs - this.#lastReadMs <= 2 * this.#stepMs
    this.#lastReadMs = answeredMs
    const isFirst = this.#boots.size === 0
    const known = new Set(rows.map(({ boot_id }) => boot_id))
    for (const bootId of this.#boots.keys()) if (!known.has(bootId)) this.#boots.delete(bootId)
    for (const row of rows) this.#watch(row, { askedMs, answeredMs, isSteady, isFirst })
    this.#notify()
  }

  #watch(row: NodeRow, read: Reading): void {
    const before = this.#boots.get(row.boot_id)
    const isSame = before !== undefined && before.row.renewals === row.renewals
    const sinceMs = isSame && read.isSteady ? before.sinceMs : read.answeredMs
    const firstSeenMs = isSame ? before.firstSeenMs : read.answeredMs
    const isSilent = read.askedMs - sinceMs >= this.#deps.leaseMs
    const isGone = row.boot_id !== this.bootId && isSame && (before.isGone || isSilent)
    const wasThere = before === undefined ? !read.isFirst : before.wasThere || !isSame
    if (isGone && !before?.isGone && wasThere) {
      this.#deps.log.warn('a node is gone', { gone_node_id: row.node_id, slot: row.slot })
    }
    this.#boots.set(row.boot_id, { row, sinceMs, firstSeenMs, wasThere, isGone })
  }

  /** A reading has failed: nobody was seen to be silent since the one before. */
  #doubtAll(): void {
    this.#lastReadMs = undefined
  }

  async #freeLongGone(): Promise<void> {
    const { clock, directory } = this.#deps
    for (const { row, firstSeenMs, isGone } of this.#boots.values()) {
      if (!isGone || clock.monotonicMs() - firstSeenMs < slotKeptMs) continue
      await directory.free(row).catch(() => false)
    }
  }

  /** @throws ClusterMismatch */
  #expectAlike(): void {
    const { settings } = this.#deps.node
    for (const { row, isGone } of this.#boots.values()) {
      if (isGone || row.boot_id === this.bootId) continue
      for (const [key, value] of Object.entries(settings)) {
        const theirs = row.settings[key]
        if (theirs === value) continue
        throw new ClusterMismatch(
          `${key} is ${value} here and ${theirs} on the node ${row.node_id}: ` +
            'all nodes of a database need the same',
        )
      }
    }
  }

  #notify(): void {
    this.holdsLease()
    for (const listener of this.#listeners) listener()
  }
}

export type MembershipDeps = {
  directory: NodeDirectory
  clock: Clock
  log: Log
  node: { node_id: string; boot_id: string; version: string; settings: ClusterSettings }
  /** Life of a row that is not renewed, in milliseconds. */
  leaseMs: number
  /** What the row says of the node's load. */
  load(): { rooms: number; connections: number }
  /** Its slot is another one's: everything that has an id of it must end. */
  onLost(): void
}

export type NodeView = NodeRow & {
  /** It has not renewed for the life of a lease. */
  isGone: boolean
  /** When its last renewal was seen, on the monotonic clock. */
  seenMs: number
}

/** Thrown by a start beside a live node with other settings; the process ends with exit code 2. */
export class ClusterMismatch extends Error {
  override readonly name = 'ClusterMismatch'
}

type Reading = {
  askedMs: number
  answeredMs: number
  isSteady: boolean
  /** What it finds may have ended long ago. */
  isFirst: boolean
}

type Watched = {
  row: NodeRow
  /** Since when it was read again and again without a renewal. */
  sinceMs: number
  /** When this renewal was first seen. */
  firstSeenMs: number
  /** It has come, or renewed, after the first reading. */
  wasThere: boolean
  isGone: boolean
}

function viewOf({ row, isGone, firstSeenMs }: Watched): NodeView {
  return { ...row, isGone, seenMs: firstSeenMs }
}

/** A slot is kept this long for a boot that does not renew, in milliseconds. */
const slotKeptMs = 600_000
