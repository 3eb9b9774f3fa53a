import { utf8Bytes } from '@guildhall/contract'

/** The longest beginning of a text, in whole characters, that has at most `bytesMax` bytes. */
export function cutText(text: string, bytesMax: number): string {
  if (utf8Bytes(text) <= bytesMax) return text
  let end = 0
  let bytes = 0
  for (const character of text) {
    bytes += utf8Bytes(character)
    if (bytes > bytesMax) break
    end += character.length
  }
  return text.slice(0, end)
}
