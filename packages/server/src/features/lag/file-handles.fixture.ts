import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** What all files of a folder are written by. */
export async function fileHandles(folder: string): Promise<FileHandle> {
  const file = await open(join(folder, 'probe'), 'w')
  await file.close()
  const prototype: FileHandle = Object.getPrototypeOf(file)
  await rm(join(folder, 'probe'))
  return prototype
}
