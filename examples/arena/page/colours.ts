const colours = [
  '#7cf5ff',
  '#ff8fb1',
  '#b6f36b',
  '#ffb86b',
  '#b58cff',
  '#6ba8ff',
  '#ff7d6b',
  '#6bffc8',
]

/** Everybody sees a player in the same colour. */
export function colourOf(participant: number): string {
  return colours[participant % colours.length] ?? '#ffffff'
}
