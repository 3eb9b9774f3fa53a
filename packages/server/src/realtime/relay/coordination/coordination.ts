import type { Coordination, Gathered, GatheringRecords } from '../../play/coordination.port.ts'
import type { Participant } from '../../play/participants/participant.ts'
import type { Asks } from '../asks.ts'
import type { Content } from '../messages.ts'
import type { RelayDeps } from '../relay-deps.ts'
import { createCalls } from './calls.ts'
import { createKeptRecords, type KeptRecords, newestOf } from './kept-records.ts'
import { createMatchOrders } from './match-orders.ts'
import { createOfferFeed } from './offer-feed.ts'
import { createPresenceFeed, type PresenceFeed } from './presence-feed.ts'
import { createPresentAccounts, type PresentAccounts } from './present-accounts.ts'
import { createReaching, type Reaching } from './reaching.ts'
import { createRecordFeed } from './record-feed.ts'
import { readOffers, readRecords } from './records.ts'
import { CoordinatorRole, type Holder } from './role.ts'
import { createSayings, type Sayings } from './sayings.ts'

export type CoordinationDeps = Omit<RelayDeps, 'play'> & {
  asks: Asks
  gathered(): Gathered
}

/** What the nodes say to each other about tickets and parties. */
export type CoordinationContent = Extract<Content, { generation: number }>
type OfEdge = Extract<CoordinationContent, { type: 'presence' | 'kept' | 'offers' | 'edgeStops' }>
type OffersContent = Extract<CoordinationContent, { type: 'offers' }>
type OfCoordinator = Exclude<CoordinationContent, OfEdge>

const beatMs = 1000
/** An edge, or a hand-over, that is silent for so long is over, in milliseconds. */
const silenceMs = 5000
const handOverMs = 3000

const nothing: GatheringRecords = { tickets: [], parties: [] }

/** Matchmaker and parties of all nodes, on one of them. */
export function createCoordination(deps: CoordinationDeps) {
  const { bus, membership, clock, metrics, registry, gathered } = deps
  const me = membership.bootId
  const kept = createKeptRecords(clock.monotonicMs)
  const reaching = createReaching(() => gathered().local)
  /** What the edges have said since this node has begun to collect. */
  const collected = new Map<string, GatheringRecords>()
  let isStopping = false

  const say = createSayings({ bus, me, generation: () => role.generation })
  const role = new CoordinatorRole({
    ...deps,
    announce: say.toAll,
    isReachable: () => bus.isUp,
    began,
    serves,
    ended() {
      kept.keep(gathered().records(), true)
      gathered().clear()
      present.clear()
      records.clear()
      metrics.coordinator = 0
    },
    found(holder) {
      feed.begin()
      say.kept(holder.boot, kept.all())
      offers.begin()
    },
  })
  const present = createPresentAccounts({
    clock,
    reach(boot, account, frame, except) {
      if (boot === me) reaching.deliver(account, frame, except)
      else say.reach(boot, { account, except: except ?? null, frame })
    },
    cameOnline: (account) => gathered().cameOnline(account),
    wentOffline: (account) => gathered().wentOffline(account),
    cameTo: (_, account) => gathered().repeat(account),
  })
  const feed = createPresenceFeed({
    registry,
    nowMs: clock.monotonicMs,
    isHeard: () => !isStopping && (role.isMine || role.other !== undefined),
    say(update) {
      if (role.isMine) present.heard(me, update)
      else if (role.other !== undefined) say.presence(role.other.boot, update)
    },
  })
  const offers = createOfferFeed({ gathered, to: () => role.other?.boot, say: say.offers })
  const records = createRecordFeed({
    nowMs: clock.monotonicMs,
    isServing: () => role.state === 'serving',
    bootsOf: present.bootsOf,
    send(boot, of, isAll) {
      if (boot !== me) say.keep(boot, of, isAll)
    },
  })
  const calls = createCalls({ ...deps, ...say, role, present, feed, records })
  const orders = createMatchOrders({ ...deps, present })

  function began(): void {
    collected.clear()
    collected.set(me, kept.all())
    feed.begin()
    beginIfAllSaid()
  }

  function beginIfAllSaid(): void {
    const isMissing = membership.nodes().some(({ boot_id, isGone }) => {
      return !isGone && !collected.has(boot_id)
    })
    if (!isMissing) role.collected()
  }

  function serves(): void {
    metrics.coordinator = 1
    if (role.generation > 1) metrics.takeovers_total += 1
    gathered().restore(newestOf([...collected.values()]))
    const all = gathered().records()
    for (const { boot_id } of membership.nodes()) {
      records.sendAll(boot_id, all, collected.get(boot_id) ?? nothing)
    }
    collected.clear()
    reaching.lost(kept.keep(all, true))
  }

  function keptBy(from: string, value: unknown): void {
    const said = readRecords(value)
    if (said === undefined || !role.isMine) return
    if (role.state === 'serving') {
      records.sendAll(from, gathered().records(), said)
      return
    }
    collected.set(from, said)
    beginIfAllSaid()
  }

  function beat(): void {
    role.check()
    kept.sweep(gathered().local.isOnline)
    if (!role.isMine) {
      feed.beat()
      offers.beat()
      return
    }
    say.toAll('coordinates', role.generation)
    const untilMs = clock.monotonicMs() - silenceMs
    present.forget((boot, heardMs) => {
      return boot !== me && (!membership.isThere(boot) || heardMs < untilMs)
    })
    gathered().offers.forget((boot) => !membership.isThere(boot))
  }
  const taking = { keptBy, gathered }
  const timer = clock.every(beatMs, beat)
  membership.onChange(() => role.check())

  const port: Coordination = {
    ...{ isShared: true, call: calls.call, ...orders, offersChanged: offers.changed },
    accountsOver: () => present,
    ticketChanged: records.ticketChanged,
    partyChanged: records.partyChanged,
  }

  return {
    port,
    touched: (participant: Participant) => feed.touched(participant),
    received: createReception({ role, present, feed, kept, reaching, say, ...taking }),
    /** Hands over what this node coordinates, and says that its clients will be back elsewhere. */
    async leave(): Promise<void> {
      const giveUpAtMs = clock.monotonicMs() + handOverMs
      const wasMine = role.isMine
      await role.handOver()
      while (wasMine && role.hasHeirs && role.other === undefined) {
        const leftMs = giveUpAtMs - clock.monotonicMs()
        if (leftMs <= 0) break
        await role.changed(leftMs)
      }
      feed.flush()
      isStopping = true
      if (role.other !== undefined) say.edgeStops(role.other.boot)
    },
    stop(): void {
      timer.cancel()
      role.stop()
    },
  }
}

type ReceptionDeps = {
  role: CoordinatorRole
  present: PresentAccounts
  feed: PresenceFeed
  kept: KeptRecords
  reaching: Reaching
  say: Sayings
  /** An edge says what it was last sent. */
  keptBy(from: string, records: unknown): void
  gathered(): Gathered
}

/** Takes what coordinator and edges say; what is of an older generation counts for nothing. */
function createReception(deps: ReceptionDeps) {
  const { role, present, feed, kept, reaching, say } = deps

  /** What the coordinator is sent. */
  function ofEdge(from: string, content: OfEdge): void {
    const isForUs = role.isMine && content.generation === role.generation
    if (content.type === 'presence') {
      if (!isForUs) say.notCoordinating(from)
      else if (present.heard(from, content) === 'missed some') say.presenceAgain(from)
    } else if (!isForUs) return
    else if (content.type === 'kept') deps.keptBy(from, content.records)
    else if (content.type === 'offers') offered(from, content)
    else present.stops(from)
  }

  function offered(from: string, { isAll, over, records }: OffersContent): void {
    const said = readOffers(records)
    if (said !== undefined) deps.gathered().offers.offered(from, { isAll, over, records: said })
  }

  /** What an edge is sent. */
  function ofCoordinator({ boot, generation }: Holder, content: OfCoordinator): void {
    if (content.type === 'coordinates') role.heard({ boot, generation })
    else if (content.type === 'notCoordinating') role.refused(boot)
    if (role.other?.boot !== boot || generation !== role.generation) return
    if (content.type === 'presenceAgain') feed.begin()
    else if (content.type === 'reach') {
      const frame = { ...content.frame, message: undefined }
      reaching.deliver(content.account, frame, content.except ?? undefined)
    } else if (content.type === 'keep') {
      const said = readRecords(content.records)
      if (said !== undefined) reaching.lost(kept.keep(said, content.isAll))
    }
  }

  return (from: string, content: CoordinationContent): void => {
    const { type, generation } = content
    const isOfEdge =
      type === 'presence' || type === 'kept' || type === 'offers' || type === 'edgeStops'
    if (isOfEdge) ofEdge(from, content)
    else ofCoordinator({ boot: from, generation }, content)
  }
}
