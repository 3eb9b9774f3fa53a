/** Where an object stands: the system's have an empty owner. */
export type Place = { collection: string; key: string; owner: string }

/** Names the owner in a request; without one it is the system. */
export function ownerQuery(owner: string | null): { user_id?: string } {
  return owner ? { user_id: owner } : {}
}
