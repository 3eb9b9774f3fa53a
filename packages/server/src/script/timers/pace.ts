/** How many groups of rooms, one after the other, tick in one turn. */
export type Pace = {
  /** Asked when the first group is due: until it is due again, so many tick at once. */
  begin(): void
  readonly together: number
  /** A group has ticked, or has no room. */
  took(group: number, tick: { rooms: number; cpuUs: number }): void
}

/** So many rooms tick at once, and use so much, if each group is as the largest one. */
const roomsAtOnce = 16
const atOnceUs = 1_000
/** After so many ticks the number is looked at anew. */
const lookEvery = 64
/** What counts of a tick beside those before it. */
const share = 1 / 16

/**
 * Every tick wakes both processes, and begins with cold caches: where the ticks of groups are
 * short, several are due at once. They always begin at two moments at least, so half of the rooms
 * never wait for the other half.
 */
export function createPace(groups: number): Pace {
  let together = 1
  let wanted = 1
  let seen = 0
  const used = new Float64Array(groups)
  const counts = new Float64Array(groups)

  function fits(count: number, mostUs: number): boolean {
    return count * Math.max(...counts) <= roomsAtOnce && count * Math.max(...used) <= mostUs
  }

  return {
    begin() {
      together = wanted
    },
    get together() {
      return together
    },
    took(group, { rooms, cpuUs }) {
      const before = used[group] ?? 0
      used[group] = before === 0 || rooms === 0 ? cpuUs : before + (cpuUs - before) * share
      counts[group] = rooms
      if (rooms === 0) return
      seen += 1
      if (seen % lookEvery !== 0) return
      if (2 * together <= groups / 2 && fits(2 * together, atOnceUs)) wanted = 2 * together
      // Twice as much time, or the number would change again and again.
      else if (together > 1 && !fits(together, 2 * atOnceUs)) wanted = together / 2
    },
  }
}
