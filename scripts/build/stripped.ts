/**
 * A program of Linux without what only debuggers read: the tables of symbols and of sections, which
 * stand behind all that is loaded. It needs no tool, and the same bytes come of it anywhere.
 * Anything but a 64-bit, little-endian ELF file is answered as it is.
 */
export function stripped(program: Buffer): Buffer {
  const isElf64 = program.readUInt32BE(0) === 0x7f454c46 && program[4] === 2 && program[5] === 1
  if (!isElf64) return program
  const [tableAt, entryBytes, entries] = [
    at(program, 32),
    program.readUInt16LE(54),
    program.readUInt16LE(56),
  ]
  let end = tableAt + entryBytes * entries
  for (let n = 0; n < entries; n += 1) {
    const entry = tableAt + n * entryBytes
    end = Math.max(end, at(program, entry + 8) + at(program, entry + 32))
  }
  const kept = Buffer.from(program.subarray(0, end))
  // Where the table of sections stood, how many there were, and which of them had their names.
  kept.writeBigUInt64LE(0n, 40)
  kept.writeUInt16LE(0, 60)
  kept.writeUInt16LE(0, 62)
  return kept
}

function at(program: Buffer, offset: number): number {
  return Number(program.readBigUInt64LE(offset))
}
