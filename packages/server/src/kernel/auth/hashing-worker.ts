import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
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

/** Whether the thread gives way to everybody else: decided when it is started. */
export type HashingThread = { givesWay: boolean }

const niceness = 19

const { givesWay }: HashingThread = workerData
if (givesWay) giveWay()
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
 * Linux keeps a priority per thread; elsewhere this would slow down the whole process. A core whose
 * thread is of the scheduler's idle class is given at once to whoever wakes up, as if nothing ran
 * on it, while one with the lowest priority only is taken for busy. Node.js cannot ask for that
 * class; util-linux can, and where it is missing the priority has to do.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, niceness)
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1)
    if (thread) spawnSync('chrt', ['--idle', '--pid', '0', thread], { stdio: 'ignore' })
  } catch {
    // A sandbox may forbid it. The hashes then compete with the event loop on equal terms.
  }
}
