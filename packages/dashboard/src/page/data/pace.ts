/**
 * How often each kind of thing is read again while it is looked at, in milliseconds: all polling of
 * the page is decided here. Hidden tabs read nothing. Where nothing changes a view asks 12 times a
 * minute at most, with the node's status, which is read everywhere; only the overview asks more.
 */
export const pace = {
  /** Plots of the overview, which move by these readings. */
  plots: 2_000,
  /** The state of a room: scripts hand one over at most once a second. */
  state: 1_000,
  /** Captures of lag that go on. */
  captures: 2_000,
  /** Whether the node and its script are well, where that is looked at. */
  script: 6_000,
  /** Nodes, and how the machine does. */
  machine: 10_000,
  /** What changes by hand or by a schedule. */
  calm: 15_000,
  /** What stands beside something that is read more often. */
  beside: 30_000,
  /** The node's samples of a past hour, and of a day. */
  hour: 30_000,
  day: 300_000,
} as const

/** What is younger is not read again because somebody comes back to it. */
export const freshMs = 5_000

/** Lists that come as a whole are read as seldom as if they came in pages of so many rows. */
const pageRows = 200

/** A list that grows costs no more in an hour than a short one. */
export function byLength(everyMs: number, rows: readonly unknown[] = []): number {
  return everyMs * Math.max(1, Math.ceil(rows.length / pageRows))
}

/** Reading a list anew reads each page that was loaded. */
export function byPages(everyMs: number, pages: readonly unknown[]): number {
  return everyMs * Math.max(1, pages.length)
}

/** What is read often while it changes, and seldom once it rests. */
export type Restful = { changingMs: number; restingMs: number }

export const restsAfterMs = 60_000

export const restful = {
  /** A list that is followed. */
  list: { changingMs: 4_000, restingMs: 10_000 },
  /** What players see change: rooms, and their members. */
  rooms: { changingMs: 3_000, restingMs: 10_000 },
  roomsBeside: { changingMs: 3_000, restingMs: 30_000 },
  room: { changingMs: 3_000, restingMs: 20_000 },
  /** The record of a match that goes on. */
  match: { changingMs: 5_000, restingMs: 30_000 },
} as const
