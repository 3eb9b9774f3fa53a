/**
 * The oldest browsers that the SDK runs in: Chrome 111, Firefox 114, Safari 16.4. What at least one
 * of them lacks must not be called, so tests run the SDK where it is gone.
 */

/** By object: the members that are newer. */
const newer: Readonly<Record<string, readonly string[]>> = {
  globalThis: [
    ...['DisposableStack', 'AsyncDisposableStack', 'SuppressedError', 'Float16Array', 'Iterator'],
    ...['Temporal', 'URLPattern', 'WebSocketStream'],
  ],
  Promise: ['withResolvers', 'try'],
  Array: ['fromAsync'],
  Object: ['groupBy'],
  Map: ['groupBy'],
  URL: ['parse', 'canParse'],
  AbortSignal: ['any'],
  JSON: ['rawJSON', 'isRawJSON'],
  RegExp: ['escape'],
  Error: ['isError'],
  Math: ['sumPrecise', 'f16round'],
  Uint8Array: ['fromBase64', 'fromHex'],
  ReadableStream: ['from'],
  Response: ['json'],
  'Array.prototype': ['toSorted', 'toReversed', 'toSpliced', 'with'],
  'Object.getPrototypeOf(Uint8Array.prototype)': ['toSorted', 'toReversed', 'with'],
  'Uint8Array.prototype': ['toBase64', 'toHex', 'setFromBase64', 'setFromHex'],
  'ArrayBuffer.prototype': ['transfer', 'transferToFixedLength', 'resize', 'resizable', 'detached'],
  'String.prototype': ['isWellFormed', 'toWellFormed'],
  'Set.prototype': [
    ...['union', 'intersection', 'difference', 'symmetricDifference'],
    ...['isSubsetOf', 'isSupersetOf', 'isDisjointFrom'],
  ],
  'Map.prototype': ['getOrInsert', 'getOrInsertComputed'],
  'Object.getPrototypeOf(Object.getPrototypeOf([].values()))': [
    ...['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray'],
    ...['forEach', 'some', 'every', 'find'],
  ],
  'URLSearchParams.prototype': ['size'],
  'Response.prototype': ['bytes'],
  'Blob.prototype': ['bytes'],
  'Headers.prototype': ['getSetCookie'],
  'ReadableStream.prototype': ['values'],
}

const members: readonly (readonly [owner: string, name: string])[] = Object.entries(newer).flatMap(
  ([owner, names]) => names.map((name) => [owner, JSON.stringify(name)] as const),
)

/** A script that takes them away. Where a number of JSON came from is newer as well. */
export const removeNewer: string = `
${members.map(([owner, name]) => `delete (${owner})[${name}]`).join('\n')}
{
  const { parse } = JSON
  JSON.parse = (text, reviver) =>
    parse(text, reviver && function (name, value) { return reviver.call(this, name, value) })
}`

/** An expression: which of them are still there. */
export const whatIsLeft: string = `[${members
  .map(([owner, name]) => `${name} in (${owner}) && ${JSON.stringify(owner)} + ' ' + ${name}`)
  .join(', ')}].filter(Boolean)`

/** Names of which a bundle may hold none: they are no member of anything older. */
export const newerNames: readonly string[] = [
  ...['withResolvers', 'fromAsync', 'groupBy', 'canParse', 'fromBase64', 'toBase64'],
  ...['toSorted', 'toReversed', 'toSpliced', 'isWellFormed', 'toWellFormed'],
  ...['symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom', 'sumPrecise'],
]
