import { StringDecoder } from 'node:string_decoder'
import type { Terminal, TerminalInput } from './terminal.ts'

/** Enough for every password that is allowed, and a bound for what is not. */
const bytesMax = 8_192

/**
 * Reads a password: from the terminal without echo, or one line of standard input. Undefined when
 * the person at the terminal gave up, and for input that is not UTF-8.
 */
export async function readPassword({ stdin, stderr }: Terminal): Promise<string | undefined> {
  if (!stdin.isTTY) return readLine(stdin)
  stderr.write('Password: ')
  stdin.setRawMode?.(true)
  try {
    return await readHidden(stdin)
  } finally {
    stdin.setRawMode?.(false)
    stderr.write('\n')
  }
}

async function readLine(stdin: TerminalInput): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let filled = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    filled += bytes.length
    if (bytes.includes(newline) || filled > bytesMax) break
  }
  const input = Buffer.concat(chunks)
  const end = input.indexOf(newline)
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return decoder.decode(end < 0 ? input : input.subarray(0, end)).replace(/\r$/, '')
  } catch {
    return undefined
  }
}

const newline = 0x0a

async function readHidden(stdin: TerminalInput): Promise<string | undefined> {
  const decoder = new StringDecoder('utf8')
  let typed: string[] = []
  for await (const chunk of stdin) {
    for (const char of decoder.write(Buffer.from(chunk))) {
      if (char === '\r' || char === '\n') return typed.join('')
      if (char === interrupt || char === endOfInput) return undefined
      if (char === backspace || char === '\b') typed = typed.slice(0, -1)
      else if (typed.length < bytesMax) typed.push(char)
    }
  }
  return undefined
}

const interrupt = '\u0003'
const endOfInput = '\u0004'
const backspace = '\u007f'
