import type { ScriptFile } from '../../../wire/revision.ts'
import type { Interpreter } from './interpreter/interpreter.ts'

const folder = '/game'
/** Where shared folders are: what is in the script's own comes first. */
const beside = '/beside'
const byteOrderMark = [0xef, 0xbb, 0xbf]

/** Puts the files of the script into the folder that the interpreter sees. */
export function placeFiles({ files: disk }: Interpreter, files: readonly ScriptFile[]): void {
  disk.mkdirTree(folder)
  for (const { path, bytes } of files) {
    const at = path.startsWith('../') ? beside + path.slice(2) : `${folder}/${path}`
    disk.mkdirTree(at.slice(0, at.lastIndexOf('/')))
    disk.writeFile(at, withoutMark(bytes))
  }
  disk.chdir(folder)
}

function withoutMark(bytes: Uint8Array): Uint8Array {
  return byteOrderMark.every((byte, at) => bytes[at] === byte) ? bytes.subarray(3) : bytes
}
