/**
 * Waits for statements that were sent together in a transaction. The first that failed is the one
 * that says why: those behind it only say that the transaction has failed, and may say so earlier.
 */
export async function inTheirOrder<const T extends readonly Promise<unknown>[]>(
  sent: T,
): Promise<{ -readonly [at in keyof T]: Awaited<T[at]> }> {
  const results = await Promise.allSettled(sent)
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return Promise.all(sent)
}
