import { createScriptTurns } from '../connection/inbound/script-turns.ts'
import type { Others } from '../play/others.port.ts'
import { nowhere } from '../play.port.ts'
import type { OwnerLink } from './links.ts'
import type { Ask } from './messages.ts'
import type { RelayDeps } from './relay-deps.ts'
import { Visitor, type VisitorDeps } from './visitor.ts'

/** The participants of other nodes that are in rooms of this one. */
export function createOwnerSide(
  deps: RelayDeps & {
    others: Pick<Others, 'topic'>
    /** A participant has its connection on this node now. */
    forward(participant: number, boot: string): void
  },
) {
  const { play } = deps
  const byLink = new Map<OwnerLink, Map<number, Visitor>>()
  /** Dropped participants whose edge is still to say what it had not sent. */
  const awaited = new Map<OwnerLink, Set<number>>()
  const turns = createScriptTurns({
    congested: () => play().port.script.congested(),
    onceDrained: (listener) => play().port.script.onceDrained(listener),
  })
  const visitorDeps: VisitorDeps = {
    get port() {
      return play().port
    },
    get visits() {
      return play().visits
    },
    awaitTurn: turns.await,
    awaitUnsent({ participant, link }) {
      awaited.set(link, (awaited.get(link) ?? new Set()).add(participant))
      play().visits.awaitUnsent(participant)
    },
    awaitReturn({ participant, link: { peer } }) {
      play().visits.awaitReturn(participant, () => deps.membership.isThere(peer))
    },
    returned({ participant, link }) {
      deps.forward(participant, link.peer)
      for (const topic of play().visits.topicsOf(participant)) {
        deps.others.topic(topic, participant, true)
      }
    },
    over(visitor) {
      turns.forget(visitor)
      const visitors = byLink.get(visitor.link)
      visitors?.delete(visitor.number)
      if (visitors?.size === 0) byLink.delete(visitor.link)
    },
  }

  function add(link: OwnerLink, number: number, participant: number): Visitor {
    const visitor = new Visitor({ number, participant, link }, visitorDeps)
    const visitors = byLink.get(link) ?? new Map<number, Visitor>()
    byLink.set(link, visitors.set(number, visitor))
    return visitor
  }

  async function claim(link: OwnerLink, ask: Extract<Ask, { type: 'claim' }>): Promise<void> {
    const { port, visits } = play()
    const { visit, account, participant } = ask
    const refuse = () => link.send({ type: 'claimed', visit, participant: null, place: nowhere })
    const found =
      participant === null ? visits.claimOwn(account) : visits.claim(participant, account)
    if (found === undefined) return refuse()
    const { participant: id, place } = found instanceof Promise ? await found : found
    if (link.isOver) return port.leave(id, 'kept', [])
    add(link, visit, id)
    link.send({ type: 'claimed', visit, participant: id, place })
  }

  return {
    get size() {
      return byLink.size
    },
    asked(link: OwnerLink, ask: Ask): void {
      if (ask.type === 'close') return
      if (ask.type === 'claim') return void claim(link, ask)
      if (ask.type === 'unsent') {
        awaited.get(link)?.delete(ask.participant)
        unsent(ask)
        return
      }
      const known = byLink.get(link)?.get(ask.visit)
      if (known !== undefined) {
        known.asked(ask)
        return
      }
      if (ask.type === 'enter') add(link, ask.visit, ask.participant).asked(ask)
    },
    linkOver(link: OwnerLink): void {
      const visitors = byLink.get(link)
      for (const visitor of [...(visitors?.values() ?? [])]) visitor.depart('kept', true)
      for (const participant of awaited.get(link) ?? []) play().visits.addUnsent(participant, [])
      awaited.delete(link)
    },
  }

  function unsent(ask: Extract<Ask, { type: 'unsent' }>): void {
    const frames = ask.frames.map((frame) => ({ ...frame, message: undefined }))
    play().visits.addUnsent(ask.participant, frames)
  }
}
