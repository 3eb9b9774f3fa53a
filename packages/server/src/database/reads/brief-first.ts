/** Thrown by a read that was to be brief when it has more rows than it may take at once. */
export type Attempt = { isLong: boolean }

type Ways<T> = { brief: (attempt: Attempt) => Promise<T>; long: () => Promise<T> }

/**
 * Which reads are long shows when their rows come: each is tried as a brief one first, so that a
 * list of three does not wait for an export of a million.
 */
export async function briefFirst<T>({ brief, long }: Ways<T>): Promise<T> {
  const attempt = { isLong: false }
  try {
    const answer = await brief(attempt)
    // Also when the body made something of the failure.
    if (!attempt.isLong) return answer
  } catch (error) {
    if (!attempt.isLong) throw error
  }
  return long()
}

/** To be called before more rows are taken. */
export function goOn(attempt: Attempt | undefined): void {
  if (!attempt) return
  attempt.isLong = true
  throw new Error('this read is long and is begun anew among the long ones')
}
