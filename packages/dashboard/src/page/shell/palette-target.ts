import type { GlyphName } from '../kit/glyph.tsx'

/** Something that one can go to. */
export type Target = {
  key: string
  label: string
  /** Ids of accounts in the label are read as names: nobody gave it to themselves. */
  namesAccounts?: true
  kind: string
  glyph: GlyphName
  to: string
  params?: Readonly<Record<string, string>>
  search?: Readonly<Record<string, string>>
}
