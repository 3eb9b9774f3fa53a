import type { Steer } from '../game/protocol.ts'

const directions: Readonly<Record<string, readonly [x: number, y: number]>> = {
  KeyW: [0, -1],
  ArrowUp: [0, -1],
  KeyS: [0, 1],
  ArrowDown: [0, 1],
  KeyA: [-1, 0],
  ArrowLeft: [-1, 0],
  KeyD: [1, 0],
  ArrowRight: [1, 0],
}

/** Calls `changed` whenever the keys say something new. */
export function listenToKeys(changed: (steer: Steer) => void): void {
  const held = new Set<string>()
  let last = ''
  const look = () => {
    const steer: Steer = { x: 0, y: 0, dash: held.has('Space') }
    for (const code of held) {
      const [x, y] = directions[code] ?? [0, 0]
      steer.x += x
      steer.y += y
    }
    const text = JSON.stringify(steer)
    if (text !== last) changed(steer)
    last = text
  }
  addEventListener('keydown', (event) => {
    if (event.target instanceof HTMLInputElement) return
    if (event.code === 'Space' || event.code in directions) event.preventDefault()
    held.add(event.code)
    look()
  })
  addEventListener('keyup', ({ code }) => {
    held.delete(code)
    look()
  })
  addEventListener('blur', () => {
    held.clear()
    look()
  })
}
