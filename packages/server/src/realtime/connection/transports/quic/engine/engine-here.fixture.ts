import { MessageChannel } from 'node:worker_threads'
import { type Clock, createSystemClock } from '../../../../../kernel/clock.ts'
import { loadCore } from './core.ts'
import { memoryBytesMax, mendEngine, readEngineFile } from './core-file.ts'
import { engineCounterNames } from './engine.ts'
import { type EngineNews, type EngineParts, type EngineStart, hostEngine } from './engine-host.ts'
import { AddressRefused, createEngine, type startEngineThread } from './engine-thread.ts'

let here: EngineParts | undefined

/**
 * Starts an engine on the thread of the test, from a core that was loaded once: a thread of its own
 * takes a third of a second of computing, and scenarios start hundreds.
 */
export const startEngineHere: typeof startEngineThread = async (options, events) => {
  here ??= await partsOf(createSystemClock())
  return start(here, options, events)
}

/** All the memory of that core, which never becomes less. */
export function engineMemoryBytes(): number {
  return here?.core.exports.memory.buffer.byteLength ?? 0
}

/** The same, where the engine's time is that of the node: it passes when the test says so. */
export const startEngineInNodeTime: typeof startEngineThread = async (options, events) =>
  start(await partsOf(options.clock), options, events)

/** The same, from a core of its own whose memory can become so large only. */
export function smallEngine(pages: number) {
  let parts: EngineParts | undefined
  const startEngine: typeof startEngineThread = async (options, events) => {
    const bytes = Buffer.from(mendEngine(await readEngineFile()))
    // The memory section, with its maximum as a number of two bytes.
    bytes.set([(pages & 0x7f) | 0x80, pages >> 7], bytes.indexOf('010115ff7f', 'hex') + 3)
    const clock = createSystemClock()
    const core = loadCore(Uint8Array.from(bytes), clock)
    parts = { core, memoryBytesMax: pages * 64 * 1024, clock }
    return start(parts, options, events)
  }
  return { startEngine, memoryBytes: () => parts?.core.exports.memory.buffer.byteLength ?? 0 }
}

async function partsOf(clock: Clock): Promise<EngineParts> {
  return { core: loadCore(mendEngine(await readEngineFile()), clock), memoryBytesMax, clock }
}

type Start = Parameters<typeof startEngineThread>

async function start(parts: EngineParts, options: Start[0], events: Start[1]) {
  const { clock, unmended, ...others } = options
  const counters = new SharedArrayBuffer(engineCounterNames.length * 8)
  const begin: EngineStart = { ...others, counters }
  const { port1: node, port2: thread } = new MessageChannel()
  const ended = new Promise<undefined>((resolve) => node.once('close', () => resolve(undefined)))
  const news = new Promise<EngineNews>((resolve) => node.once('message', resolve))
  hostEngine(thread, parts, begin)
  const first = await news
  if ('refused' in first) throw new AddressRefused(first.refused.code, first.refused.text)
  const line = {
    postMessage: (message: unknown, transfer?: ArrayBuffer[]) =>
      node.postMessage(message, transfer),
    onMessage: (take: (message: unknown) => void) => void node.on('message', take),
    ended,
    terminate: () => node.close(),
  }
  return createEngine({ line, counters, address: first.listening, events, clock })
}
