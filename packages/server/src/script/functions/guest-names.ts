/** The words that a language keeps for itself, as far as the script API might use them. */
const reserved: { readonly [language in 'lua' | 'python']: ReadonlySet<string> } = {
  lua: new Set(
    (
      'and break do else elseif end false for function goto if in local nil not or repeat ' +
      'return then true until while'
    ).split(' '),
  ),
  python: new Set(
    (
      'False None True and as assert async await break class continue def del elif else except ' +
      'finally for from global if import in is lambda nonlocal not or pass raise return try ' +
      'while with yield'
    ).split(' '),
  ),
}

/** A name of the script API in a language: one that is reserved gets an underscore at its end. */
export function nameIn(language: keyof typeof reserved, name: string): string {
  return reserved[language].has(name) ? `${name}_` : name
}
