import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { createGatewayMetrics } from '../../metrics.ts'
import { newParticipant } from '../participants/participant.ts'
import { createTopics } from './topics.ts'

function open() {
  const clock = createFakeClock()
  const log = createRecordedLog()
  const metrics = createGatewayMetrics()
  let made = 0
  const topics = createTopics({ clock, log, metrics })
  return {
    clock,
    log,
    metrics,
    topics,
    /** A new participant in topics that are called by their numbers. */
    enter(...names: number[]) {
      made += 1
      const participant = newParticipant(made, undefined)
      for (const name of names) topics.join(String(name), participant)
      return participant
    },
  }
}

const range = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at)

test('[R-TOP-2] a node has 65,536 topics, and a place is free again when one ends', () => {
  const { topics, metrics, log, enter } = open()
  for (let from = 0; from < 65_536; from += 64) enter(...range(64, from))
  const late = enter(70_000)
  expect(metrics).toMatchObject({ topics_active: 65_536, topic_refused_total: 1 })
  expect([...topics.members('70000')]).toEqual([])
  expect(log.lines).toMatchObject([{ fields: { bound: 'topics of the node' } }])
  topics.join('3', late)
  expect(topics.members('3')).toContain(late)
  topics.leaveAll(late)
  for (const member of topics.members('5')) topics.leave('5', member)
  topics.join('70000', late)
  expect(metrics).toMatchObject({ topics_active: 65_536, topic_refused_total: 1 })
  expect([...topics.members('70000')]).toEqual([late])
})

test('[R-TOP-2] a node has 262,144 memberships', () => {
  const { topics, metrics, log, enter } = open()
  const first = enter(...range(64))
  for (let count = 1; count < 4096; count += 1) enter(...range(64))
  expect(metrics).toMatchObject({ topic_memberships_active: 262_144, topic_refused_total: 0 })
  const late = enter(1)
  expect(metrics).toMatchObject({ topic_memberships_active: 262_144, topic_refused_total: 1 })
  expect(log.lines).toMatchObject([{ fields: { bound: 'memberships of the node' } }])
  topics.leaveAll(first)
  topics.join('1', late)
  expect(metrics).toMatchObject({ topic_memberships_active: 262_081, topic_refused_total: 1 })
})

test('[R-TOP-2] refusals are all counted, and logged once per second', async () => {
  const { topics, metrics, log, clock, enter } = open()
  const one = enter(...range(64))
  for (let count = 0; count < 100; count += 1) topics.join(`more-${count}`, one)
  topics.join('0', one)
  expect([metrics.topic_refused_total, log.lines.length]).toEqual([100, 1])
  await clock.advance(1000)
  topics.join('more', one)
  expect([metrics.topic_refused_total, log.lines.length]).toEqual([101, 2])
  expect(metrics).toMatchObject({ topics_active: 64, topic_memberships_active: 64 })
})
