import type { Clock } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Participant } from '../participants/participant.ts'

/** Named groups of participants that scripts make; a topic exists while somebody is in it. */
export type Topics = {
  /** A join beyond a bound has no effect and is counted. */
  join(topic: string, participant: Participant): void
  leave(topic: string, participant: Participant): void
  leaveAll(participant: Participant): void
  members(topic: string): Iterable<Participant>
}

const perParticipantMax = 64
const topicsMax = 65_536
const membershipsMax = 262_144
const logEveryMs = 1000

type TopicsDeps = { clock: Clock; log: Log; metrics: GatewayMetrics }

export function createTopics({ clock, log, metrics }: TopicsDeps): Topics {
  const topics = new Map<string, Set<Participant>>()
  let loggedAtMs = Number.NEGATIVE_INFINITY

  function refuse(bound: string): void {
    metrics.topic_refused_total += 1
    const nowMs = clock.monotonicMs()
    if (nowMs - loggedAtMs < logEveryMs) return
    loggedAtMs = nowMs
    log.warn('a topic was not joined', { bound })
  }

  function brokenBound(topic: string, participant: Participant): string | undefined {
    if ((participant.topics?.size ?? 0) >= perParticipantMax) return 'topics of a participant'
    if (metrics.topic_memberships_active >= membershipsMax) return 'memberships of the node'
    if (!topics.has(topic) && topics.size >= topicsMax) return 'topics of the node'
    return undefined
  }

  function leave(topic: string, participant: Participant): void {
    const members = topics.get(topic)
    if (members === undefined || !members.delete(participant)) return
    if (members.size === 0) topics.delete(topic)
    participant.topics?.delete(topic)
    if (participant.topics?.size === 0) participant.topics = undefined
    metrics.topic_memberships_active -= 1
    metrics.topics_active = topics.size
  }

  return {
    join(topic, participant) {
      if (participant.topics?.has(topic)) return
      const bound = brokenBound(topic, participant)
      if (bound !== undefined) return refuse(bound)
      participant.topics ??= new Set()
      participant.topics.add(topic)
      const members = topics.get(topic) ?? new Set()
      members.add(participant)
      topics.set(topic, members)
      metrics.topic_memberships_active += 1
      metrics.topics_active = topics.size
    },
    leave,
    leaveAll(participant) {
      for (const topic of participant.topics ?? []) leave(topic, participant)
    },
    members: (topic) => topics.get(topic) ?? [],
  }
}
