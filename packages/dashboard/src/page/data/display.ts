import { useSyncExternalStore } from 'react'
import type { Zone } from '../../model/time.ts'

/** How this browser shows things; it keeps what was chosen. The first of each is the default. */
export const displayChoices = {
  zone: ['UTC', 'local'],
  density: ['roomy', 'dense'],
} as const

type Choices = typeof displayChoices
export type DisplayName = keyof Choices
type Density = Choices['density'][number]

const keyOf = (name: DisplayName) => `guildhall-${name}`
const listeners = new Set<() => void>()

function chosen<N extends DisplayName>(name: N): Choices[N][number] {
  const all: readonly Choices[N][number][] = displayChoices[name]
  const kept = localStorage.getItem(keyOf(name))
  return all.find((choice) => choice === kept) ?? displayChoices[name][0]
}

export function choose<N extends DisplayName>(name: N, choice: Choices[N][number]): void {
  localStorage.setItem(keyOf(name), choice)
  applyDensity()
  for (const listener of listeners) listener()
}

/** Heights of rows are the style's. */
export function applyDensity(): void {
  document.documentElement.dataset.density = chosen('density')
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useDisplay<N extends DisplayName>(name: N): Choices[N][number] {
  return useSyncExternalStore(subscribe, () => chosen(name))
}

/** The clock that times are shown by and typed in, where nothing is drawn. */
export function zoneNow(): Zone {
  return chosen('zone')
}

/** In pixels, as the style has it. */
const rowHeights: Readonly<Record<Density, number>> = { roomy: 34, dense: 26 }

export function useRowHeight(): number {
  return rowHeights[useDisplay('density')]
}
