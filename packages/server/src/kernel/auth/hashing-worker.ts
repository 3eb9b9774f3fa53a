import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'

/** What one thread of the password hashing is asked, one question at a time. */
export type HashingQuestion =
  | { kind: 'hash'; password: string; salt: Uint8Array; options: HashingOptions }
  | { kind: 'verify'; password: string; verifier: string }

export type HashingAnswer = { value: string | boolean } | { error: string }

export type HashingOptions = {
  memoryCost: number
  timeCost: number
  parallelism: number
  outputLen: number
}

/** The lowest: it gives way to the event loop, and still gets something when that never rests. */
const niceness = 19

lowerOwnPriority()
parentPort?.on('message', (question: HashingQuestion) => {
  parentPort?.postMessage(answer(question))
})

function answer(question: HashingQuestion): HashingAnswer {
  try {
    if (question.kind === 'verify') {
      return { value: verifySync(question.verifier, question.password) }
    }
    return { value: hashSync(question.password, { ...question.options, salt: question.salt }) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Linux keeps a priority per thread; elsewhere this would slow down the whole process. A thread of
 * the scheduler's idle class counts as no work at all when a core is sought for somebody else, so
 * its core is given to whoever wakes up. Node.js cannot ask for that class, util-linux can.
 */
function lowerOwnPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, niceness)
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1)
    if (thread) spawnSync('chrt', ['--idle', '--pid', '0', thread], { stdio: 'ignore' })
  } catch {
    // A sandbox may forbid it. The hashes then compete with the event loop on equal terms.
  }
}
