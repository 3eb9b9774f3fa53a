import { type Json, parseExact, plainFailure, type RpcFailure } from '@guildhall/contract'

type More = Omit<RpcFailure, 'message'>

/** Code and data of a failing handler, as they travel to the node: two lines. */
export function writeFailure(code: string, dataJson: string): string {
  return `${code}\n${dataJson}`
}

/** What a worker has written, of which nothing can be taken for granted. */
export function readFailure(bytes: Uint8Array): More {
  if (bytes.length === 0) return plainFailure
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const end = text.indexOf('\n')
    // JSON says nothing else.
    return { code: text.slice(0, end), data: parseExact(text.slice(end + 1)) as Json }
  } catch {
    return plainFailure
  }
}
