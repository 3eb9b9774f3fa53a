import { writeFileSync } from 'node:fs'
import { encodeImage, imageSource } from './interpreter/image.ts'
import { bootedMemory } from './interpreter/interpreter.ts'

/** Makes an image: the arguments are the folder of the package, and the file. */
const [, , packageDir = '', file = ''] = process.argv
writeFileSync(file, encodeImage(imageSource(packageDir), await bootedMemory(packageDir)))
// The module of the engine keeps its process alive.
process.exit(0)
