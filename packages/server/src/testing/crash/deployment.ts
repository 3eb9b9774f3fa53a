import { fileURLToPath } from 'node:url'
import { consoleApi, Status } from '@guildhall/contract'
import { createSystemClock } from '../../kernel/clock.ts'
import { type Caller, createCaller } from '../api.ts'
import { type NodeProcess, type StartingNode, spawnNodeProcess } from '../node-process.ts'
import { expectSound, untilSealed } from './ending.ts'
import { createModel } from './model.ts'
import { expectSame, expectThat } from './operation.ts'
import type { Random } from './random.ts'
import type { Moment } from './schedule.ts'
import { type Bounds, sectionKeys, tightBounds } from './sections/sections.ts'
import type { CrashStore } from './stores.ts'
import { startLoad } from './traffic/load.ts'
import { connectRooms } from './traffic/room-calls.ts'
import { connectScript } from './traffic/script-calls.ts'

const clock = createSystemClock()
const admin = { username: 'admin', password: 'password' }

/** From the first words of a node until it is ready, when nothing is known yet. */
const firstStartMs = 80

const answersAfterOutage = 200
/** Between the requests of each worker, while the node has yet to notice that all is well. */
const recoveringPauseMs = 100
const recoveryPauseMs = 50
const probeMs = 1200

/** Limits that no load reaches, and leases that a killed node does not keep for long. */
const roomy: Readonly<Record<string, string>> = {
  'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
  'authentication.limits.source.limit': '1000000',
  'authentication.limits.registration_source.limit': '1000000',
  'authentication.limits.console_login.limit': '1000000',
  'authentication.limits.console_login_source.limit': '1000000',
  'scheduler.lease_ttl_ms': '3000',
  'retention.interval_sec': '1',
}

/** One store, with one node after the other, each of which is killed, and what they answered. */
export function createDeployment(store: CrashStore, random: Random, bounds: Bounds = tightBounds) {
  const model = createModel(random, bounds)
  let startMs = firstStartMs
  let lastNode: Pick<NodeProcess, 'output'> | undefined

  const keys = { ...roomy, ...sectionKeys(bounds), 'database.url': store.url }

  function spawn() {
    const options = { cwd: store.folder }
    const starting = spawnNodeProcess({ ...keys, 'server.node_id': store.nextNodeId() }, options)
    lastNode = starting
    return starting
  }

  /** Holds what the killed nodes have left, and what the new one answers, against the model. */
  async function verify(node: NodeProcess) {
    const call = createCaller(node.url)
    const login = await call('POST', '/console/v1/login', { body: admin })
    const { token } = consoleApi.login.ok.parse(login.body)
    const [script, rooms] = await Promise.all([connectScript(node.url), connectRooms(node.url)])
    const operator = { call, token, script, rooms }
    await store.settled()
    await model.verify(store.url, operator)
    return operator
  }

  async function startedIn(starting: StartingNode): Promise<NodeProcess> {
    await starting.speaks
    const spokeAtMs = clock.monotonicMs()
    const node = await starting.ready
    startMs = clock.monotonicMs() - spokeAtMs
    return node
  }

  /** Lets operations come until the moment, and answers once the node was killed at it. */
  async function killInLoad(node: NodeProcess, moment: Moment): Promise<void> {
    const load = startLoad(model, clock)
    try {
      if ('answers' in moment) await load.answers(moment.answers)
      if (moment.during === 'load') await clock.sleep(moment.afterMs)
      if (moment.during === 'shutdown') {
        await clock.sleep(moment.loadMs)
        // A script that ends refuses calls, and says nothing of those it had begun.
        model.traffic.setAway('script')
        process.kill(node.pid, 'SIGTERM')
        await clock.sleep(moment.afterMs)
      }
    } finally {
      // What would still begin would only find nobody.
      const ended = load.stop()
      await node.kill()
      await ended
      model.traffic.setAway(undefined)
    }
    expectNoErrors(node)
  }

  return {
    model,
    /** What the last node said, for whoever looks for the cause of a failure. */
    output: () => lastNode?.output() ?? '',
    /** One start and one kill, with a verification in between if the node became ready. */
    async round(moment: Moment): Promise<void> {
      const starting = spawn()
      try {
        if (moment.during === 'start') {
          const failed = starting.ready.then(() => undefined)
          failed.catch(() => {})
          await starting.speaks
          // A start that fails by itself before is none that was killed.
          const moments = clock.sleep(moment.share * startMs)
          await Promise.race([moments, failed.then(() => moments)])
          return
        }
        const node = await startedIn(starting)
        await verify(node)
        await killInLoad(node, moment)
      } finally {
        await starting.kill()
      }
    },
    /** One node, under load through one failure of its database after the other. */
    async survive(failures: readonly (() => Promise<void>)[]): Promise<void> {
      const starting = spawn()
      try {
        const node = await starting.ready
        const operator = await verify(node)
        for (const fail of failures) {
          model.traffic.setAway('database')
          const load = startLoad(model, clock)
          await fail()
          load.pace(recoveringPauseMs)
          await untilRecovered(operator.call)
          load.pace(0)
          model.traffic.setAway(undefined)
          await load.answers(answersAfterOutage)
          await load.stop()
          await store.settled()
          await model.verify(store.url, operator)
        }
        expectSame(await node.stop(), 0, 'the exit code after a failure of the database')
      } finally {
        await starting.kill()
      }
    },
    /** A last node, which is stopped in order once the trail is sealed. */
    async end(): Promise<void> {
      const starting = spawn()
      try {
        const node = await starting.ready
        await verify(node)
        await untilSealed(store.url, clock)
        expectSame(await node.stop(), 0, 'the exit code of a node that was stopped in order')
        expectNoErrors(node)
        await expectSound(keys)
      } finally {
        await starting.kill()
      }
    },
  }
}

/** Until a probe, of which there is one per second, has found the database in order again. */
async function untilRecovered(call: Caller): Promise<void> {
  for (let upForMs = 0; upForMs < probeMs; ) {
    const ready = await call('GET', '/health/ready')
    const { database } = Status().parse((await call('GET', '/status')).body)
    await clock.sleep(recoveryPauseMs)
    upForMs = ready.status === 200 && database.state === 'up' ? upForMs + recoveryPauseMs : 0
  }
}

/** A node that only served and was killed has nothing to complain of. */
function expectNoErrors(node: NodeProcess): void {
  const complaints = node
    .output()
    .split('\n')
    .filter((line) => / ERROR /.test(line))
  expectThat(complaints.length === 0, `the node complained: ${complaints.join('\n')}`)
}
