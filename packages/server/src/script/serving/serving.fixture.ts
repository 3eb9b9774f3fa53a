import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { NewCall, Outcome } from '../calls.ts'
import { createHostCallAnswerer } from '../functions/host-calls.ts'
import { createInbox } from '../inbox.ts'
import type { Failed } from '../log/failure-log.ts'
import { createScriptMetrics } from '../metrics.ts'
import { noPorts } from '../ports.ts'
import { createCallReader } from '../wire/call-records.ts'
import type { Handlers } from '../wire/hooks.ts'
import { callStatuses, op } from '../wire/output-records.ts'
import type { CallBatch, ToWorker } from '../wire/protocol.ts'
import { ServingScript } from './serving-script.ts'

const config = { deadline_ms: 100, call_timeout_ms: 10_000 }

/** A call as a test makes it. */
export function newCall({
  hook,
  participant = 0,
  room_id = null,
  settle = () => {},
  ...more
}: Partial<NewCall> & Pick<NewCall, 'hook'> & { participant?: number; room_id?: number | null }) {
  const context = { ...nobody, participant, room_id }
  return { hook, context, origin: 'player', settle, ...more } satisfies NewCall
}

/** Scripts under one clock and one inbox, before workers whose answers the test makes. */
export function createScripts() {
  const clock = createFakeClock()
  const log = createRecordedLog()
  const inbox = createInbox({ inbox_calls: 8192, inbox_bytes: 16_777_216 })
  const metrics = createScriptMetrics()
  const failed: Failed[] = []
  /** What has come of the states of rooms. */
  const states: string[] = []
  const ports: typeof noPorts = {
    ...noPorts,
    states: {
      ...noPorts.states,
      deliverState: ({ room_id }) => void states.push(`${room_id} is sent`),
      saveState: ({ room_id }) => void states.push(`${room_id} is saved`),
    },
  }
  let generation = 0

  /** A script that serves; `settled` is called for what it ends when it does so no longer. */
  function open(
    hooks: Handlers['hooks'] = [],
    settled: (script: ServingScript) => void = () => {},
  ) {
    const script = new ServingScript({
      config,
      clock,
      processClock: clock,
      log,
      metrics,
      inbox,
      ports,
      hostCalls: createHostCallAnswerer({ functions: {}, tier: 'trusted', log }),
      view: { handlerFailed: (each) => failed.push(each), callEnded() {} },
      nodeTime: () => undefined,
      stateRoomCount: () => 0,
      settled,
    })
    const batches: CallBatch[] = []
    const post = (message: ToWorker) => void (message.type === 'batch' && batches.push(message))
    generation += 1
    const identity = {
      revision_id: `sha256:${generation}`,
      generation,
      handlers: { rpcs: [], message_kinds: [], hooks, filters: [], schedules: [], rooms: [] },
    }
    const started = script.start({ post, ping() {}, isAttached: false }, identity, {
      reason: 'boot',
    })
    const receive = (words: readonly number[], answered = 0, texts: string[] = []) =>
      script.receive({
        type: 'batch',
        answered,
        words: words.length,
        buffer: Float64Array.from(words).buffer,
        texts,
        calls: [],
        stopped: [],
      })
    return {
      script,
      started,
      batches,
      /** All calls that the worker got, as hook and participant. */
      got: () => batches.flatMap(readCalls),
      answered: (count: number) => receive([], count),
      done: (id: number, status: Outcome['status'] & (typeof callStatuses)[number] = 'ok') =>
        receive([op.done, id, callStatuses.indexOf(status), 0, 0, 0, -1]),
      receive,
    }
  }

  return { open, inbox, clock, failed, metrics, states }
}

function readCalls(batch: CallBatch) {
  const read = createCallReader(batch)
  return Array.from({ length: batch.calls }, (_, n) => {
    const { id, hook, participant, detail } = read(n)
    return { id, hook, participant, detail }
  })
}
