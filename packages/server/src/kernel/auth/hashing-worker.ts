import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'
import { lowerThreadPriority } from '../tasks/thread-priority.ts'

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

lowerThreadPriority()
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
