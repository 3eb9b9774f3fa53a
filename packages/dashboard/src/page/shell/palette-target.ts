import type { GlyphName } from '../kit/glyph.tsx'

/** Something that one can go to. */
export type Target = {
  key: string
  label: string
  kind: string
  glyph: GlyphName
  to: string
  params?: Readonly<Record<string, string>>
  search?: Readonly<Record<string, string>>
}
