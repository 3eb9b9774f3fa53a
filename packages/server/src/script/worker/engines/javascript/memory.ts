import { writeSync } from 'node:fs'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { protocolTimes } from '../../../wire/limits.ts'
import { memoryBytesMax } from '../../watchdog/memory-bounds.ts'
import { reportFd } from '../../watchdog/watchdog-protocol.ts'

/**
 * Holds what a script keeps to its memory: objects and what hangs on them outside of the engine's
 * heap, such as buffers, whether they have been written to or not. The engine itself only bounds
 * the objects.
 */
export type MemoryBound = {
  /** Looks at what is kept. Does not return when it is too much: the process ends. */
  check(): void
}

export function createMemoryBound(memoryMb: number, exit: (code: number) => void): MemoryBound {
  const bytesMax = memoryBytesMax(memoryMb)
  const { wait } = Atomics
  const collect = collector()
  const [statistics, write] = [getHeapStatistics, writeSync]

  function isExceeded(): boolean {
    const { used_heap_size, external_memory } = statistics()
    return used_heap_size + external_memory > bytesMax
  }

  return {
    check() {
      if (!isExceeded()) return
      // What is no longer in use must not count. Buffers are freed beside the first collection,
      // and the second one waits for that.
      collect()
      collect()
      if (!isExceeded()) return
      write(reportFd, 'memory\n')
      // The node ends the process when it has read why.
      wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, protocolTimes.lastWordsMs)
      exit(1)
    },
  }
}

/** The engine's collector, which the script itself does not see. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return () => collect()
}
