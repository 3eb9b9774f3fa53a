import { resolve } from 'node:path'
import { type Fault, quoted } from '../problem.ts'
import { typeName } from '../values/values.ts'
import type { Raw } from './assignment.ts'
import { FileFault, readTextFile } from './files.ts'

const bytesMax = 65_536
const allowed = 'the path of a readable file of at most 64 KiB of UTF-8 text'

type SecretText = { text: string; readableByOthers: boolean }

/** Reads the secret from the file that a `_FILE` variable or a `_file` key names. */
export function readSecretFile(raw: Raw, base: string): SecretText | { fault: Fault } {
  const path = raw.kind === 'text' ? raw.text : raw.value
  if (typeof path !== 'string') return { fault: { wrong: `is ${typeName(path)}`, allowed } }
  if (!/\S/.test(path) || path.includes('\0')) {
    return { fault: { wrong: 'names no file', allowed } }
  }
  try {
    const { text, readableByOthers } = readTextFile(resolve(base, path), bytesMax)
    const secret = text.replace(/\r?\n$/, '')
    if (secret === '') return { fault: { wrong: `the file ${quoted(path)} is empty`, allowed } }
    return { text: secret, readableByOthers }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return { fault: { wrong: `the file ${quoted(path)} ${error.message}`, allowed } }
  }
}
