import type { Flash } from '../game/protocol.ts'
import { fighterRadius, height, pillars, sparkRadius, width } from '../game/world.ts'
import { colourOf } from './colours.ts'
import type { View } from './motion.ts'

type FighterSeen = View['players'][number]
type Burst = { x: number; y: number; colour: string; startedMs: number }

const burstMs = 500
/** Pixels of the window that belong to scores and hints. */
const spaceAbove = 76
const spaceBelow = 48
const spaceBeside = 16
const trailLength = 14

/** Draws the arena on a canvas, as large as the window allows. */
export class Painter {
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D
  readonly #trails = new Map<number, { x: number; y: number }[]>()
  #bursts: Burst[] = []

  constructor(canvas: HTMLCanvasElement) {
    const context = canvas.getContext('2d')
    if (context === null) throw new Error('this browser has no canvas')
    this.#canvas = canvas
    this.#context = context
  }

  /** A flash where something happened. */
  show({ type, x, y }: Flash): void {
    const colour = type === 'spark' ? '#ffd166' : '#ff5d7d'
    this.#bursts.push({ x, y, colour, startedMs: performance.now() })
  }

  draw(view: View | null, names: (id: number) => string, own: number): void {
    const context = this.#context
    this.#fit()
    this.#floor()
    if (view === null) return
    for (const [x, y] of view.sparks) this.#spark(x, y)
    this.#trace(view.players)
    for (const player of view.players) this.#fighter(player, names(player.id), player.id === own)
    this.#drawBursts()
    context.globalAlpha = 1
  }

  /** The world in the middle of the window, at the device's own resolution. */
  #fit(): void {
    const { clientWidth, clientHeight } = this.#canvas
    const ratio = devicePixelRatio
    this.#canvas.width = clientWidth * ratio
    this.#canvas.height = clientHeight * ratio
    const room = clientHeight - spaceAbove - spaceBelow
    const scale = Math.min((clientWidth - 2 * spaceBeside) / width, room / height)
    const left = (clientWidth - width * scale) / 2
    const top = spaceAbove + (room - height * scale) / 2
    this.#context.setTransform(scale * ratio, 0, 0, scale * ratio, left * ratio, top * ratio)
  }

  #floor(): void {
    const context = this.#context
    context.fillStyle = 'rgb(255 255 255 / 2.5%)'
    context.strokeStyle = 'rgb(140 150 220 / 35%)'
    context.lineWidth = 3
    context.beginPath()
    context.roundRect(0, 0, width, height, 28)
    context.fill()
    context.stroke()
    context.fillStyle = 'rgb(160 170 240 / 10%)'
    for (let x = 50; x < width; x += 50) {
      for (let y = 50; y < height; y += 50) context.fillRect(x - 1.5, y - 1.5, 3, 3)
    }
    for (const { x, y, radius } of pillars) {
      const light = context.createRadialGradient(x - radius / 3, y - radius / 3, 4, x, y, radius)
      light.addColorStop(0, '#3c4180')
      light.addColorStop(1, '#191b3d')
      context.fillStyle = light
      this.#circle(x, y, radius)
      context.fill()
      context.strokeStyle = 'rgb(150 160 255 / 30%)'
      context.stroke()
    }
  }

  #spark(x: number, y: number): void {
    const context = this.#context
    const beat = 1 + 0.15 * Math.sin(performance.now() / 180 + x)
    this.#glow(x, y, { radius: sparkRadius * 3.4 * beat, colour: '#ffd166', strength: 0.45 })
    context.fillStyle = '#fff3cf'
    context.save()
    context.translate(x, y)
    context.rotate(performance.now() / 900 + y)
    context.beginPath()
    for (let corner = 0; corner < 8; corner += 1) {
      const reach = (corner % 2 === 0 ? sparkRadius : sparkRadius * 0.42) * beat
      const angle = (corner * Math.PI) / 4
      context.lineTo(Math.cos(angle) * reach, Math.sin(angle) * reach)
    }
    context.fill()
    context.restore()
  }

  #trace(players: readonly FighterSeen[]): void {
    for (const id of this.#trails.keys()) {
      if (!players.some((player) => player.id === id)) this.#trails.delete(id)
    }
    for (const { id, x, y, dashing } of players) {
      const trail = [{ x, y }, ...(this.#trails.get(id) ?? [])].slice(0, trailLength)
      this.#trails.set(id, trail)
      for (const [age, place] of trail.entries()) {
        const share = 1 - age / trailLength
        const radius = fighterRadius * share * (dashing ? 1.25 : 0.9)
        const strength = (dashing ? 0.32 : 0.12) * share
        this.#glow(place.x, place.y, { radius, colour: colourOf(id), strength })
      }
    }
  }

  #fighter({ id, x, y, dashing, away }: FighterSeen, name: string, isOwn: boolean): void {
    const context = this.#context
    const colour = colourOf(id)
    context.globalAlpha = away ? 0.35 : 1
    this.#glow(x, y, { radius: fighterRadius * 2.6, colour, strength: dashing ? 0.6 : 0.35 })
    const light = context.createRadialGradient(x - 8, y - 9, 2, x, y, fighterRadius)
    light.addColorStop(0, '#ffffff')
    light.addColorStop(0.35, colour)
    light.addColorStop(1, `${colour}99`)
    context.fillStyle = light
    this.#circle(x, y, fighterRadius)
    context.fill()
    if (isOwn) {
      context.strokeStyle = '#ffffff'
      context.lineWidth = 2.5
      this.#circle(x, y, fighterRadius + 5)
      context.stroke()
    }
    context.fillStyle = 'rgb(232 236 255 / 90%)'
    context.font = '600 19px system-ui, "Open Sans", sans-serif'
    context.textAlign = 'center'
    context.fillText(away ? `${name} …` : name, x, y - fighterRadius - 14)
    context.globalAlpha = 1
  }

  #drawBursts(): void {
    const nowMs = performance.now()
    this.#bursts = this.#bursts.filter(({ startedMs }) => nowMs - startedMs < burstMs)
    for (const { x, y, colour, startedMs } of this.#bursts) {
      const share = (nowMs - startedMs) / burstMs
      this.#context.globalAlpha = 1 - share
      this.#context.strokeStyle = colour
      this.#context.lineWidth = 5 * (1 - share)
      this.#circle(x, y, 14 + 60 * share)
      this.#context.stroke()
    }
  }

  #glow(x: number, y: number, light: { radius: number; colour: string; strength: number }): void {
    const context = this.#context
    const { radius, colour, strength } = light
    const gradient = context.createRadialGradient(x, y, 0, x, y, radius)
    const alpha = Math.round(strength * 255)
      .toString(16)
      .padStart(2, '0')
    gradient.addColorStop(0, colour + alpha)
    gradient.addColorStop(1, `${colour}00`)
    context.globalCompositeOperation = 'lighter'
    context.fillStyle = gradient
    this.#circle(x, y, radius)
    context.fill()
    context.globalCompositeOperation = 'source-over'
  }

  #circle(x: number, y: number, radius: number): void {
    this.#context.beginPath()
    this.#context.arc(x, y, radius, 0, 2 * Math.PI)
  }
}
