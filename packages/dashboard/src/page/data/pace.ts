/**
 * How often each kind of thing is read again while it is looked at, in milliseconds: all polling of
 * the page is decided here. Hidden tabs read nothing.
 */
export const pace = {
  /** Plots of the overview, which move by these readings. */
  plots: 2_000,
  /** The state of a room: scripts hand one over at most once a second. */
  state: 1_000,
  /** What players see change: rooms and their members. */
  rooms: 3_000,
  /** Captures of lag that go on. */
  captures: 2_000,
  /** The script, what fails in it, and whether the node is ready. */
  script: 5_000,
  /** What changes by hand or by a schedule. */
  calm: 15_000,
} as const

/** A list that is followed: each so often while it changes, and half as often once it rests. */
export const following = { changingMs: 4_000, restingMs: 10_000, restsAfterMs: 60_000 } as const
