/**
 * What an error says and what caused it, on one line and without a stack: for what an operator can
 * put right, such as `the database cannot be reached: connect ECONNREFUSED 127.0.0.1:5432`.
 */
export function reasonOf(error: unknown): string {
  const said: string[] = []
  let cause = error
  for (let depth = 0; cause !== undefined && depth < causesMax; depth += 1) {
    const message = messageOf(cause)
    if (message !== '' && !said.includes(message)) said.push(message)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return said.join(': ')
}

const causesMax = 5

/** A name with several addresses fails with one error for each, and says nothing of its own. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  if (!(thrown instanceof AggregateError) || thrown.message !== '') return thrown.message
  return thrown.errors.map(messageOf).join(', ')
}
