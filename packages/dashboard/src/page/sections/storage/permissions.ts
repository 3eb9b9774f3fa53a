/** Who may read or write an object besides the server and its operators, by the number. */
export const readers: readonly string[] = ['nobody', 'its owner', 'everybody']
export const writers: readonly string[] = ['nobody', 'its owner']
