import { connect } from 'node:net'
import { readJsonLine } from './json-line.ts'

/** What a node answered; without a problem there is a value. */
export type NodeAnswer = { readonly value: unknown } | { readonly problem: string }

const noNode = 'no node runs with this configuration on this machine, or it is of another user'

/** Sends a command to the node that listens at `path`, and waits for as long as it takes. */
export async function askNode(
  path: string,
  command: string,
  argument?: unknown,
): Promise<NodeAnswer> {
  const socket = connect(path)
  try {
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
  } catch {
    return { problem: noNode }
  }
  socket.on('error', () => {})
  socket.write(`${JSON.stringify({ command, argument })}\n`)
  const answer = await readJsonLine(socket)
  socket.destroy()
  if (typeof answer !== 'object' || answer === null) {
    return { problem: 'the node ended before it answered' }
  }
  if ('value' in answer) return { value: answer.value }
  return { problem: 'problem' in answer ? String(answer.problem) : 'the node gave no answer' }
}
