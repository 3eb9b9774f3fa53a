import { expect, it } from 'vitest'
import { memoryFloors, memorySlope, soakFaults } from './soak-verdict.ts'

const flat = [90, 110, 100, 120, 101, 125, 102, 130, 104]
const fine = { memory: flat, failed: 0, lost: 0, unheard: 0 }

it('judges the floor of memory, whatever comes and goes above it', () => {
  expect(memoryFloors(flat)).toEqual({ middle: 101, last: 102 })
  expect(soakFaults(fine)).toEqual([])
  const grown = [...flat.slice(0, -3), 107, 130, 109]
  expect(soakFaults({ ...fine, memory: grown })).toEqual(['memory has grown'])
  expect(soakFaults({ ...fine, memory: [100, 200] })).toEqual(['too short to judge memory'])
})

it('judges connections that failed, that were lost, and that nobody answered', () => {
  expect(soakFaults({ ...fine, failed: 1, lost: 2, unheard: 3 })).toEqual([
    '1 connections failed',
    '2 connections were lost',
    '3 guests heard nothing',
  ])
})

it('answers how memory goes on after the first third', () => {
  expect(memorySlope([0, 50, 100, 102, 104, 106, 108, 110, 112])).toBe(2)
  expect(memorySlope([0, 0, 0, 9, 9, 9, 30, 9, 9])).toBe(0)
})
