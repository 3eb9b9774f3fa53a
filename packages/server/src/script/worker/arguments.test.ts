import { type ScriptFunctionName, scriptApi } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { copyArguments } from './arguments.ts'

const copy = (name: ScriptFunctionName, ...given: unknown[]) =>
  copyArguments(name, scriptApi[name], given)

it('[S-API-32] bytes are refused before the node walks them, where no argument has a place', () => {
  const bytes = new Uint8Array(524_288)
  expect(() => copy('storage_list', null, 'c', bytes)).toThrow('options is bytes')
  expect(() => copy('storage_write_many', [bytes])).toThrow('ops[0] is bytes')
  expect(() => copy('http.fetch', bytes)).toThrow('request is bytes')
  expect(copy('http.fetch', { url: 'x', body: bytes })).toEqual([{ url: 'x', body: bytes }])
})

it('[S-API-30] what names a key that is no text can be written to a log', () => {
  expect(() => copy('http.fetch', { '\ud800': 1 })).toThrow('request.\ufffd has a lone surrogate')
  const cut = { [`${'x'.repeat(198)}😀`]: Number.NaN }
  expect(() => copy('http.fetch', cut)).toThrow('x\ufffd is NaN')
})

it('[S-LIM-1] a list of bytes costs its copy, and no look at the schema for each of them', () => {
  let looks = 0
  const { args } = scriptApi['http.fetch']
  const row = {
    get args() {
      looks += 1
      return args
    },
  }
  copyArguments('http.fetch', row, [{ url: Array(1_000).fill(new Uint8Array()) }])
  expect(looks).toBeLessThan(10)
})
