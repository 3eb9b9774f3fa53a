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

/** Linux keeps a priority per thread; elsewhere this would slow down the whole process. */
function lowerOwnPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox may forbid it. The hashes then compete with the event loop on equal terms.
  }
}
