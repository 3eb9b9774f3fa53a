/** So many ids are asked for at a time; as part of an address they stay below 8 KiB. */
const idsMax = 100
const bytesMax = 6_000
/** No account has a longer one. */
const idBytesMax = 1_024

/** The ids of one request. */
export type NameBatch = { takes(id: string): boolean; add(id: string): void; all(): string[] }

export function nameBatch(): NameBatch {
  const ids = new Set<string>()
  let bytes = 0
  return {
    takes: (id) => ids.size < idsMax && bytes + sizeOf(id) <= bytesMax,
    add(id) {
      if (!ids.has(id)) bytes += sizeOf(id)
      ids.add(id)
    },
    all: () => [...ids],
  }
}

/**
 * Whether it can be the id of an account. Boards and objects may have other users, whose ids are
 * any text: one that the node refuses would take the names of all others with it.
 */
export function isAsked(id: string): boolean {
  const isBlank = /^[\s\u0085]*$/.test(id)
  const isRefused = isBlank || id.includes(',') || id.includes('\0') || !id.isWellFormed()
  return !isRefused && new TextEncoder().encode(id).length <= idBytesMax
}

/** As it stands in an address, with the comma behind it. */
function sizeOf(id: string): number {
  return encodeURIComponent(id).length + 3
}
