import { jsonPages } from '../../model/json.ts'

/** Hands a value to the browser as a file, with exact integers. */
export function downloadJson(name: string, value: unknown): void {
  downloadText(name, jsonPages(value), 'application/json')
}

export function downloadText(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
