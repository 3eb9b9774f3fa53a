/** Players who all move: what the product and its baselines send is the same. */
export type Mover = { x: number; y: number; angle: number; hp: number }

export function place(index: number): Mover {
  return { x: 10 * index, y: 5 * index, angle: index, hp: 100 }
}

/** One tick of a walk that turns now and then. */
export function move(mover: Mover, dt: number): void {
  mover.angle = (mover.angle + (Math.random() - 0.5) * 0.4) % 6
  mover.x = Math.abs(mover.x + Math.cos(mover.angle) * 4 * dt)
  mover.y = Math.abs(mover.y + Math.sin(mover.angle) * 4 * dt)
  if (Math.random() < 0.05) mover.hp = mover.hp > 1 ? mover.hp - 1 : 100
}

/** Some 20 KB of players, of whom a few move at a tick. */
export const crowd = 340
export const movesOfCrowd = 10

export function oneOfCrowd(): string {
  return String(Math.floor(Math.random() * crowd))
}

/** The moment of a tick, as a text that is found in the bytes of a message. */
export function stamp(): string {
  const [seconds, nanoseconds] = process.hrtime()
  return `${stampBegins}${seconds * 1e6 + Math.floor(nanoseconds / 1000)}~`
}

/** Microseconds of the clock that all processes of the machine share follow it. */
export const stampBegins = '~at:'
