/**
 * A text as names are compared: Unicode's simple case folding, letter by letter, so that a letter
 * never becomes several. Two texts that a case-insensitive regular expression takes for the same
 * have the same folded text.
 */
export function foldCase(text: string): string {
  let folded = ''
  for (const letter of text) folded += foldLetter(letter)
  return folded
}

/** The dotless one has no other case by simple folding, though its capital is that of `i`. */
const unfolded = new Set(['ı', 'İ'])

function foldLetter(letter: string): string {
  if (unfolded.has(letter)) return letter
  const capital = single(letter, letter.toUpperCase())
  return single(capital, capital.toLowerCase())
}

/** A change of case that makes several letters of one is none here. */
function single(letter: string, changed: string): string {
  return [...changed].length === 1 ? changed : letter
}
