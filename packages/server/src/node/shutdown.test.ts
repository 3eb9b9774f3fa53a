import { expect, it } from 'vitest'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import { Shutdown } from './shutdown.ts'

function prepare() {
  const clock = createFakeClock()
  const log = createRecordedLog()
  const ran: string[] = []
  const shutdown = new Shutdown(clock, log)
  const step = (name: string, durationMs = 0) => {
    shutdown.onStop(name, async () => {
      ran.push(name)
      if (durationMs > 0) await clock.sleep(durationMs)
    })
  }
  return { clock, log, ran, shutdown, step }
}

it('[O-STP-2] closes in the opposite order of the start, also behind a step that fails', async () => {
  const { log, ran, shutdown, step } = prepare()
  step('database')
  shutdown.onStop('script', async () => {
    throw new Error('no')
  })
  step('listener')
  expect(await shutdown.run(1000)).toBe(false)
  expect(ran).toEqual(['listener', 'database'])
  expect(log.lines.map(({ message }) => message)).toEqual(['a step of the shutdown failed'])
})

it('[O-STP-3] abandons the rest at the deadline, and says where it was and what is lost', async () => {
  const { clock, log, ran, shutdown, step } = prepare()
  shutdown.onCountRows(() => 3)
  step('database')
  step('queues', 5000)
  step('drain delay', 800)
  const stopping = shutdown.run(1000)
  await clock.advance(1000)
  expect(await stopping).toBe(false)
  await clock.advance(10_000)
  expect(ran).toEqual(['drain delay', 'queues'])
  expect(log.lines).toEqual([
    expect.objectContaining({
      message: 'the shutdown passed its deadline',
      fields: { unfinished_step: 'queues', rows_not_written: 3 },
    }),
  ])
})

it('[O-STP-1] closes at once what a cancelled start opens after its end', async () => {
  const { ran, shutdown, step } = prepare()
  step('database')
  expect(await shutdown.run(1000)).toBe(true)
  step('late')
  expect(ran).toEqual(['database', 'late'])
})

it('[O-STP-2] says nothing when it ends in time', async () => {
  const { clock, log, ran, shutdown, step } = prepare()
  step('database', 10)
  const stopping = shutdown.run(1000)
  await clock.advance(10)
  expect(await stopping).toBe(true)
  await clock.advance(5000)
  expect([ran, log.lines]).toEqual([['database'], []])
})
