import { parentPort, workerData } from 'node:worker_threads'
import { createSystemClock } from '../../../../../kernel/clock.ts'
import { loadCore } from './core.ts'
import { memoryBytesMax } from './core-file.ts'
import { type EngineStart, hostEngine } from './engine-host.ts'

/** What the thread begins with. */
export type EngineThreadStart = EngineStart & {
  /** The engine's file, mended. */
  engine: Uint8Array<ArrayBuffer>
}

if (parentPort !== null) {
  const { engine, ...options }: EngineThreadStart = workerData
  const clock = createSystemClock()
  hostEngine(parentPort, { core: loadCore(engine, clock), memoryBytesMax, clock }, options)
}
