import type { Bus } from '../../kernel/cluster/bus.ts'
import type { Directory } from '../../kernel/cluster/directory.ts'
import type { Membership } from '../../kernel/cluster/membership.ts'
import type { Send } from '../../kernel/play/delivery.ts'
import { slotOf } from '../counting-ids.ts'
import type { Others } from '../play/others.port.ts'
import type { Local } from '../play/participants/local.ts'
import { type Content, encodeMessage } from './messages.ts'

export type EverywhereDeps = {
  bus: Bus
  directory: Directory
  membership: Membership
  /** What of a message of another node is for this one. */
  local(): Local
}

/** A forwarded envelope goes on this often at most. */
const hopsMax = 2
/** Participants of this node that have their connection on another one. */
const forwardsMax = 65_536

/** What reaches participants wherever they are. */
export function createEverywhere({ bus, directory, membership, local }: EverywhereDeps) {
  const forwards = new Map<number, string>()
  const encode = (content: Content) => encodeMessage(membership.bootId, content)

  /** The node that knows where a participant is. */
  function bootOf(participant: number): string | undefined {
    const slot = slotOf(participant)
    if (slot === membership.slot) return forwards.get(participant)
    return membership.nodes().find((node) => node.slot === slot && !node.isGone)?.boot_id
  }

  function send({ participants, ...envelope }: Send, hops: number): void {
    const byBoot = new Map<string, number[]>()
    for (const participant of participants) {
      const boot = bootOf(participant)
      if (boot === undefined || boot === membership.bootId) continue
      byBoot.set(boot, [...(byBoot.get(boot) ?? []), participant])
    }
    for (const [boot, there] of byBoot) {
      bus.send(boot, encode({ type: 'send', ...envelope, participants: there, hops }))
    }
  }

  const others: Others = {
    send: (command) => send(command, 0),
    broadcast({ topic, room_id: _, except, ...command }) {
      const whom = { except: [...except], topic: topic ?? null }
      bus.sendAll(encode({ type: 'broadcast', ...command, ...whom }))
    },
    push(userIds, kind, body) {
      const user_ids = userIds === null ? null : [...userIds]
      bus.sendAll(encode({ type: 'push', user_ids, kind, body }))
    },
    topic(topic, participant, isJoin) {
      bus.sendAll(encode({ type: 'topic', topic, participant, isJoin }))
    },
    async online(userIds) {
      if (userIds.length === 0) return new Set()
      const { sessions } = await directory.placesOf(userIds)
      const there = sessions.filter(({ boot_id }) => membership.isThere(boot_id))
      return new Set(there.map(({ user_id }) => user_id))
    },
  }

  return {
    others,
    /** A participant of this node, or of another one, has its connection elsewhere now. */
    forward(participant: number, boot: string): void {
      const home = slotOf(participant)
      if (home !== membership.slot) {
        const there = bootOf(participant)
        if (there === undefined || there === boot) return
        bus.send(there, encode({ type: 'forward', participant, boot }))
        return
      }
      forwards.delete(participant)
      forwards.set(participant, boot)
      for (const first of forwards.keys()) {
        if (forwards.size <= forwardsMax) break
        forwards.delete(first)
      }
    },
    /** False for what is none of these messages. */
    take(content: Content): boolean {
      const here = local()
      if (content.type === 'send') {
        const { hops, type: _, ...command } = content
        here.send(command)
        const rest = command.participants.filter((participant) => !here.isHere(participant))
        if (rest.length > 0 && hops < hopsMax) send({ ...command, participants: rest }, hops + 1)
      } else if (content.type === 'broadcast') {
        const { type: _, topic, ...command } = content
        here.broadcast({ ...command, room_id: null, topic: topic ?? undefined })
      } else if (content.type === 'push') here.push(content.user_ids, content.kind, content.body)
      else if (content.type === 'topic') {
        here.topic(content.topic, content.participant, content.isJoin)
      } else return false
      return true
    },
  }
}
