import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import type { Randomness } from '../../kernel/ids.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { beatMs, Link, type LinkDeps } from './link.ts'
import { type Ask, type Content, encodeMessage, type Report } from './messages.ts'

export type EdgeLink = Link<Ask>
export type OwnerLink = Link<Report>
type AnyLink = EdgeLink | OwnerLink

/** The links of a node: to the owners of rooms that its clients are in, and from other edges. */
export type Links = {
  /** The link to an owner, opened when there is none. */
  to(boot: string): EdgeLink
  /** The link to an owner has nothing more to carry for now. */
  idle(link: EdgeLink): void
  received(from: string, content: LinkContent): void
  /** Ends all links with boots that are there no more. */
  endWith(isThere: (boot: string) => boolean): void
  readonly size: number
  stop(): void
}

export type LinkContent = Extract<Content, { type: 'asks' | 'reports' | 'reset' }>

export type LinksDeps = {
  bus: Bus
  bootId: string
  clock: Clock
  randomness: Randomness
  metrics: GatewayMetrics
  /** An edge asks. */
  asked(link: OwnerLink, ask: Ask): void
  /** An owner reports. */
  reported(link: EdgeLink, report: Report): void
  /** Nothing more comes by it, and nothing more goes. */
  edgeLinkOver(link: EdgeLink): void
  ownerLinkOver(link: OwnerLink): void
}

const idBytes = 8
/** Ids of links that are over and must not open again by a late copy of their first message. */
const rememberedMax = 1024
/** A link that carries nobody is closed after so long. */
const idleMs = 10_000

export function createLinks(deps: LinksDeps): Links {
  const { bus, bootId, clock, metrics } = deps
  const owners = new Map<string, EdgeLink>()
  const edges = new Map<string, OwnerLink>()
  const idleSince = new Map<EdgeLink, number>()
  const used = new Set<string>()
  let timer: Timer | undefined

  const linkDeps: LinkDeps = {
    ...{ bus, bootId },
    nowMs: clock.monotonicMs,
    sent(items) {
      metrics.relay_messages_out_total += items
    },
    overflowed(peer, side) {
      const link = side === 'asks' ? owners.get(peer) : edges.get(peer)
      if (link !== undefined) reset(link)
    },
  }

  function changed(): void {
    metrics.relay_links_active = owners.size + edges.size
    if (owners.size + edges.size === 0) {
      timer?.cancel()
      timer = undefined
    } else {
      timer ??= clock.every(beatMs, tick)
    }
  }

  function tick(): void {
    const nowMs = clock.monotonicMs()
    for (const link of [...owners.values(), ...edges.values()]) if (!link.beat()) reset(link)
    for (const [link, sinceMs] of idleSince) {
      if (nowMs - sinceMs < idleMs) continue
      link.send({ type: 'close' })
      link.flush()
      drop(link)
    }
  }

  /** Forgets a link; those who used it are notified. */
  function drop(link: AnyLink): void {
    if (link.isOver) return
    link.end()
    used.add(keyOf(link.id))
    for (const first of used) {
      if (used.size <= rememberedMax) break
      used.delete(first)
    }
    const edgeLink = owners.get(link.peer)
    const ownerLink = edges.get(link.peer)
    if (isSame(edgeLink, link)) {
      owners.delete(link.peer)
      idleSince.delete(edgeLink)
      deps.edgeLinkOver(edgeLink)
    }
    if (isSame(ownerLink, link)) {
      edges.delete(link.peer)
      deps.ownerLinkOver(ownerLink)
    }
    changed()
  }

  function reset(link: AnyLink): void {
    if (link.isOver) return
    metrics.relay_link_resets_total += 1
    sendReset(link.peer, { link: link.id, ofEdge: isSame(owners.get(link.peer), link) })
    drop(link)
  }

  function sendReset(peer: string, about: { link: Uint8Array; ofEdge: boolean }): void {
    bus.send(peer, encodeMessage(bootId, { type: 'reset', ...about }))
  }

  /** The link that an edge's message belongs to; its first message opens it. */
  function linkFrom(peer: string, id: Uint8Array, sequence: number): OwnerLink | undefined {
    const known = edges.get(peer)
    if (known !== undefined && keyOf(known.id) === keyOf(id)) return known
    if (sequence !== 0 || used.has(keyOf(id))) return undefined
    // The edge has given its old one up.
    if (known !== undefined) drop(known)
    const link: OwnerLink = new Link({ peer, id: id.slice(), side: 'reports' }, linkDeps)
    edges.set(peer, link)
    changed()
    return link
  }

  function receivedAsks(from: string, content: Extract<Content, { type: 'asks' }>): void {
    const link = linkFrom(from, content.link, content.sequence)
    if (link === undefined) {
      sendReset(from, { link: content.link, ofEdge: false })
      return
    }
    if (!link.takes(content.sequence)) {
      reset(link)
      return
    }
    metrics.relay_messages_in_total += content.items.length
    for (const item of content.items) {
      if (link.isOver) return
      if (item.type === 'close') drop(link)
      else deps.asked(link, item)
    }
  }

  function receivedReports(from: string, content: Extract<Content, { type: 'reports' }>): void {
    const link = owners.get(from)
    if (link === undefined || keyOf(link.id) !== keyOf(content.link)) {
      sendReset(from, { link: content.link, ofEdge: true })
      return
    }
    if (!link.takes(content.sequence)) {
      reset(link)
      return
    }
    metrics.relay_messages_in_total += content.items.length
    for (const item of content.items) {
      if (link.isOver) return
      deps.reported(link, item)
    }
  }

  return {
    to(boot) {
      const known = owners.get(boot)
      if (known !== undefined) {
        idleSince.delete(known)
        return known
      }
      const id = Uint8Array.from(deps.randomness(idBytes))
      const link: EdgeLink = new Link({ peer: boot, id, side: 'asks' }, linkDeps)
      owners.set(boot, link)
      changed()
      return link
    },
    idle(link) {
      if (!link.isOver) idleSince.set(link, clock.monotonicMs())
    },
    received(from, content) {
      if (content.type === 'asks') return receivedAsks(from, content)
      if (content.type === 'reports') return receivedReports(from, content)
      // `ofEdge` is the side of who sends the reset.
      const link = content.ofEdge ? edges.get(from) : owners.get(from)
      if (link === undefined || keyOf(link.id) !== keyOf(content.link)) return
      metrics.relay_link_resets_total += 1
      drop(link)
    },
    endWith(isThere) {
      for (const link of [...owners.values(), ...edges.values()]) {
        if (!isThere(link.peer)) drop(link)
      }
    },
    get size() {
      return owners.size + edges.size
    },
    stop() {
      for (const link of [...owners.values(), ...edges.values()]) {
        link.flush()
        drop(link)
      }
    },
  }
}

function isSame<L extends AnyLink>(known: L | undefined, link: AnyLink): known is L {
  return known === link
}

function keyOf(id: Uint8Array): string {
  return Buffer.from(id).toString('latin1')
}
