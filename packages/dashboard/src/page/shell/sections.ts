import { api, type Route } from '@guildhall/contract'
import type { GlyphName } from '../kit/glyph.tsx'

/** A section of the menu. It is there for those who may call what it reads. */
export type Section = {
  path: string
  label: string
  group: 'Now' | 'Players' | 'Game' | 'Shop' | 'System'
  glyph: GlyphName
  reads: Route
}

export const sections = [
  { path: '/', label: 'Overview', group: 'Now', glyph: 'home', reads: api.console.me },
  {
    path: '/accounts',
    label: 'Accounts',
    group: 'Players',
    glyph: 'person',
    reads: api.accounts.list,
  },
] as const satisfies readonly Section[]

export const sectionGroups = ['Now', 'Players', 'Game', 'Shop', 'System'] as const
