import { jsonPages } from '../../model/json.ts'

/** Hands a value to the browser as a file, with exact integers. */
export function downloadJson(name: string, value: unknown): void {
  downloadText(name, jsonPages(value), 'application/json')
}

function downloadText(name: string, text: string, type: string): void {
  downloadParts(name, [new Blob([text])], type)
}

/** Hands what came in parts to the browser as one file. */
export function downloadParts(name: string, parts: readonly Blob[], type: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
