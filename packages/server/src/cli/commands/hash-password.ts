import { schema } from '../../config/schema.ts'
import type { Invocation } from '../arguments.ts'
import { readPassword } from '../password-input.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

const bytesMax = 1_024
const charsAdvised = 12

/**
 * Prints a verifier for `console.password`. It does not read the configuration, which may be what
 * the operator is about to write; the cost is that of the defaults.
 */
export async function hashPassword(
  { json }: Pick<Invocation, 'json'>,
  terminal: Terminal,
): Promise<number> {
  const password = await readPassword(terminal)
  if (password === undefined) return refuse(terminal, 'no password was read')
  if (password === '') return refuse(terminal, 'the password is empty')
  if (Buffer.byteLength(password) > bytesMax) {
    return refuse(terminal, `the password is longer than ${bytesMax} bytes`)
  }
  if (Array.from(password).length < charsAdvised) {
    printLines(terminal.stderr, [
      `warning: fewer than ${charsAdvised} characters are easily guessed`,
    ])
  }

  const { hash } = await import('@node-rs/argon2')
  const { memory_kib, iterations, parallelism } = schema.authentication.hashing
  const verifier = await hash(password, {
    memoryCost: memory_kib.default,
    timeCost: iterations.default,
    parallelism: parallelism.default,
  })
  if (json) printJson(terminal.stdout, { verifier })
  else printLines(terminal.stdout, [verifier])
  return exitCodes.ok
}
